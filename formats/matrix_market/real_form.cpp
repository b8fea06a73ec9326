// Complex files, read as the real matrix [Re A, -Im A; Im A, Re A], line by line: they are rare, and converted once.
#include <cmath>
#include <limits>
#include <map>

#include <seidel/formats/convert.hpp>
#include <seidel/formats/matrix_market/passes.hpp>

namespace seidel::mm {

namespace {

struct ComplexEntry {
  std::int64_t row, col;  // from 1; of an array file from its number
  double real, imaginary;
};

/// The end of the `words`-th word, or the end of the line.
const char* end_of_words(const char* p, const char* end, int words) {
  for (; words > 0; --words) {
    while (p < end && is_blank(*p)) ++p;
    while (p < end && !is_blank(*p) && *p != '\r') ++p;
  }
  return p;
}

/// A line is parsed as two: what stands before the imaginary part is a line of a real file with the header `before`, and the rest
/// one of a real array with the header `rest`. Errors  InputError for a line that is no entry.
Line parse(const Source& source, const Header& before, const Header& rest, const char* p, const char* end,
           ComplexEntry& entry) {
  const char* const split = end_of_words(p, end, before.layout == FileLayout::coordinate ? 3 : 1);
  Entry first{}, second{};
  Fault fault;
  const Line line = parse_line(before, p, split, first, &fault);
  if (line == Line::nothing) return line;
  const Line imaginary = line == Line::fault ? line : parse_line(rest, split, end, second, &fault);
  if (imaginary == Line::fault) raise(source, fault);
  if (imaginary == Line::nothing)
    raise(source, {split, word_at(split, end), "the imaginary part",
                   "the banner says complex: each entry ends with two numbers, its real and its imaginary part"});
  entry = {first.row, first.col, first.value, second.value};
  return Line::entry;
}

/// The same value in the other triangle.
ComplexEntry mirrored(const Header& header, const ComplexEntry& e) {
  const double sign = header.symmetry == Symmetry::skew_symmetric ? -1 : 1;
  return {e.col, e.row, sign * e.real, header.symmetry == Symmetry::hermitian ? -e.imaginary : sign * e.imaginary};
}

/// Triplets of the real form.
class RealForm {
 public:
  explicit RealForm(const Header& header)
      : header_(header),
        vector_(header.ncols == 1 && header.nrows > 1),
        nrows_(Index(2 * header.nrows)),
        ncols_(Index(vector_ ? 1 : 2 * header.ncols)) {}
  void add(const ComplexEntry& e) {
    put(e.row - 1, e.col - 1, e.real, e.imaginary);
    if (header_.symmetry == Symmetry::general || e.row == e.col) return;
    const ComplexEntry image = mirrored(header_, e);
    put(image.row - 1, image.col - 1, image.real, image.imaginary);
  }
  /// Errors  InputError where the sum of duplicates overflows.
  Csr<double, std::int64_t> matrix(const OpenMP& on, ReadReport& report) {
    ToCsrReport sums;
    const CooView<double, Host> triplets{nrows_, ncols_, view(rows_), view(cols_), view(values_)};
    auto A = to_csr<std::int64_t>(on, triplets, &sums);
    report.duplicates = sums.duplicates;
    for (Index row = 0; sums.duplicates > 0 && report.nonfinite == 0 && row < A.nrows; ++row)
      for (std::int64_t k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k)
        if (!std::isfinite(A.values[k]))
          throw InputError(report.file + ": found duplicates in row " + std::to_string(row % header_.nrows + 1) +
                           " and column " + std::to_string(A.col_idx[k] % header_.ncols + 1) +
                           " whose sum overflows, expected a finite one\n  " +
                           "entries in one place are added up: scale the matrix, or list each entry once");
    return A;
  }

 private:
  template <class T>
  static HostSpan<const T> view(const std::vector<T>& v) {
    return {v.data(), std::int64_t(v.size())};
  }
  /// A part that is zero is left out, unless both are: then the real one stays, as a zero that was listed.
  void put(std::int64_t row, std::int64_t col, double real, double imaginary) {
    const std::int64_t below = row + header_.nrows, beside = col + header_.ncols;
    if (real != 0 || imaginary == 0) {
      put(row, col, real);
      if (!vector_) put(below, beside, real);
    }
    if (imaginary != 0) {
      if (!vector_) put(row, beside, -imaginary);
      put(below, col, imaginary);
    }
  }
  void put(std::int64_t row, std::int64_t col, double value) {
    rows_.push_back(Index(row));
    cols_.push_back(Index(col));
    values_.push_back(value);
  }

  const Header& header_;
  bool vector_;
  Index nrows_, ncols_;
  std::vector<Index> rows_, cols_;
  std::vector<double> values_;
};

/// Counts the values of the entry in the line [line, end).
void count_values(const Header& header, const char* line, const char* end, const ComplexEntry& entry,
                  ValueCounts& counts) {
  const char *const real = value_of(header, line), *const imaginary = skip_blanks(end_of_words(real, end, 1));
  const bool underflow =
      (entry.real == 0 && is_nonzero(real, end)) || (entry.imaginary == 0 && is_nonzero(imaginary, end));
  counts.underflows += underflow;
  counts.zeros += entry.real == 0 && entry.imaginary == 0 && !underflow;
  if (!std::isfinite(entry.real) || !std::isfinite(entry.imaginary))
    counts.add({.nonfinite = 1, .first_nonfinite = line});
}

}  // namespace

Csr<double, std::int64_t> read_real_form(const Reading& reading) {
  const Header& header = reading.header;
  constexpr std::int64_t most = std::numeric_limits<Index>::max() / 2;
  if (header.nrows > most || header.ncols > most)
    throw ResourceError(reading.source.file() +
                        ": its real form has twice as many rows and columns, more than indices of 32 bits count");
  reading.require(2 * expected_nnz(header) * (16 + 12) + header.entries * 96 * (header.symmetry != Symmetry::general));
  Header before = header, rest = header;
  before.field = rest.field = Field::real;
  rest.layout = FileLayout::array;
  if (before.symmetry == Symmetry::hermitian) before.symmetry = Symmetry::symmetric;
  RealForm form(header);
  ValueCounts counts;
  std::int64_t entries = 0;
  ArrayPlace place(header, 0);
  const bool may_list_images = header.symmetry != Symmetry::general && header.layout == FileLayout::coordinate;
  // What a line that was listed implies in the other triangle.
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<const char*, ComplexEntry>> implied;
  const std::string promise =
      "the size line (line " + std::to_string(header.size_line) + ") promises " + std::to_string(header.entries);
  for_each_line(reading.source, header.body, [&](const char* line, const char* end) {
    ComplexEntry entry{};
    if (parse(reading.source, before, rest, line, end, entry) == Line::nothing) return;
    if (++entries > header.entries)
      raise(reading.source, {skip_blanks(line), "entry " + std::to_string(entries), "end of file",
                             promise + ": correct it, or the file"});
    if (header.layout == FileLayout::array) {
      entry.row = place.row + 1, entry.col = place.col + 1;
      place.next();
    }
    if (header.symmetry == Symmetry::hermitian && entry.row == entry.col && entry.imaginary != 0)
      raise(reading.source, {skip_blanks(line), "a diagonal entry with an imaginary part", "a real one",
                             "the diagonal of a hermitian matrix is real: say symmetric or general in the banner"});
    count_values(header, line, end, entry, counts);
    if (may_list_images && entry.row != entry.col) {
      if (const auto image = implied.find({entry.row, entry.col}); image != implied.end()) {
        const auto& [listed, expected] = image->second;
        const bool agrees = expected.real == entry.real && expected.imaginary == entry.imaginary;
        if (!agrees || !reading.options.repair) refuse_mirror_image(reading, {entry.row, entry.col, 0}, line, listed);
        ++reading.report.mirrored;
        return;
      }
      implied.emplace(std::pair(entry.col, entry.row), std::pair(line, mirrored(header, entry)));
    }
    form.add(entry);
  });
  if (entries < header.entries)
    raise(reading.source, {reading.source.end(), "end of file after " + std::to_string(entries),
                           std::to_string(header.entries) + " entries",
                           promise + ": correct it; or the file was cut short: fetch it again"});
  reading.source.check_unchanged();
  reading.report_values(counts);
  return form.matrix(reading.on(), reading.report);
}

}  // namespace seidel::mm
