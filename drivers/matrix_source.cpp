// MATRIX on the command line: a file, standard input, or a generator.
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include <seidel/drivers/matrix_source.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>

namespace seidel::drivers {

namespace {

/// Below this a file is read before a reader could look up.
constexpr std::int64_t worth_progress = 100'000'000;

}  // namespace

ReadOptions read_options(const CommonOptions& options, LiveLine& line, const std::string& name) {
  ReadOptions read;
  read.threads = host_threads(options).threads;
  read.real_form_by = formatted("seidel convert {} REAL.mtx --real-form (likewise for b)", name);
  read.progress = [&line, name, watch = Stopwatch()](std::int64_t done, std::int64_t total) {
    if ((total && total < worth_progress) || done < worth_progress / 100 || !line.due()) return;
    const double rate = double(done) / watch.seconds();
    line.show(total ? formatted("reading {}: {:.0f} %, {}/s, about {} left", name, 100.0 * double(done) / double(total),
                                human_bytes(std::int64_t(rate)), human_seconds(double(total - done) / rate))
                    : formatted("reading {}: {}, {}/s", name, human_bytes(done), human_bytes(std::int64_t(rate))));
  };
  return read;
}

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
  else
    message += formatted("\n  expected {}a Matrix Market file{}{}", option == "--null-space" ? "constant, " : "",
                         option.empty() ? "" : ", or one of plain numbers",
                         is_generator(word) ? ": generators make no vectors" : "");
  throw InputError(message);
}

LoadedMatrix load_matrix(const std::string& word, const CommonOptions& options, bool repair,
                         const ReadOptions::Sized& sized, ReadOptions::Complex complex) {
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
    read.repair_by = "--repair of solve, info and convert";
    read.complex = complex;
    read.sized = sized;
    MatrixFile file = read_matrix_market(word, read);
    loaded.matrix = std::move(file.matrix);
    loaded.file = std::move(file.report);
  }
  loaded.seconds = watch.seconds();
  return loaded;
}

void require_finite(const ReadReport& file) {
  if (file.nonfinite > 0)
    throw InputError(formatted("{}: found {} NaN or infinite, expected finite numbers only", file.first_nonfinite,
                               plural(file.nonfinite, "entry that is", "entries that are")));
}

std::vector<std::string> notes(const LoadedMatrix& loaded) {
  std::vector<std::string> all;
  if (!loaded.file) return all;
  const ReadReport& file = *loaded.file;
  all = file.repairs;
  if (file.field == Field::complex)
    all.push_back(loaded.matrix.ncols == 1
                      ? "complex: this is the real vector [Re b; Im b], of twice the length"
                      : "complex: this is the real matrix [Re A, -Im A; Im A, Re A], of twice the size");
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
  json.set("name", loaded.name).set("rows", std::int64_t(loaded.matrix.nrows));
  json.set("columns", std::int64_t(loaded.matrix.ncols)).set("nonzeros", loaded.matrix.nnz());
  json.set("source", loaded.file ? "file" : "generator");
  if (loaded.file) {
    const ReadReport& file = *loaded.file;
    Json told;
    told.set("format", name(file.layout)).set("field", name(file.field)).set("symmetry", name(file.symmetry));
    told.set("entries", file.entries).set("explicit_zeros", file.explicit_zeros).set("duplicates", file.duplicates);
    told.set("mirrored", file.mirrored).set("nonfinite", file.nonfinite).set("bytes", file.file_bytes);
    json.set("file", std::move(told.set("repairs", file.repairs)));
  }
  return json;
}

}  // namespace seidel::drivers
