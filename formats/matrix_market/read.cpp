// The front door for reading: source, header, the passes of the layout, the report.
#include <algorithm>
#include <new>

#include <seidel/formats/matrix_market/gzip.hpp>
#include <seidel/formats/matrix_market/passes.hpp>
#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>

namespace seidel {

namespace mm {

void Reading::require(std::int64_t bytes) const {
  const std::int64_t limit =
      options.memory_limit > 0 ? options.memory_limit - source.held_bytes() : available_bytes(Host{});
  if (bytes > limit)
    throw ResourceError(source.file() + ": out of memory: a matrix of " + std::to_string(header.nrows) + " x " +
                        std::to_string(header.ncols) + " with " + counted(header.entries, "entry", "entries") +
                        " listed needs " + std::to_string(bytes) + " bytes, " +
                        std::to_string(std::max<std::int64_t>(0, limit)) + " are free\n" +
                        "  free some memory or use a larger machine" +
                        (source.held_bytes() > 0 ? "; a plain file instead of gzip or a pipe needs less" : ""));
}

void Reading::report_values(const ValueCounts& counts) const {
  report.explicit_zeros = counts.zeros;
  report.underflows = counts.underflows;
  report.nonfinite = counts.nonfinite;
  report.large_integers = counts.large_integers;
  if (!counts.first_nonfinite) return;
  report.first_nonfinite = place(source, value_of(header, counts.first_nonfinite));
}

void Reading::diagnose() const {
  const std::string promise = "the size line (line " + std::to_string(header.size_line) + ") promises " +
                              std::to_string(header.entries) + ": correct it, or the file";
  std::int64_t entries = 0;
  for_each_line(source, header.body, [&](const char* p, const char* end) {
    const char* first = p;
    while (first < end && is_blank(*first)) ++first;
    if (first == end || *first == '%' || (*first == '\r' && first + 1 == end)) return;
    Entry entry;
    Fault fault;
    const bool wrong = parse_line(header, p, end, entry, &fault) == Line::fault;
    if (++entries > header.entries)
      raise(source, {first, wrong ? word_at(first, end - (end[-1] == '\r')) : "entry " + std::to_string(entries),
                     "end of file after " + counted(header.entries, "entry", "entries"), promise});
    if (wrong) raise(source, fault);
  });
  if (entries < header.entries)
    raise(source, {source.end(), "end of file after " + counted(entries, "entry", "entries"),
                   counted(header.entries, "entry", "entries"), promise + "; or it was cut short: fetch it again"});
}

void Reading::explain() const {
  diagnose();
  source.check_unchanged();
  throw Error(source.file() +
              ": found nothing wrong line by line, but the passes did not agree: this is a defect of seidel");
}

std::int64_t expected_nnz(const Header& header) {
  if (header.layout == FileLayout::array) return header.nrows * header.ncols;
  if (header.symmetry == Symmetry::general) return header.entries;
  const bool has_diagonal = header.symmetry != Symmetry::skew_symmetric;
  const std::int64_t diagonal = has_diagonal ? std::min(header.nrows, header.entries) : 0;
  return 2 * header.entries - diagonal;
}

ReadReport report_of(const Source& source, const Header& header, const ReadOptions& options) {
  ReadReport report;
  report.file = source.file();
  report.layout = header.layout;
  report.field = header.field;
  report.symmetry = header.symmetry;
  report.nrows = header.nrows;
  report.ncols = header.ncols;
  report.entries = header.entries;
  report.file_bytes = source.file_bytes();
  report.text_bytes = std::int64_t(source.text().size());
  if (options.sized) options.sized(header.nrows, header.ncols, expected_nnz(header));
  return report;
}

namespace {

MatrixFile read(const Source& source, const ReadOptions& options) {
  MatrixFile file;
  const Header header = parse_header(source, options);
  file.report = report_of(source, header, options);
  const Reading reading{source, header, options, file.report};
  file.matrix = header.field == Field::complex            ? read_real_form(reading)
                : header.layout == FileLayout::coordinate ? read_coordinate(reading)
                                                          : read_array(reading);
  return file;
}

/// The result of read() and its report.
MatrixFile told(const std::string& name, const auto& read) try {
  const Stopwatch watch;
  MatrixFile file = read();
  ReadReport& report = file.report;
  report.nnz = file.matrix.nnz();
  const auto tell = [&](std::int64_t n, const char* one, const char* many, const char* what) {
    if (n > 0) report.repairs.push_back(counted(n, one, many) + what);
  };
  tell(report.duplicates, "entry was", "entries were", " listed again: duplicates are added up");
  tell(report.underflows, "entry is", "entries are", " nonzero, but too small for double precision: taken as 0");
  tell(report.large_integers, "integer is", "integers are",
       " 2^53 or larger: rounded to 53 bits, as double holds them");
  tell(report.mirrored, "pair was", "pairs were",
       " listed in both triangles, with the same values: each is taken once");
  report.seconds = watch.seconds();
  return file;
} catch (const std::bad_alloc&) {
  throw ResourceError(name + ": out of memory");
}

}  // namespace
}  // namespace mm

MatrixFile read_matrix_market(const std::string& path, const ReadOptions& options) {
  return mm::told(path, [&] {
    mm::Source source(path, options);
    if (mm::is_gzip(source.text())) {
      if (auto file = mm::read_inflating(source, options)) return std::move(*file);
      source.inflate(options);
    }
    return mm::read(source, options);
  });
}

MatrixFile parse_matrix_market(std::string_view text, const std::string& file, const ReadOptions& options) {
  return mm::told(file, [&] { return mm::read(mm::Source(text, file), options); });
}

Array<double> read_vector(const std::string& path, const ReadOptions& options) {
  MatrixFile file = read_matrix_market(path, options);
  const auto& A = file.matrix;
  if (A.ncols != 1)
    throw InputError(
        file.report.file + ": found a " + std::to_string(A.nrows) + " x " + std::to_string(A.ncols) +
        " matrix, expected a vector: n x 1\n  write one column; a right-hand side has as many rows as the matrix");
  if (A.nnz() == A.nrows) return std::move(file.matrix.values);
  Array<double> x(A.nrows, 0.0);
  for (Index row = 0; row < A.nrows; ++row)
    if (A.row_ptr[row] < A.row_ptr[row + 1]) x[row] = A.values[A.row_ptr[row]];
  return x;
}

}  // namespace seidel
