// MATRIX on the command line: a file, standard input, or a generator.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>

#include <seidel/drivers/matrix_source.hpp>
#include <seidel/drivers/report/progress.hpp>
#include <seidel/drivers/stopwatch.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

/// Below this a file is read before a reader could look up.
constexpr std::int64_t worth_progress = 100'000'000;

ReadOptions read_options(const CommonOptions& options, LiveLine& line, const std::string& name) {
  ReadOptions read;
  read.threads = host_threads(options).threads;
  read.progress = [&line, name, watch = Stopwatch()](std::int64_t done, std::int64_t total) {
    if ((total && total < worth_progress) || done < worth_progress / 100 || !line.due()) return;
    const double rate = double(done) / watch.seconds();
    line.show(total ? formatted("reading {}: {:.0f} %, {}/s, about {} left", name, 100.0 * double(done) / double(total),
                                human_bytes(std::int64_t(rate)), human_seconds(double(total - done) / rate))
                    : formatted("reading {}: {}, {}/s", name, human_bytes(done), human_bytes(std::int64_t(rate))));
  };
  return read;
}

/// A better message than "cannot open" for a word that is no file.
void require_file(const std::string& option, const std::string& word, bool may_be_generator) {
  struct stat status {};
  if (word == "-") return;
  if (stat(word.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw InputError(formatted("{}: found a folder, expected a Matrix Market file", word));
    return;
  }
  std::string message = formatted("{}{}: {}", option.empty() ? "" : option + " ", word, std::strerror(errno));
  const auto colon = word.find(':');
  const std::string near = colon == word.npos ? "" : nearest(word.substr(0, colon), generator_names());
  if (may_be_generator && !near.empty()) message += formatted(" (did you mean {}?)", near + word.substr(colon));
  if (may_be_generator)
    message +=
        "\n  expected a .mtx or .mtx.gz file, - for standard input, or a generator such as poisson3d:64"
        "\n  all generators: seidel generate --help";
  throw InputError(message);
}

}  // namespace

LoadedMatrix load_matrix(const std::string& word, const CommonOptions& options, bool repair,
                         const std::function<void(std::int64_t nrows, std::int64_t nnz)>& sized,
                         ReadOptions::Complex complex) {
  const Stopwatch watch;
  LoadedMatrix loaded;
  loaded.name = word == "-" ? "standard input" : word;
  if (is_generator(word)) {
    loaded.matrix = generate(host_threads(options), word, 1, sized);
  } else {
    require_file("", word, true);
    LiveLine line(!options.quiet);
    ReadOptions read = read_options(options, line, loaded.name);
    read.repair = repair;
    read.complex = complex;
    read.sized = sized;
    MatrixFile file = read_matrix_market(word, read);
    loaded.matrix = std::move(file.matrix);
    loaded.file = std::move(file.report);
  }
  loaded.seconds = watch.seconds();
  return loaded;
}

namespace {

/// The numbers of a file that begins with one, between blanks and lines; what follows a # is a comment. Nothing of another
/// file.
std::optional<std::vector<double>> plain_numbers(const std::string& path) {
  constexpr const char* blanks = " \t\r";
  std::vector<double> numbers;
  std::ifstream file(path);
  std::string line;
  for (std::int64_t row = 1; std::getline(file, line); ++row) {
    line.erase(std::min(line.find('#'), line.size()));
    for (auto at = line.find_first_not_of(blanks); at != line.npos; at = line.find_first_not_of(blanks, at)) {
      const auto next = std::min(line.find_first_of(blanks, at), line.size());
      const char *const first = line.data() + at + (line[at] == '+' ? 1 : 0), *const last = line.data() + next;
      double value = 0;
      const auto [end, error] = std::from_chars(first, last, value);
      const bool number = error == std::errc() && end == last;
      if (!number && numbers.empty()) return {};
      if (!number || !std::isfinite(value))
        throw InputError(formatted("{}:{}:{}: found '{}', expected a finite number", path, row, at + 1,
                                   line.substr(at, std::min<std::size_t>(next - at, 40))));
      numbers.push_back(value);
      at = next;
    }
  }
  if (numbers.empty()) return {};
  return numbers;
}

}  // namespace

std::vector<Array<double>> load_vectors(const std::string& option, const std::string& path, std::int64_t rows,
                                        const std::string& matrix, const CommonOptions& options) {
  require_file(option, path, false);
  struct stat status {};
  const bool regular = path != "-" && stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  const auto require_rows = [&](std::int64_t found) {
    if (found != rows)
      throw InputError(formatted("{}: found {}, expected {}: one for each {} of {}", path,
                                 plural(found, "entry", "entries"), count(rows), option == "--x0" ? "column" : "row",
                                 matrix));
  };
  std::vector<Array<double>> columns;
  if (const auto numbers = regular ? plain_numbers(path) : std::nullopt) {
    require_rows(std::int64_t(numbers->size()));
    columns.emplace_back(*numbers);
    return columns;
  }
  LiveLine line(!options.quiet);
  const auto [A, report] = read_matrix_market(path, read_options(options, line, path));
  require_rows(A.nrows);
  if (A.ncols < 1) throw InputError(formatted("{}: found no column, expected one or more", path));
  if (report.nonfinite > 0)
    throw InputError(formatted("{}: found {} NaN or infinite, expected finite numbers only", report.first_nonfinite,
                               plural(report.nonfinite, "entry that is", "entries that are")));
  for (Index j = 0; j < A.ncols; ++j) columns.emplace_back(rows, 0.0);
  for (Index i = 0; i < A.nrows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) columns[A.col_idx[k]][i] = A.values[k];
  return columns;
}

Array<double> load_vector(const std::string& option, const std::string& path, std::int64_t rows,
                          const std::string& matrix, const CommonOptions& options) {
  std::vector<Array<double>> columns = load_vectors(option, path, rows, matrix, options);
  if (columns.size() != 1)
    throw InputError(formatted("{}: found a {} x {} matrix, expected a vector: n x 1\n  write one column", path,
                               count(rows), columns.size()));
  return std::move(columns.front());
}

std::vector<std::string> notes(const LoadedMatrix& loaded) {
  std::vector<std::string> all;
  if (!loaded.file) return all;
  const ReadReport& file = *loaded.file;
  all = file.repairs;
  if (file.field == Field::complex)
    all.push_back("complex: this is the real matrix [Re A, -Im A; Im A, Re A], of twice the size");
  if (file.field == Field::pattern) all.push_back("a pattern file has no values: every entry is taken as 1");
  if (file.explicit_zeros > 0)
    all.push_back(formatted("{} stored as zero, and kept", plural(file.explicit_zeros, "entry is", "entries are")));
  if (file.nonfinite > 0)
    all.push_back(formatted("{} NaN or infinite, the first at {}", plural(file.nonfinite, "entry is", "entries are"),
                            file.first_nonfinite));
  return all;
}

Json matrix_json(const LoadedMatrix& loaded) {
  Json json;
  json.set("name", loaded.name)
      .set("rows", std::int64_t(loaded.matrix.nrows))
      .set("columns", std::int64_t(loaded.matrix.ncols))
      .set("nonzeros", loaded.matrix.nnz())
      .set("source", loaded.file ? "file" : "generator");
  if (loaded.file) {
    const ReadReport& file = *loaded.file;
    Json repairs = Json::array();
    for (const auto& repair : file.repairs) repairs.push(repair);
    Json json_file;
    json_file.set("format", name(file.layout)).set("field", name(file.field)).set("symmetry", name(file.symmetry));
    json_file.set("entries", file.entries)
        .set("explicit_zeros", file.explicit_zeros)
        .set("duplicates", file.duplicates);
    json_file.set("mirrored", file.mirrored)
        .set("nonfinite", file.nonfinite)
        .set("bytes", file.file_bytes)
        .set("repairs", std::move(repairs));
    json.set("file", std::move(json_file));
  }
  return json;
}

}  // namespace seidel::drivers
