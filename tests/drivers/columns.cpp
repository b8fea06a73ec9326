// seidel solve with several right-hand sides: each column is what it is alone.
#include "process.hpp"

#include <algorithm>
#include <sstream>

using namespace seidel::tests;

namespace {

constexpr int n = 343;  // of poisson3d:7

/// Column j: random numbers, zeros, numbers of another size.
std::string entries(int j) {
  std::ostringstream text;
  unsigned state = 17 + unsigned(j);
  for (int i = 0; i < n; ++i) {
    state = state * 1664525 + 1013904223;
    text << (j == 1 ? 0 : (int(state >> 16) - 32768) * (j == 2 ? 1e-30 : 0.25)) << "\n";
  }
  return text.str();
}

std::string array(const std::vector<int>& columns) {
  std::string text =
      "%%MatrixMarket matrix array real general\n" + std::to_string(n) + " " + std::to_string(columns.size()) + "\n";
  for (const int j : columns) text += entries(j);
  return text;
}

/// What follows the banner and the size.
std::string numbers(const std::string& file) {
  const std::string text = read_file(file);
  return text.substr(text.find('\n', text.find('\n') + 1) + 1);
}

}  // namespace

TEST_CASE("solve --rhs with several columns: x of each has the bits that it has alone, by every kind of method") {
  Folder folder;
  write_file(folder / "B.mtx", array({0, 1, 2}));
  for (int j = 0; j < 3; ++j) write_file(folder / ("b" + std::to_string(j) + ".mtx"), array({j}));
  const std::vector<std::vector<std::string>> ways = {
      {},
      {"--method", "cg", "--precond", "jacobi"},
      {"--method", "cg", "--precond", "amg", "--set", "amg.coarsest=20"},
      {"--method", "cg", "--precond", "symgs"},
      {"--method", "gmres"},
      {"--method", "direct"},
      {"--least-squares"},
      {"--error-tol", "1e-12"}};
  for (const std::string matrix : {"poisson3d:7", "convdiff:7x7x7"})
    for (const auto& way : ways) {
      if (matrix[0] == 'c' && way.size() > 0 && way[0] == "--method" && way[1] == "cg") continue;
      for (const std::string threads : {"1", "3"}) {
        std::string names;
        for (const auto& word : Words{matrix, threads} + way) names += word + " ";
        CAPTURE(names);
        const auto run = [&](const std::string& rhs, const std::string& x) {
          return seidel_program(Words{"solve", matrix, "--rhs", folder / rhs, "--out", folder / x, "--backend",
                                      "openmp", "--threads", threads} +
                                way);
        };
        const Run together = run("B.mtx", "X.mtx");
        std::string expected;
        int exit_code = 0;
        for (int j = 0; j < 3; ++j) {
          exit_code = std::max(exit_code, run("b" + std::to_string(j) + ".mtx", "x.mtx").exit_code);
          expected += numbers(folder / "x.mtx");
        }
        CHECK(together.exit_code == exit_code);
        CHECK((numbers(folder / "X.mtx") == expected));
        CHECK(contains(together.out, "3 right-hand sides"));
      }
    }
}

TEST_CASE(
    "solve --rhs with several columns: exit code, report, history and JSON tell of each, and the worst comes first") {
  Folder folder;
  write_file(folder / "B.mtx", array({1, 0}));
  const Run run =
      seidel_program({"solve", "poisson3d:7", "--rhs", folder / "B.mtx", "--method", "cg", "--max-iterations", "2",
                      "--history", folder / "h.csv", "--json", folder / "report.json"});
  CHECK(run.exit_code == 1);
  CHECK(contains(run.out, "2 right-hand sides, 1 solved; the worst of them is column 2:"));
  CHECK(contains(run.out, "not solved: 2 iterations of cg"));
  const std::string history = read_file(folder / "h.csv"), json = read_file(folder / "report.json");
  CHECK(contains(history, "iteration,relative_residual_1,relative_residual_2\n0,0"));
  CHECK(contains(history, "\n2,,"));
  CHECK(contains(json, "\"column\": 2"));
  CHECK(contains(json, "\"columns\": ["));
  const Run direct = seidel_program({"solve", "poisson3d:7", "--rhs", folder / "B.mtx", "--method", "direct", "-v"});
  CHECK(contains(direct.out, " solves with factors of A, residual "));
  CHECK(contains(direct.out, "\nsolves  "));
  CHECK(!contains(direct.out, "iteration"));  // factors make none
}

TEST_CASE("Ctrl-C with several columns names no --x0, which takes one") {
  Folder folder;
  std::string B = "%%MatrixMarket matrix array real general\n90000 2\n";
  for (int i = 0; i < 180000; ++i) B += std::to_string(i % 17) + "\n";
  write_file(folder / "B.mtx", B);
  const Run run = seidel_program({"solve", "poisson2d:300", "--rhs", folder / "B.mtx", "--precond", "none", "--tol",
                                  "1e-15", "--backend", "serial", "--verbose", "--out", folder / "X.mtx"},
                                 {.interrupt_after = 0.01, .interrupt_when = "to solve, "});
  CHECK(run.exit_code == 1);
  CHECK(contains(run.out, "interrupted after"));
  CHECK(!contains(run.out, "--x0"));
  CHECK(contains(read_file(folder / "X.mtx"), "90000 2"));
}

TEST_CASE("solve refuses columns that do not fit") {
  Folder folder;
  write_file(folder / "B.mtx", array({0, 1}));
  check_refused(3, {{{"solve", "poisson3d:6", "--rhs", folder / "B.mtx"}, {"found 343 entries, expected 216"}},
                    {{"solve", "poisson3d:7", "--x0", folder / "B.mtx"}, {"343 x 2", "expected a vector"}}});
}
