// What a report of `seidel solve` tells beside the verdict is true: times, what was tried, and where its commands lead.
#include "solve_json.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <regex>

using namespace seidel::tests;
using nlohmann::json;

namespace {

std::string matrix_of(const std::string& size, const std::string& entries) {
  return "%%MatrixMarket matrix coordinate real general\n" + size + "\n" + entries;
}

/// Seconds in "154 us", "1.25 s", ...
double seconds_in(const std::string& text, const std::string& before, const std::string& after) {
  std::smatch found;
  REQUIRE(std::regex_search(text, found, std::regex(before + "([0-9.]+) (us|ms|s)" + after)));
  return std::stod(found[1]) * (found[2] == "us" ? 1e-6 : found[2] == "ms" ? 1e-3 : 1);
}

/// Springs between neighbours of a chain, of very different stiffness, and `more` that holds its first point.
std::string chain(int n, double more) {
  std::string entries;
  const auto stiffness = [n](int i) { return i < 1 || i >= n ? 0 : std::pow(10, (7 * i) % 5 - 2) * (1 + i % 3); };
  const auto put = [&](int i, int j, double value) {
    char line[80];
    std::snprintf(line, sizeof line, "%d %d %.17g\n", i, j, value);
    entries += line;
  };
  for (int i = 1; i <= n; ++i) {
    if (i > 1) put(i, i - 1, -stiffness(i - 1));
    put(i, i, stiffness(i - 1) + stiffness(i) + (i == 1 ? more : 0));
    if (i < n) put(i, i + 1, -stiffness(i));
  }
  return matrix_of(std::to_string(n) + " " + std::to_string(n) + " " + std::to_string(3 * n - 2), entries);
}

/// Entries that are not orthogonal to anything.
std::string numbers(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += std::to_string((i * i) % 11 - 3.7) + "\n";
  return text;
}

/// A_ij = 1 / (i / 2 + j + 1), which has hardly more independent rows than a number has digits, and b = A x with x_j = cos(j).
std::pair<std::string, std::string> nearly_dependent(int n) {
  std::string entries, b;
  for (int i = 0; i < n; ++i) {
    char line[80];
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      const double a = 1 / (i * 0.5 + j + 1);
      std::snprintf(line, sizeof line, "%d %d %.17g\n", i + 1, j + 1, a);
      entries += line;
      sum += a * std::cos(j);
    }
    std::snprintf(line, sizeof line, "%.17g\n", sum);
    b += line;
  }
  return {matrix_of(std::to_string(n) + " " + std::to_string(n) + " " + std::to_string(n * n), entries), b};
}

}  // namespace

TEST_CASE("the order of the factors is counted in no time twice") {
  const Words words = {"solve", "poisson2d:300", "--method", "direct"};  // ordered in a quarter of the time
  const auto start = std::chrono::steady_clock::now();
  const json seconds = reported(words, 0)["seconds"];
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - start;
  double sum = 0;
  for (const char* part : {"read", "setup", "solve", "estimate", "certify"}) sum += double(seconds[part]);
  CHECK(sum <= all.count());
}

TEST_CASE("the time of a solve with factors is not that of the iterations before") {
  const Run run = succeeded({"solve", "denserow:20000", "--verbose"});
  REQUIRE(contains(run.out, "500 iterations were not enough"));
  const double solves = seconds_in(run.out, "solves +3 \\(", " each\\)"), solving = seconds_in(run.out, "solving ", "");
  CHECK(3 * solves < solving / 2);
}

TEST_CASE("solving takes as long as all that was tried") {
  const Folder folder;
  write_file(folder / "A.mtx", chain(60, 0));
  write_file(folder / "b.txt", numbers(60));
  std::string indefinite;
  for (int i = 1; i <= 60; ++i) {
    indefinite += std::to_string(i) + " " + std::to_string(i) + " 1\n";
    if (i > 1) indefinite += std::to_string(i) + " " + std::to_string(i - 1) + " " + std::to_string(1 + i % 3) + "\n";
  }
  write_file(folder / "indefinite.mtx", "%%MatrixMarket matrix coordinate real symmetric\n60 60 119\n" + indefinite);
  for (const Words& words : {Words{folder / "A.mtx", "--rhs", folder / "b.txt", "--tol", "1e-14"},
                             {folder / "indefinite.mtx", "--precond", "jacobi"}}) {
    const json report = report_of(words);
    double sum = 0;
    for (const json& attempt : report["attempts"]) sum += double(attempt["seconds"]);
    REQUIRE(report["attempts"].size() > 1);
    CHECK(double(report["seconds"]["solve"]) >= sum);
  }
}

TEST_CASE("each attempt is told with the preconditioner that it had") {
  const Folder folder;
  write_file(folder / "A.mtx", chain(60, 1e-9));
  write_file(folder / "b.txt", numbers(60));
  const json attempts = report_of({folder / "A.mtx", "--rhs", folder / "b.txt"}, 1)["attempts"];
  REQUIRE(attempts.size() == 2);
  CHECK(attempts[0]["method"] == "cg");
  CHECK(attempts[0]["preconditioner"] == "jacobi");
  CHECK(attempts[1]["method"] == "direct");
  CHECK(attempts[1]["preconditioner"] == "none");
}

TEST_CASE("a start that factors do not use is not told as one") {
  const Folder folder;
  write_file(folder / "A.mtx", matrix_of("3 3 4", "1 2 1\n2 3 2\n3 1 3\n3 2 1\n"));
  write_file(folder / "x0.txt", "4\n5\n6\n");
  const Run run = succeeded({"solve", folder / "A.mtx", "--x0", folder / "x0.txt"});
  REQUIRE(contains(run.out, "with factors of A"));
  CHECK(contains(run.out, "x0.txt (the factors need none)"));
}

TEST_CASE("the limit of time that is proposed is enough for the forecast of factors") {
  const Run run = seidel_program({"solve", "poisson3d:60", "--method", "direct", "--time-limit", "20", "-v"});
  CHECK(run.exit_code == 1);
  REQUIRE(contains(run.out, "factorising takes about 10 min"));
  const std::string option = "-v --time-limit ";
  REQUIRE(contains(run.out, option));
  CHECK(std::stod(run.out.substr(run.out.find(option) + option.size())) > 600);
  CHECK(!contains(run.out, "factors          made"));
}

TEST_CASE("iterations leave factors the time that these need" * doctest::skip(SEIDEL_SANITIZED)) {
  // With a sanitizer factors take ten times what is forecast.
  const json report =
      report_of({"convdiff:20x20x20:100000,50000,20000:central", "--tol", "1e-12", "--time-limit", "2"}, 0);
  CHECK(report["method"] == "direct");
  CHECK(double(report["seconds"]["solve"]) + double(report["seconds"]["setup"]) < 2.1);
}

TEST_CASE("factors that were given up are not described") {
  const Run run = seidel_program({"solve", "poisson3d:70", "--method", "direct", "--time-limit", "0.05"});
  CHECK(run.exit_code == 1);
  CHECK(contains(run.out, "direct: unfinished"));
  CHECK(!contains(run.out, "0 entries"));
}

TEST_CASE("a tolerance that double precision cannot reach makes no matrix singular") {
  const Folder folder;
  write_file(folder / "b.txt", numbers(43));
  const Run run =
      seidel_program({"solve", "random:43x20:800", "--rhs", folder / "b.txt", "--least-squares", "--tol", "1e-17"});
  CHECK(run.exit_code == 1);
  CHECK(contains(run.out, "NOT solved: the limit of double precision is reached"));
  CHECK(!contains(run.out, "singular, and b"));

  write_file(folder / "A.mtx", chain(60, 0));
  write_file(folder / "c.txt", numbers(60));
  const Run projected = seidel_program(
      {"solve", folder / "A.mtx", "--rhs", folder / "c.txt", "--tol", "1e-14", "--null-space", "constant"});
  CHECK(projected.exit_code == 1);
  CHECK(contains(projected.out, "NOT solved: the limit of double precision is reached"));
  CHECK(!contains(projected.out, "not in its range"));
}

TEST_CASE("x = 0 is exact where b = 0, also of a singular matrix") {
  const Folder folder;
  write_file(folder / "A.mtx", matrix_of("3 3 0", ""));
  write_file(folder / "b.txt", "0\n0\n0\n");
  const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--method", "minres"}, 0);
  CHECK(report["error_estimate"] == 0);
  CHECK(report["error_estimate_source"] == "exact");
}

TEST_CASE("the limits that kept a solve from its end are raised beside --least-squares, too") {
  const Folder folder;
  write_file(folder / "A.mtx", chain(60, 0));
  write_file(folder / "b.txt", numbers(60));
  const json report = report_of({folder / "A.mtx", "--method", "gmres", "--max-iterations", "3"}, 1);
  for (const json& cause : report["diagnosis"])
    if (!cause["try"].is_null()) CHECK(contains(cause["try"], "--max-iterations 20000"));
}

TEST_CASE("a limit of time that was too short is raised beside --least-squares, too") {
  const Folder folder;
  write_file(folder / "A.mtx", matrix_of("3 3 2", "1 2 1\n2 3 1\n"));
  write_file(folder / "b.txt", "1\n2\n3\n");
  const Words short_solve = {"solve", folder / "A.mtx", "--time-limit", "1e-9"};
  const Run inconsistent = seidel_program(short_solve + Words{"--rhs", folder / "b.txt"});
  CHECK(contains(inconsistent.out, "no x has a residual below"));
  CHECK(contains(inconsistent.out, "--least-squares --time-limit 60"));
  const Run consistent = seidel_program(short_solve);
  CHECK(contains(consistent.out, "NOT solved: A is singular"));
  CHECK(contains(consistent.out, "A.mtx --time-limit 60"));
}

TEST_CASE("what is known of the error of x = 0 is told, too") {
  const Folder folder;
  write_file(folder / "b.txt", "1\n0\n0\n");
  const Words accepted = {"--rhs", folder / "b.txt", "--set", "atol=1e3", "--method", "cg"};
  write_file(folder / "cycle.mtx", matrix_of("3 3 3", "1 2 1\n2 3 1\n3 1 1\n"));  // cg goes nowhere
  const json by_factors = report_of(Words{folder / "cycle.mtx"} + accepted, 0);
  CHECK(by_factors["verdict"] == "doubtful");
  CHECK(by_factors["error_estimate"] == 1);
  write_file(folder / "zero.mtx", matrix_of("3 3 0", ""));
  CHECK(
      contains(succeeded(Words{"solve", folder / "zero.mtx"} + accepted).out, "error            unknown: cg found no"));
}

TEST_CASE("it is not double precision that limits a method which factors surpass") {
  const Folder folder;
  const auto [A, b] = nearly_dependent(10);
  write_file(folder / "A.mtx", A);
  write_file(folder / "b.txt", b);
  const Words words = {"solve", folder / "A.mtx", "--rhs", folder / "b.txt", "--method", "idr", "--error-tol", "1e-3"};
  const Run run = seidel_program(words);
  REQUIRE(run.exit_code == 0);
  REQUIRE(contains(run.out, "  but "));
  CHECK(contains(run.out, "--method auto"));
}

TEST_CASE("where factors tell the error, what is proposed for it is what factors can mend") {
  const Folder folder;
  const auto [A, b] = nearly_dependent(8);
  write_file(folder / "A.mtx", A);
  write_file(folder / "b.txt", b);
  const Words words = {"solve", folder / "A.mtx", "--rhs", folder / "b.txt"};
  const Run named = succeeded(words + Words{"--method", "bicgstab", "--precond", "none"});
  REQUIRE(contains(named.out, "from corrections by factors of A"));
  REQUIRE(contains(named.out, "  but "));
  CHECK(contains(named.out, "--method auto --precond auto"));
  CHECK(!contains(named.out, "--error-tol"));
  CHECK(!contains(succeeded(words + Words{"--method", "auto", "--precond", "auto"}).out, "  but "));
}

TEST_CASE("of an x beyond the range of double precision no error is told, and no other method is proposed") {
  const Folder folder;
  write_file(folder / "A.mtx", matrix_of("2 2 3", "1 1 3e-200\n1 2 1e-200\n2 2 2e-200\n"));
  write_file(folder / "b.txt", "1e200\n1e200\n");
  for (const Words& way : {Words{}, {"--method", "gmres"}, {"--method", "direct"}}) {
    const Run run = seidel_program(Words{"solve", folder / "A.mtx", "--rhs", folder / "b.txt"} + way);
    CHECK(run.exit_code == 1);
    CHECK(contains(run.out, "NOT solved: numbers leave the range of double precision"));
    CHECK(!contains(run.out, "inf = max"));
    CHECK(!contains(run.out, "try:"));
  }
}

TEST_CASE("small numbers, which are solved in other units, are no cause of what a limit of time did") {
  const Folder folder;
  write_file(folder / "A.mtx", matrix_of("2 2 3", "1 1 3\n1 2 1\n2 2 2\n"));
  write_file(folder / "b.txt", "1e-300\n1e-300\n");
  const Run run = seidel_program({"solve", folder / "A.mtx", "--rhs", folder / "b.txt", "--time-limit", "1e-9"});
  CHECK(!contains(run.out, "so small that"));
  CHECK(contains(run.out, "--time-limit 60"));
}

TEST_CASE("of rows of very different sizes it is not said that no x has a smaller residual") {
  const Folder folder;
  write_file(folder / "A.mtx", matrix_of("3 3 5", "1 1 2\n1 2 1\n2 2 1e-60\n2 3 1e-60\n3 3 1e-120\n"));
  write_file(folder / "b.txt", "1\n1\n1\n");
  const Run run = seidel_program({"solve", folder / "A.mtx", "--rhs", folder / "b.txt", "--method", "lsmr"});
  CHECK(run.exit_code == 1);
  CHECK(!contains(run.out, "no x has a smaller residual"));
  CHECK(!contains(run.out, "NOT solved: A is singular"));
}

TEST_CASE("another order of a sweep is proposed only where it has fewer steps") {
  const Folder folder;
  std::string entries;
  for (int i = 1; i <= 9; ++i)
    for (int j = 1; j <= 9; ++j) entries += std::to_string(i) + " " + std::to_string(j) + (i == j ? " 20\n" : " 1\n");
  write_file(folder / "A.mtx", matrix_of("9 9 81", entries));  // full: each row waits for all before it, in any order
  const Words words = {"solve", folder / "A.mtx", "--precond", "symgs", "--backend", "openmp", "--threads", "2"};
  CHECK(!contains(succeeded(words).out, "--order colours"));
}

TEST_CASE("an x beyond the range of double precision does not make A singular") {
  const Folder folder;
  write_file(folder / "A.mtx", matrix_of("2 2 4", "1 1 3e-200\n1 2 1e-200\n2 1 -1e-200\n2 2 2e-200\n"));
  write_file(folder / "b.txt", "1e200\n1e200\n");
  const Run run =
      seidel_program({"solve", folder / "A.mtx", "--rhs", folder / "b.txt", "--max-iterations", "1", "--verbose"});
  CHECK(run.exit_code == 1);
  CHECK(!contains(run.out, "singular"));
  CHECK(!contains(run.out, "as good as double precision gives it"));
}

TEST_CASE("that no x has a smaller residual is said of a nearly singular A only for an x of moderate size") {
  const Folder folder;
  write_file(folder / "A.mtx", matrix_of("2 2 4", "1 1 1\n1 2 1\n2 1 1\n2 2 1.000000000001\n"));
  write_file(folder / "b.txt", "1\n-1\n");
  const Run run = seidel_program({"solve", folder / "A.mtx", "--rhs", folder / "b.txt", "--method", "lsmr"});
  CHECK(!contains(run.out, "no x has a smaller residual"));
}

TEST_CASE("a start that is far from any solution does not make A singular") {
  const Folder folder;
  std::string x0;
  for (int i = 0; i < 400; ++i) x0 += std::to_string(i % 7 - 3) + "e90\n";
  write_file(folder / "x0.txt", x0);
  const Run run = seidel_program(
      {"solve", "poisson2d:20", "--method", "gmres", "--x0", folder / "x0.txt", "--max-iterations", "3", "--verbose"});
  CHECK(run.exit_code == 1);
  CHECK(!contains(run.out, "singular"));
  CHECK(contains(run.out, "--max-iterations 20000"));
}

TEST_CASE("a triangular matrix is not called half of one where a limit ended the solve") {
  const Folder folder;
  std::string entries;
  for (int i = 1; i <= 12; ++i)
    for (int j = 1; j <= i; ++j)
      entries +=
          std::to_string(i) + " " + std::to_string(j) + " " + std::to_string(i == j ? 1 : (i * j) % 5 - 2) + "\n";
  write_file(folder / "A.mtx", matrix_of("12 12 78", entries));
  const Words words = {"solve", folder / "A.mtx", "--method", "gmres", "--precond", "none"};
  const Run limited = seidel_program(words + Words{"--max-iterations", "3", "--verbose"});
  CHECK(limited.exit_code == 1);
  CHECK(!contains(limited.out, "one triangle"));
  CHECK(contains(limited.out, "--max-iterations 20000"));
}
