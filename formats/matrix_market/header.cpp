// The banner, the comments below it and the size line, parsed; a size is accepted only if the text is long enough to
// contain so many entries.
#include <seidel/formats/matrix_market/header.hpp>

#include <algorithm>
#include <array>
#include <limits>

#include <seidel/formats/matrix_market/fault.hpp>
#include <seidel/formats/matrix_market/line.hpp>
#include <seidel/formats/runtime/quantity.hpp>

namespace seidel {

namespace {
constexpr std::string_view layouts[] = {"coordinate", "array"}, fields[] = {"real", "integer", "pattern", "complex"},
                           symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian"};  // as their enums
}  // namespace

std::string_view name(FileLayout layout) { return layouts[int(layout)]; }
std::string_view name(Field field) { return fields[int(field)]; }
std::string_view name(Symmetry symmetry) { return symmetries[int(symmetry)]; }

namespace mm {

namespace {

constexpr const char* banner_form = "the first line must be like: %%MatrixMarket matrix coordinate real general";
constexpr const char* triplets_remedy =
    "entries listed as row column value, from 1, need two lines above them: %%MatrixMarket matrix coordinate real "
    "general, then the numbers of rows, columns and entries";

/// What is said of a text that has no banner.
std::string expected_banner(const ReadOptions& options) {
  return options.numbers_would_do ? "%%MatrixMarket or a number" : "%%MatrixMarket";
}
std::string banner_remedy(const ReadOptions& options) {
  return options.numbers_would_do
             ? "a vector is a Matrix Market file, or plain numbers with blanks or line ends between them"
             : banner_form;
}

/// The words of a line, in any case of letters.
class HeaderWords {
 public:
  HeaderWords(const Source& source, const char* p, const char* end) : source_(source), p_(p), end_(end) {
    if (end_ > p_ && end_[-1] == '\r') --end_;
  }
  /// The next word in lower case; at() is where it begins.
  std::string next() {
    while (p_ < end_ && is_blank(*p_)) ++p_;
    at_ = p_;
    while (p_ < end_ && !is_blank(*p_)) ++p_;
    std::string word(at_, p_);
    for (char& c : word)
      if ('A' <= c && c <= 'Z') c = char(c | 0x20);
    return word;
  }
  const char* at() const { return at_; }
  const Source& source() const { return source_; }
  [[noreturn]] void wrong(const std::string& expected, const std::string& remedy) const {
    raise(source_, {at_, word_at(at_, end_), expected, remedy});
  }
  template <class Value, std::size_t n>
  Value one_of(const std::string& word, const std::array<Value, n>& values, const std::string& what) const {
    std::string list;
    for (const Value value : values) {
      if (word == name(value)) return value;
      list += (list.empty() ? "" : ", ") + std::string(name(value));
    }
    wrong(what + ": one of " + list, banner_form);
  }
  std::int64_t size(const char* what, std::int64_t most) {
    const std::string word = next();
    const std::string_view digits = std::string_view(word).substr(!word.empty() && word[0] == '+');
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit))
      wrong(std::string("the ") + what, size_form);
    std::int64_t value = 0;
    for (const char c : digits) {
      const int digit = c - '0';
      if (value > (most - digit) / 10)
        wrong(std::string("the ") + what + ", at most " + std::to_string(most), "indices have 32 bits here, counts 63");
      value = value * 10 + digit;
    }
    return value;
  }
  void end() {
    if (!next().empty()) wrong("end of line", size_form);
  }

  std::string size_form;

 private:
  const Source& source_;
  const char* p_;
  const char* end_;
  const char* at_ = nullptr;
};

void parse_banner(HeaderWords& words, Header& header, const ReadOptions& options) {
  if (const std::string first = words.next(); first != "%%matrixmarket") {
    const bool number = !first.empty() && is_digit(first[0]);
    words.wrong(expected_banner(options),
                !options.numbers_would_do && number ? triplets_remedy : banner_remedy(options));
  }
  if (words.next() != "matrix")
    words.wrong("matrix", "a vector is written as a matrix of one column: matrix array real general");
  header.layout = words.one_of(words.next(), std::array{FileLayout::coordinate, FileLayout::array}, "the layout");
  if (const std::string field = words.next(); field == "complex") {
    if (options.complex == ReadOptions::Complex::refused)
      words.wrong("real, integer or pattern",
                  "the equivalent real system [Re A, -Im A; Im A, Re A] is made by: " +
                      (options.real_form_by.empty() ? "the option complex" : options.real_form_by));
    header.field = Field::complex;
  } else if (field == "unsigned-integer") {  // as SciPy writes it
    header.field = Field::integer;
  } else {
    header.field = words.one_of(field, std::array{Field::real, Field::integer, Field::pattern}, "the field");
  }
  if (const std::string symmetry = words.next(); symmetry == "hermitian") {
    if (header.field != Field::complex)
      words.wrong("general, symmetric or skew-symmetric",
                  "the format knows hermitian for complex matrices only; a real one of that kind is called symmetric");
    header.symmetry = Symmetry::hermitian;
  } else {
    header.symmetry = words.one_of(
        symmetry, std::array{Symmetry::general, Symmetry::symmetric, Symmetry::skew_symmetric}, "the symmetry");
  }
  if (header.field == Field::pattern && header.symmetry == Symmetry::skew_symmetric)
    words.wrong("general or symmetric", "a pattern has no signs: give values (real), or call it general or symmetric");
  if (header.field == Field::pattern && header.layout == FileLayout::array)
    words.wrong("values (real or integer)", "a pattern is listed by its places: write it in coordinate layout");
  if (!words.next().empty()) words.wrong("end of line", banner_form);
}

/// Entries that an array file lists.
std::int64_t array_entries(const Header& header) {
  const std::int64_t n = header.nrows;
  switch (header.symmetry) {
    case Symmetry::general: return n * header.ncols;  // below 2^62
    case Symmetry::symmetric:
    case Symmetry::hermitian: return n * (n + 1) / 2;
    case Symmetry::skew_symmetric: return n * (n - 1) / 2;
  }
  return 0;
}

void parse_sizes(const Source& source, std::int64_t text_bytes, HeaderWords& words, Header& header) {
  const bool coordinate = header.layout == FileLayout::coordinate;
  words.size_form = coordinate ? "the size line has three counts: rows columns entries"
                               : "the size line has two counts: rows columns";
  constexpr std::int64_t most = std::numeric_limits<Index>::max();
  header.nrows = words.size("number of rows", most);
  const char* first = words.at();
  header.ncols = words.size("number of columns", most);
  if (header.symmetry != Symmetry::general && header.nrows != header.ncols)
    words.wrong("as many columns as rows (" + std::to_string(header.nrows) + ")",
                "the banner says " + std::string(name(header.symmetry)) + ", which only a square matrix can be");
  if (coordinate) {
    header.entries = words.size("number of entries", std::numeric_limits<std::int64_t>::max());
    first = words.at();
  } else {
    header.entries = array_entries(header);
  }
  words.end();
  // The shortest lines: "1 1", "1" in an array; the last may lack its end. That values are missing, the first line tells better.
  const std::int64_t shortest = coordinate ? 4 : 2;
  const std::int64_t left = text_bytes - (header.body - source.text().data());
  if (header.entries > (left + 1) / shortest)
    raise(source, {first, counted(header.entries, "entry", "entries") + " promised",
                   "at most " + std::to_string((left + 1) / shortest) + ", since " +
                       counted(left, "byte follows", "bytes follow"),
                   "the file was cut short, or its size line is wrong"});
}

/// What is mistaken for a Matrix Market file, by the bytes that it has at some place.
struct OtherFormat {
  std::size_t at;
  std::string_view beginning, what, remedy;
};
constexpr std::string_view to_utf8 = "save the file as UTF-8, or convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW";
constexpr std::string_view from_web = "what was fetched is no matrix: look at it, and fetch the file itself";
constexpr std::string_view by_scipy = "write it as Matrix Market, for example by scipy.io.mmwrite";
constexpr OtherFormat other_formats[] = {
    {0, "\xff\xfe", "text in UTF-16", to_utf8},
    {0, "\xfe\xff", "text in UTF-16", to_utf8},
    {0, "BZh", "a file compressed by bzip2", "decompress it, or compress it by gzip: bunzip2 FILE"},
    {0, "\xfd\x37zXZ", "a file compressed by xz", "decompress it, or compress it by gzip: unxz FILE"},
    {0, "\x28\xb5\x2f\xfd", "a file compressed by zstd", "decompress it, or compress it by gzip: unzstd FILE"},
    {0, "PK\x03\x04", "a zip archive",
     "take the .mtx file out of it: unzip FILE (of a .npz: scipy.io.mmwrite(\"A.mtx\", scipy.sparse.load_npz(FILE)))"},
    {257, "ustar", "a tar archive", "take the .mtx file out of it: tar xf FILE"},
    {0, "version https://git-lfs", "a pointer of Git LFS, not the file", "fetch the file: git lfs pull"},
    {0, "<!DOCTYPE", "a web page", from_web},
    {0, "<!doctype", "a web page", from_web},
    {0, "<html", "a web page", from_web},
    {0, "MATLAB ", "a file of MATLAB", by_scipy},
    {0, "\x89HDF\r\n", "a file of HDF5", by_scipy},
    {0, "\x93NUMPY", "an array of NumPy", by_scipy},
    {0, std::string_view("\0\x12\x7b\x50", 4), "a matrix of PETSc", by_scipy},
    {0, std::string_view("\0\x12\x7b\x4e", 4), "a vector of PETSc", by_scipy}};

/// Harwell-Boeing or Rutherford-Boeing: the third line has a type such as RUA, 11 blanks, and sizes of 14 places each.
bool is_boeing(std::string_view text) {
  for (int line = 1; line < 3; ++line) {
    const auto end = text.find('\n');
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  const auto one_of = [&](std::size_t at, std::string_view letters) { return letters.find(text[at]) != letters.npos; };
  return text.size() >= 28 && one_of(0, "RCPIQrcpiq") && one_of(1, "SUHZRsuhzr") && one_of(2, "AEae") &&
         text.substr(3, 11) == "           " && is_digit(text[27]);
}

}  // namespace

Header parse_header(const Source& source, std::int64_t text_bytes, const ReadOptions& options) {
  const std::string_view text = source.text();
  const char* const end = source.end();
  Header header;
  // Some editors of Windows put a byte order mark before a text. It says UTF-8, of which ASCII is a part: nothing is lost.
  const char* p = text.data() + (text.starts_with("\xef\xbb\xbf") ? 3 : 0);
  const auto next_line = [&] {
    const char* e = line_end(p, end);
    HeaderWords words(source, p, e);
    p = e < end ? e + 1 : end;
    ++header.size_line;
    return words;
  };
  if (p == end) raise(source, {p, "an empty file", expected_banner(options), banner_remedy(options)});
  for (const auto& [at, beginning, what, remedy] : other_formats)
    if (text.size() > at && text.substr(at).starts_with(beginning))
      raise(source, {p, std::string(what), "%%MatrixMarket", std::string(remedy)});
  if (*p != '%' && is_boeing(text))
    raise(source,
          {p, "a Harwell-Boeing or Rutherford-Boeing file", "%%MatrixMarket",
           "its collection offers the same matrix as Matrix Market; or scipy.io.hb_read, then scipy.io.mmwrite"});
  HeaderWords banner = next_line();
  parse_banner(banner, header, options);
  for (;;) {
    if (p == end)
      raise(source, {p, "end of file", "the size line",
                     "below the banner and comments stands: rows columns entries (array: rows columns)"});
    HeaderWords ahead = next_line(), words = ahead;
    const std::string word = ahead.next();
    if (word.empty() || word[0] == '%') continue;
    header.body = p;
    parse_sizes(source, text_bytes, words, header);
    return header;
  }
}

}  // namespace mm
}  // namespace seidel
