// Where the advice of `seidel solve` leads: scripts/follow_advice.py asks the same of any folder of matrices.
#include "process.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>

#include <nlohmann/json.hpp>

using namespace seidel::tests;
using nlohmann::json;

namespace {

constexpr int max_steps = 3;

/// What follows the name of the program in a command without quotes, less --json.
std::vector<std::string> words_of(const std::string& command) {
  std::istringstream words(command);
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  all.erase(all.begin());
  if (const auto at = std::find(all.begin(), all.end(), "--json"); at != all.end()) all.erase(at, at + 2);
  return all;
}

/// Follows the first command of each report. Right ends: solved with an error below 1 %, a warning, or nothing new to try.
void follow(std::vector<std::string> words) {
  std::vector<std::vector<std::string>> tried;
  std::string steps;
  for (int step = 0; step <= max_steps; ++step) {
    tried.push_back(words);
    for (const auto& word : words) steps += word + ' ';
    steps += '\n';
    CAPTURE(steps);
    auto with_json = words;
    with_json.insert(with_json.end(), {"--json", "-"});
    const Run run = seidel_program(with_json);
    if (run.exit_code == 3 && tried.size() == 1) return;  // A cannot be solved so: no advice was followed
    REQUIRE(run.exit_code <= 1);
    const json report = json::parse(run.out);
    if (run.exit_code == 0) {
      CHECK((report["verdict"] != "solved" || report["error_estimate"] < 1e-2));
      return;
    }
    const auto& causes = report["diagnosis"];
    const auto advice =
        std::find_if(causes.begin(), causes.end(), [](const json& one) { return !one["try"].is_null(); });
    if (advice == causes.end()) return;
    words = words_of((*advice)["try"]);
    if (std::find(tried.begin(), tried.end(), words) != tried.end()) return;
  }
  FAIL_CHECK("no end after ", max_steps, " steps:\n", steps);
}

/// From each beginning, suited or not.
void follow_all(const std::vector<std::string>& matrices) {
  const std::vector<std::vector<std::string>> beginnings = {
      {},
      {"--method", "cg"},
      {"--method", "bicgstab"},
      {"--method", "gmres", "--set", "restart=20"},
      {"--precond", "none"},
      {"--precond", "ilu0"},
      {"--method", "cg", "--precond", "none", "--max-iterations", "50"},
      {"--method", "bicgstab", "--precond", "symgs", "--order", "colours", "--set", "omega=1.1"}};
  for (const auto& matrix : matrices)
    for (const auto& beginning : beginnings) follow(Words{"solve", matrix, "--time-limit", "10"} + beginning);
}

std::vector<std::string> matrices_in(const std::string& folder, std::uintmax_t max_bytes) {
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().string().ends_with(".mtx.gz") && file.file_size() < max_bytes)
      files.push_back(file.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("every command behind `try:` is accepted, and leads to an end in three steps") {
  std::vector<std::string> matrices = matrices_in(SEIDEL_SOURCE_DIR "/data", 100'000);
  CHECK(matrices.size() > 4);
  for (const char* generated : {"poisson3d:9", "convdiff:20", "emptyrows:60", "random:200x200:900"})
    matrices.emplace_back(generated);
  follow_all(matrices);
}

TEST_CASE("more iterations are proposed for more digits only where they brought some") {
  const Folder folder;
  std::string ramp;
  for (int i = 0; i < 2500; ++i) ramp += std::to_string(i * i % 11 - 5) + "\n";
  write_file(folder / "b.txt", ramp);
  std::ostringstream hilbert, b;
  hilbert.precision(17), b.precision(17);
  hilbert << "%%MatrixMarket matrix array real general\n12 12\n";
  for (int i = 0; i < 12; ++i) {
    double sum = 0;
    for (int j = 0; j < 12; ++j) hilbert << 1.0 / (1 + i + j) << "\n", sum += (j % 4 - 2.0) / (1 + i + j);
    b << sum << "\n";
  }
  write_file(folder / "hilbert.mtx", hilbert.str());
  write_file(folder / "b12.txt", b.str());
  const auto run = [](const Words& words) {
    return seidel_program(Words{"solve"} + words + Words{"--method", "minres", "--precond", "none"}).out;
  };
  const std::vector<std::string> slow = {"poisson2d:50", "--rhs", folder / "b.txt", "--tol", "1e-2",
                                         "--error-tol",  "1e-9"};
  std::vector<std::string> limited = slow;
  limited.insert(limited.end(), {"--max-iterations", "130"});
  CHECK(contains(run(limited), "--max-iterations 1300   # the limit of iterations was reached\n"));
  CHECK(contains(run(slow), "solved: "));  // with 20000
  const std::string out = run({folder / "hilbert.mtx", "--rhs", folder / "b12.txt", "--error-tol", "1e-3"});
  CAPTURE(out);
  CHECK(contains(out, "solved to the residual asked for:"));
  CHECK(!contains(out, "--max-iterations"));  // 20000 are at the limit of precision
}

TEST_CASE("the same of the matrices in the folder SEIDEL_TEST_MATRICES" *
          doctest::skip(!std::getenv("SEIDEL_TEST_MATRICES"))) {
  follow_all(matrices_in(std::getenv("SEIDEL_TEST_MATRICES"), std::numeric_limits<std::uintmax_t>::max()));
}
