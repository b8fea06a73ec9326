// Vectors in files: Matrix Market, or plain columns of numbers.
#include <seidel/drivers/vector_source.hpp>

#include <cmath>
#include <optional>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/matrix_source.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/matrix_market/gzip.hpp>
#include <seidel/formats/matrix_market/line.hpp>
#include <seidel/formats/matrix_market/source.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

struct PlainNumbers {
  std::vector<double> numbers;
  std::int64_t lines = 0;
  std::size_t per_line = 0;  // 0: they differ
};

/// The numbers of a text that begins with one, between blanks and lines; what follows a # or % is a comment. Nothing of another
/// text, as that of a banner.
std::optional<PlainNumbers> plain_numbers(std::string_view text, const std::string& file) {
  constexpr const char* blanks = " \t\r";
  PlainNumbers plain;
  const auto end_of = [](std::string_view text, std::size_t at) { return std::min(at, text.size()); };
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (lower_case(std::string(text.substr(0, 40))).find("matrixmarket") != std::string::npos) return {};
  for (std::int64_t row = 1; !text.empty(); ++row) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(end_of(text, line.size() + 1));
    line = line.substr(0, line.find_first_of("#%"));
    const std::size_t before = plain.numbers.size();
    for (auto at = line.find_first_not_of(blanks); at != line.npos; at = line.find_first_not_of(blanks, at)) {
      const std::string_view word = line.substr(at, end_of(line, line.find_first_of(blanks, at)) - at);
      double value = 0;
      const bool number = mm::parse_real(word, value);
      if (!number && plain.numbers.empty()) return {};
      if (!number || !std::isfinite(value))
        throw InputError(
            formatted("{}:{}:{}: found {}, expected a finite number\n  between the numbers stand blanks, line ends and "
                      "comments that begin with # or %",
                      file, row, at + 1, mm::word_at(word.data(), word.data() + word.size())));
      plain.numbers.push_back(value);
      at += word.size();
    }
    const std::size_t here = plain.numbers.size() - before;
    if (here == 0) continue;
    plain.per_line = plain.lines == 0 || plain.per_line == here ? here : 0;
    ++plain.lines;
  }
  if (plain.numbers.empty()) return {};
  return plain;
}

/// What the messages of a file say of its length.
struct Expected {
  const std::string &option, &file, &matrix;
  std::int64_t rows;
  [[noreturn]] void refuse(const std::string& found) const {
    throw InputError(formatted("{}: found {}, expected {}: one for each {} of {}", file, found, count(rows),
                               option == "--x0" ? "column" : "row", matrix));
  }
};

std::vector<Array<double>> columns_of(PlainNumbers plain, const Expected& expected) {
  const auto rows = std::size_t(expected.rows);
  std::vector<Array<double>> columns;
  if (plain.numbers.size() == rows) {
    columns.emplace_back(std::move(plain.numbers));
    return columns;
  }
  if (plain.per_line == 0 || plain.lines != expected.rows)
    expected.refuse(plain.per_line > 1 ? formatted("{} of {} numbers", plural(plain.lines, "line"), plain.per_line)
                                       : plural(std::int64_t(plain.numbers.size()), "entry", "entries"));
  for (std::size_t j = 0; j < plain.per_line; ++j) {
    columns.emplace_back(expected.rows);
    for (std::size_t i = 0; i < rows; ++i) columns[j][std::int64_t(i)] = plain.numbers[i * plain.per_line + j];
  }
  return columns;
}

std::vector<Array<double>> columns_of(const MatrixFile& read, const Expected& expected) {
  const auto& [A, report] = read;
  if (A.nrows == 1 && A.ncols > 1 && expected.rows != 1)
    throw InputError(
        formatted("{}: found 1 row and {} columns, expected a column of {} rows\n"
                  "  to make a column of it: seidel convert FILE COLUMN.mtx --transpose",
                  expected.file, count(A.ncols), count(expected.rows)));
  if (A.nrows != expected.rows) expected.refuse(plural(std::int64_t(A.nrows), "entry", "entries"));
  if (A.ncols < 1) throw InputError(formatted("{}: found no column, expected one or more", expected.file));
  require_finite(report);
  std::vector<Array<double>> columns;
  for (Index j = 0; j < A.ncols; ++j) columns.emplace_back(expected.rows, 0.0);
  for (Index i = 0; i < A.nrows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) columns[std::size_t(A.col_idx[k])][i] = A.values[k];
  return columns;
}

}  // namespace

std::vector<Array<double>> load_vectors(const std::string& option, const std::string& path, std::int64_t rows,
                                        const std::string& matrix, const CommonOptions& options) {
  require_file(option, path, false);
  LiveLine line(!options.quiet);
  ReadOptions read = read_options(options, line, path);
  read.numbers_would_do = true;
  mm::Source source(path, read);
  if (mm::is_gzip(source.text())) source.inflate(read);
  const Expected expected{option, source.file(), matrix, rows};
  if (auto plain = plain_numbers(source.text(), source.file())) return columns_of(std::move(*plain), expected);
  const MatrixFile file = parse_matrix_market(source.text(), source.file(), read);
  source.check_unchanged();
  for (const std::string& repair : file.report.repairs) say(options, expected.file + ": " + repair);
  return columns_of(file, expected);
}

Array<double> load_vector(const std::string& option, const std::string& path, std::int64_t rows,
                          const std::string& matrix, const CommonOptions& options) {
  std::vector<Array<double>> columns = load_vectors(option, path, rows, matrix, options);
  if (columns.size() != 1)
    throw InputError(formatted("{}: found a {} x {} matrix, expected a vector: n x 1\n  write one column", path,
                               count(rows), columns.size()));
  return std::move(columns.front());
}

}  // namespace seidel::drivers
