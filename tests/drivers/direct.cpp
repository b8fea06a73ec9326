// --method direct: what it solves, what it says of singular matrices, when `auto` takes it.
#include "solve_json.hpp"

#include <algorithm>

#include <seidel/drivers/direct.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/formats/generators/generate.hpp>

#include "../matrices.hpp"

using namespace seidel::tests;
using nlohmann::json;

namespace {

/// Zeros on the diagonal, and blocks [1 4; -4 1] beside it that let no short iteration get far.
std::string without_diagonal(int n) {
  std::string entries;
  int count = 0;
  const auto add = [&](int i, int j, double v) {
    entries += std::to_string(i) + " " + std::to_string(j) + " " + std::to_string(v) + "\n";
    ++count;
  };
  for (int i = 1; i < n; ++i) {
    add(i, i + 1, 4 + i % 7);
    if (i > 3) add(i, i - 3, 1);
  }
  add(n, 1, 2);
  return "%%MatrixMarket matrix coordinate real general\n" + std::to_string(n) + " " + std::to_string(n) + " " +
         std::to_string(count) + "\n" + entries;
}

/// Tridiagonal, but the last row is the first one again.
std::string an_equation_twice(int n) {
  std::string entries;
  for (int i = 1; i < n; ++i)
    for (int j = std::max(1, i - 1); j <= i + 1; ++j)
      entries +=
          std::to_string(i) + " " + std::to_string(j) + (i == j ? " 4\n" : " " + std::to_string(i % 5 + 1) + "\n");
  entries += std::to_string(n) + " 1 4\n" + std::to_string(n) + " 2 2\n";
  return "%%MatrixMarket matrix coordinate real general\n" + std::to_string(n) + " " + std::to_string(n) + " " +
         std::to_string(3 * n - 2) + "\n" + entries;
}

}  // namespace

TEST_CASE("direct solves symmetric and unsymmetric systems to the last digits, and says so in JSON") {
  for (const char* matrix : {"poisson2d:40", "convdiff:30", "elasticity3d:4", "graph:12", "poisson2d:1"}) {
    CAPTURE(matrix);
    const json report = report_of({matrix, "--method", "direct"}, 0);
    CHECK(report["method"] == "direct");
    CHECK(report["preconditioner"] == "none");
    CHECK(report["error_against_ones"] <= 1e-9);
    CHECK(report["history"].size() == std::size_t(report["iterations"]) + 1);
    CHECK(report["seconds"]["preconditioner"] > 0);  // the factors
    CHECK(report["seconds"]["preconditioner"] <= report["seconds"]["setup"]);
  }
  const Run run = seidel_program({"solve", "poisson2d:40", "--method", "direct", "--verbose"});
  CHECK(contains(run.out, "\nfactors          made in "));
  CHECK(!contains(run.out, "in 0 s"));
}

TEST_CASE("direct says that a matrix is singular: no solution, or one of many") {
  Folder folder;
  write_file(folder / "A.mtx", "%%MatrixMarket matrix array real general\n3 3\n1\n2\n3\n2\n4\n6\n1\n1\n2\n");
  write_file(folder / "b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n0\n0\n");
  const Run run = seidel_program({"solve", folder / "A.mtx", "--rhs", folder / "b.mtx", "--method", "direct"});
  CHECK(run.exit_code == 1);
  CHECK(contains(run.out, "NOT solved: A is singular"));

  write_file(folder / "twice.mtx", an_equation_twice(80));
  write_file(folder / "S.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 1 1\n");
  for (const std::string& matrix : {folder / "twice.mtx", folder / "S.mtx", folder / "A.mtx"})
    for (const char* method : {"direct", "auto"}) {
      CAPTURE(matrix);
      const json report = report_of({matrix, "--method", method}, 0);  // b = A * ones
      CHECK(report["relative_residual"] <= 1e-8);
    }
  std::string b;
  for (int i = 0; i < 80; ++i) b += i < 79 ? "1\n" : "2\n";
  write_file(folder / "c.txt", b);
  for (const char* method : {"direct", "auto"})
    CHECK(report_of({folder / "twice.mtx", "--rhs", folder / "c.txt", "--method", method}, 1)["converged"] == false);
  write_file(folder / "d.txt", b.substr(0, b.size() - 2) + "1\n");  // the equation twice, and b, too
  const json one_of_many = report_of({folder / "twice.mtx", "--rhs", folder / "d.txt", "--method", "direct"}, 0);
  CHECK(one_of_many["verdict"] == "doubtful");
  CHECK(one_of_many["error_estimate_source"] == "singular");
}

TEST_CASE("auto takes factors where no preconditioner can be used, and says why") {
  Folder folder;
  write_file(folder / "A.mtx", without_diagonal(900));
  const json report = report_of({folder / "A.mtx"}, 0);
  CHECK(report["method"] == "direct");
  CHECK(contains(report["choice"], "no nonzero diagonal entry"));
  CHECK(report["error_against_ones"] <= 1e-9);
  CHECK(report_of({folder / "A.mtx", "--method", "gmres"}, 0)["method"] == "gmres");
}

TEST_CASE("auto takes factors of what is nearly a tree, unless something else was asked for") {
  const char* const chain = "poisson2d:1x900";  // cg needs 900 iterations
  const json report = report_of({chain}, 0);
  CHECK(report["method"] == "direct");
  CHECK(contains(report["choice"], "hardly more entries"));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--method", "cg"},
                                                {"--precond", "symgs"},
                                                {"--max-iterations", "1000"},
                                                {"--set", "omega=1.1"}}) {
    std::vector<std::string> all = {chain};
    all.insert(all.end(), words.begin(), words.end());
    CAPTURE(all);
    CHECK(report_of(all, 0)["method"] != "direct");
  }
  CHECK(report_of({"poisson2d:30"}, 0)["method"] == "cg");
}

TEST_CASE("direct refuses what it would ignore, and a limit of time that it cannot keep") {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--precond", "jacobi"}, {"--order", "colours"}, {"--backend", "cuda"}}) {
    std::vector<std::string> all = {"solve", "poisson2d:9", "--method", "direct"};
    all.insert(all.end(), words.begin(), words.end());
    CAPTURE(all);
    CHECK(seidel_program(all).exit_code == 2);
  }
  const json report = report_of({"poisson3d:24", "--method", "direct", "--time-limit", "0.001"}, 1);
  CHECK(report["status"] == "time_limit");
}

TEST_CASE("a dense row fills neither the factors nor the time of auto" * doctest::skip(SEIDEL_SANITIZED)) {
  // Partial pivoting in the order of COLAMD took the full row first: 5e7 entries for 20,000 rows, 200 GB for 300,000.
  // A sanitizer does not start in so little address space.
  for (const char* matrix : {"denserow:60000", "densecolumn:60000"}) {
    CAPTURE(matrix);
    const Run run = seidel_program({"solve", matrix, "--method", "direct", "--threads", "2"}, {.memory = 1'500'000'000});
    CAPTURE(run.err);
    CHECK(run.exit_code == 0);
    CHECK(run.seconds < 5);
  }
  const json report = report_of({"denserow:20000"}, 0);  // 5,182 iterations of bicgstab
  CHECK(report["method"] == "direct");
  CHECK(contains(report["choice"], "500 iterations were not enough"));
  CHECK(report["error_against_ones"] <= 1e-12);
}

TEST_CASE("an order that takes long is given up after the limit of time, and nothing is said of singular") {
  using namespace seidel;
  const auto A = with_offsets<std::int32_t>(OpenMP{}, generate(OpenMP{}, "poisson3d:70").view());
  drivers::DirectSolver solver(A.view(), false, 0.0);
  CHECK(solver.given_up());
  CHECK(solver.forecast().seconds > 1e300);
  CHECK(!solver.factorise());
  CHECK(!solver.factorise_nearby());
  for (const char* matrix : {"poisson3d:70", "convdiff:50x50x50"}) {
    CAPTURE(matrix);
    const json report = report_of({matrix, "--method", "direct", "--time-limit", "0.06"}, 1);
    CHECK(report["status"] == "time_limit");
    CHECK(report["seconds"]["setup"] < 2);
  }
}

TEST_CASE("Ctrl-C while factors are computed is told as what it is") {
  const Run run = seidel_program({"solve", "poisson2d:400", "--method", "direct", "--verbose"},
                                 {.interrupt_after = 0.01, .interrupt_when = "to solve, "});
  CHECK(run.exit_code == 1);
  CHECK(contains(run.out, "NOT solved: interrupted after 0 solves with factors of A"));
  CHECK(!contains(run.out, "singular"));
  CHECK(!contains(run.out, "--x0"));
}

TEST_CASE("factors that would take long are given up soon after a signal, and the report is written") {
  const Folder folder;
  for (const char* matrix : {"poisson3d:42", "convdiff:40x40x40"}) {  // LDL', LU: some 10 s
    CAPTURE(matrix);
    const Run run =
        seidel_program({"solve", matrix, "--method", "direct", "--verbose", "--json", folder / "report.json"},
                       {.interrupt_after = 0.01, .interrupt_when = "to solve, "});
    CHECK(run.exit_code == 1);
    CHECK(run.seconds < 4);
    CHECK(json::parse(read_file(folder / "report.json"))["status"] == "interrupted");
  }
}

TEST_CASE("Ctrl-C while factors stand in for iterations keeps the best x of these") {
  const Folder folder;
  std::string b;
  for (int i = 0; i < 7200; ++i) b += std::to_string(i) + "\n";
  write_file(folder / "b.txt", b);
  for (int tries = 1;; ++tries) {
    const Run run = seidel_program({"solve", "elasticity3d:150x4x4", "--rhs", folder / "b.txt", "--verbose", "--out",
                                    folder / "x.mtx", "--json", folder / "report.json"},
                                   {.interrupt_after = 0.001, .interrupt_when = "500 iterations were not enough"});
    CAPTURE(run.err);
    if (run.exit_code == 0 && tries < 5) continue;  // the signal came when the factors were there
    CHECK(run.exit_code == 1);
    CHECK(contains(run.out, "NOT solved: interrupted after 500 iterations of cg"));
    CHECK(contains(run.out, "--x0 "));
    const json report = json::parse(read_file(folder / "report.json"));
    CHECK(report["method"] == "cg");
    CHECK(report["relative_residual"] != 1);  // that of x = 0
    break;
  }
}

TEST_CASE("entries of the factors are counted before they are taken") {
  using namespace seidel;
  const auto entries = [](const char* matrix, bool positive) {
    const auto A = with_offsets<std::int32_t>(OpenMP{}, generate(OpenMP{}, matrix).view());
    return drivers::DirectSolver(A.view(), positive).forecast().entries;
  };
  CHECK(entries("poisson2d:1x500", true) == 2 * 500 - 1);  // a chain fills in nothing
  CHECK(entries("poisson2d:1x500", false) == 2 * (2 * 500 - 1));
  CHECK(entries("denserow:1", true) == 1);
  const std::int64_t grid = entries("poisson2d:60", true);  // n log n for a grid of n points
  CHECK(grid > 3 * 3600);
  CHECK(grid < 31 * 3600);
}
