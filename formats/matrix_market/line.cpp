// The careful parser of one line: accepts every legal form and says exactly what is wrong with others.
#include <seidel/formats/matrix_market/line.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <seidel/formats/runtime/simd.hpp>

namespace seidel::mm {

namespace {

bool is_word(std::string_view word, std::string_view lower) {
  return std::equal(word.begin(), word.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

/// An integer of any length, rounded to double.
bool careful_integer(std::string_view word, double& value) {
  const std::string_view digits = word.substr(word[0] == '+' || word[0] == '-');
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return false;
  fast_float::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (word[0] == '-') value = -value;
  return true;
}

}  // namespace

bool parse_real(std::string_view word, double& value) {
  const bool negative = word.starts_with('-');
  const std::string_view rest = word.substr(negative || word.starts_with('+'));
  std::string plain;
  std::size_t p = 0;
  const auto digits = [&] {
    const std::size_t first = p;
    while (p < rest.size() && is_digit(rest[p])) plain += rest[p++];
    return p > first;
  };
  if (is_word(rest, "nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (is_word(rest, "inf") || is_word(rest, "infinity")) {
    value = std::numeric_limits<double>::infinity();
  } else {
    bool any = digits();
    if (p < rest.size() && rest[p] == '.') {
      plain += rest[p++];
      any |= digits();
    }
    if (!any) return false;
    if (p < rest.size()) {
      const char letter = char(rest[p] | 0x20);
      if (letter == 'e' || letter == 'd')
        ++p;
      else if (rest[p] != '+' && rest[p] != '-')
        return false;
      plain += 'e';
      if (p < rest.size() && (rest[p] == '+' || rest[p] == '-')) plain += rest[p++];
      if (!digits() || p < rest.size()) return false;
    }
    value = 0;  // a number too small for a double becomes 0
    fast_float::from_chars(plain.data(), plain.data() + plain.size(), value);
  }
  value = std::copysign(value, negative ? -1.0 : 1.0);
  return true;
}

namespace {

/// Reads the words of a line and remembers what is wrong.
class Words {
 public:
  Words(const Header& header, const char* p, const char* end, Fault* fault)
      : header_(header), p_(p), end_(end), fault_(fault) {
    go_past({});
  }

  bool at_end() const { return p_ == end_; }
  const char* at() const { return p_; }

  bool index(const char* what, std::int64_t size, std::int64_t& value) {
    const std::string_view word = next();
    const std::string_view digits = word.substr(!word.empty() && word[0] == '+');
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) {
      const bool number = !word.empty() && (is_digit(word[0]) || word[0] == '-' || word[0] == '.');
      return wrong(word, std::string("a ") + what + (number ? " (a whole number from 1)" : ""),
                   number && word.find(',') == word.npos ? "indices start at 1 and are written without a point"
                                                         : form_instead_of(word));
    }
    value = 0;
    for (const char c : digits) value = std::min<std::int64_t>(value * 10 + (c - '0'), std::int64_t(1) << 40);
    if (value < 1 || value > size)
      return wrong(
          word, size == 0 ? std::string("no entry") : std::string("a ") + what + " in 1.." + std::to_string(size),
          "the size line (line " + std::to_string(header_.size_line) + ") declares " + std::to_string(header_.nrows) +
              " x " + std::to_string(header_.ncols) + "; Matrix Market indices start at 1");
    return go_past(word);
  }

  bool value(double& value) {
    const std::string_view word = next();
    const bool integer = header_.field == Field::integer;
    if (word.empty() || !(integer ? careful_integer(word, value) : parse_real(word, value)))
      return wrong(word, integer ? "an integer value" : "a real value",
                   integer && !word.empty() ? "the banner says integer: write real there if values are not whole"
                                            : form_instead_of(word));
    const bool words = word.find_first_of("nN") != word.npos;  // inf, nan
    if (std::isinf(value) && !words)
      return wrong(word, "a magnitude of at most 1.7976931348623157e308",
                   "that is the largest double; scale the matrix, or write Inf");
    return go_past(word);
  }

  bool end() {
    if (at_end()) return true;
    return wrong(next(), "end of line", "an entry is a line of its own: " + entry_form() + "; comments have theirs");
  }

  bool wrong(std::string_view word, const std::string& expected, const std::string& remedy) {
    if (fault_) *fault_ = {p_, word_at(p_, p_ + word.size()), expected, remedy};
    return false;
  }

 private:
  std::string form_instead_of(std::string_view word) const {
    return word.find(',') != word.npos ? "numbers have a point before their fraction, and blanks between them"
                                       : "an entry is a line of its own: " + entry_form();
  }
  std::string entry_form() const {
    return header_.layout == FileLayout::array ? "one value"
           : header_.field == Field::pattern   ? "row column"
                                               : "row column value";
  }
  bool go_past(std::string_view word) {
    p_ += word.size();
    while (p_ < end_ && is_blank(*p_)) ++p_;
    return true;
  }
  std::string_view next() const {
    const char* p = p_;
    while (p < end_ && !is_blank(*p)) ++p;
    return {p_, std::size_t(p - p_)};
  }

  const Header& header_;
  const char* p_;
  const char* end_;
  Fault* fault_;
};

}  // namespace

Line parse_line(const Header& header, const char* p, const char* end, Entry& entry, Fault* fault) {
  if (end > p && end[-1] == '\r') --end;
  Words words(header, p, end, fault);
  if (words.at_end() || *words.at() == '%') return Line::nothing;
  bool good = true;
  const char* first = words.at();
  if (header.layout == FileLayout::coordinate)
    good = words.index("row", header.nrows, entry.row) && words.index("column", header.ncols, entry.col);
  if (header.field == Field::pattern)
    entry.value = 1;
  else
    good = good && words.value(entry.value);
  good = good && words.end();
  if (good && header.layout == FileLayout::coordinate && header.symmetry == Symmetry::skew_symmetric &&
      entry.row == entry.col) {
    good = false;
    if (fault)
      *fault = {first, "the diagonal entry (" + std::to_string(entry.row) + ", " + std::to_string(entry.col) + ")",
                "entries off the diagonal",
                "the diagonal of a skew-symmetric matrix is zero and is not listed: remove the line"};
  }
  return good ? Line::entry : Line::fault;
}

const char* value_of(const Header& header, const char* p) {
  p = skip_blanks(p);
  if (header.layout == FileLayout::coordinate)
    for (int word = 0; word < 2; ++word) {
      while (!is_blank(*p)) ++p;
      p = skip_blanks(p);
    }
  return p;
}

bool is_nonzero(const char* p, const char* end) {
  if (p < end && (*p == '-' || *p == '+')) ++p;
  while (p < end && (*p == '0' || *p == '.')) ++p;
  return p < end && is_digit(*p);
}

std::int64_t count_entries(const char* first, const char* last, const char* text_end) {
  if (first >= last) return 0;
  // The last byte of a chunk may be inside a line, whose end does not count; so each line but the first begins behind
  // a line end in [first, last - 1).
  std::int64_t ends = 0, sure = *first > '%';  // lines whose first byte shows that they are entries
  const char* p = first;
  with_simd([&] {
    while (last - 1 - p >= 64) {  // 64 byte counters, at most 255 each: compilers vectorise this
      std::uint8_t some_ends[64] = {}, some_sure[64] = {};
      for (std::int64_t blocks = std::min<std::int64_t>(255, (last - 1 - p) / 64); blocks > 0; --blocks, p += 64)
        for (int k = 0; k < 64; ++k) {
          const bool end = p[k] == '\n';
          some_ends[k] += std::uint8_t(end);
          some_sure[k] += std::uint8_t(end & (p[k + 1] > '%'));
        }
      for (int k = 0; k < 64; ++k) {
        ends += some_ends[k];
        sure += some_sure[k];
      }
    }
  });
  for (; p < last - 1; ++p)
    if (*p == '\n') {
      ++ends;
      sure += p[1] > '%';
    }
  if (sure == ends + 1) return sure;
  std::int64_t entries = 0;
  for (const char* line = first; line < last;) {
    const char* end = line_end(line, text_end);
    while (line < end && is_blank(*line)) ++line;
    entries += line < end && *line != '%' && !(*line == '\r' && line + 1 == end);
    line = end + 1;
  }
  return entries;
}

}  // namespace seidel::mm
