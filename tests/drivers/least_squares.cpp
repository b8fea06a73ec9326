// seidel solve --least-squares: what is solved, what is said of it, what is refused.
#include "solve_json.hpp"

#include <cmath>

#include <seidel/drivers/report/format.hpp>

using namespace seidel::tests;
using nlohmann::json;

namespace {

json fit_of(std::vector<std::string> words, int exit_code) {
  words.push_back("--least-squares");
  return report_of(std::move(words), exit_code);
}

std::string matrix_of(const std::string& size, const std::string& entries) {
  return "%%MatrixMarket matrix coordinate real general\n" + size + "\n" + entries;
}

std::string numbers(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += std::to_string((i * i) % 11 - 4) + "\n";
  return text;
}

std::vector<double> entries_of(const std::string& file) {
  std::istringstream lines(read_file(file));
  std::string line;
  std::getline(lines, line), std::getline(lines, line);
  std::vector<double> entries;
  while (std::getline(lines, line)) entries.push_back(std::stod(line));
  return entries;
}

}  // namespace

TEST_CASE("the refusal of a rectangular matrix, and info, name --least-squares, and what they say works") {
  const Run refused = seidel_program({"solve", "random:30x9:90"});
  CHECK(refused.exit_code == 3);
  CHECK(contains(refused.err, "seidel solve random:30x9:90 --least-squares"));
  CHECK(contains(seidel_program({"info", "random:30x9:90"}).out, "solve random:30x9:90 --least-squares"));
  succeeded({"solve", "random:30x9:90", "--least-squares"});
  // What would be refused beside it is left away.
  const Run changed =
      seidel_program({"solve", "random:30x9:90", "--method", "cg", "--precond=none", "--scale", "none"});
  CHECK(contains(changed.err, "seidel solve random:30x9:90 --least-squares"));
}

TEST_CASE("an exact solution is told from a least-squares solution") {
  Folder folder;
  write_file(folder / "b.txt", numbers(200));
  const json exact = fit_of({"random:200x50:1200"}, 0);
  CHECK(exact["criterion"] == "residual");
  CHECK(exact["goal"] == "least squares");
  CHECK(exact["method"] == "lsmr");
  CHECK(exact["error_against_ones"] <= 1e-5);
  const json fitted = fit_of({"random:200x50:1200", "--rhs", folder / "b.txt", "--history", folder / "h.csv"}, 0);
  CHECK(fitted["criterion"] == "orthogonality");
  CHECK(fitted["orthogonality"] <= 1e-8);
  CHECK(fitted["relative_residual"] > 0.1);
  CHECK(fitted["converged"] == true);
  CHECK(fitted["verdict"] == "solved");
  CHECK(fitted["error_estimate_source"] == "refinement");
  CHECK(read_file(folder / "h.csv").starts_with("iteration,residual_or_orthogonality\n0,"));
  const std::string text =
      seidel_program({"solve", "random:200x50:1200", "--rhs", folder / "b.txt", "--least-squares"}).out;
  CHECK(contains(text, ", orthogonal to the columns of A to "));
  CHECK(contains(text, " (least squares), after"));
  CHECK(contains(text, "orthogonality"));
  CHECK(contains(text, "rectangular"));
  CHECK(!contains(text, "backward error"));
}

TEST_CASE("the solution of least norm is found for wide and for singular matrices") {
  Folder folder;
  write_file(folder / "wide.mtx", matrix_of("1 3 3", "1 1 1\n1 2 2\n1 3 2\n"));
  write_file(folder / "b.txt", "9\n");
  const json report =
      fit_of({folder / "wide.mtx", "--rhs", folder / "b.txt", "--out", folder / "x.mtx", "--tol", "1e-14"}, 0);
  const auto x = entries_of(folder / "x.mtx");
  REQUIRE(x.size() == 3);
  for (const auto& [found, expected] : {std::pair{x[0], 1.0}, {x[1], 2.0}, {x[2], 2.0}})
    CHECK(found == doctest::Approx(expected).epsilon(1e-13));
  CHECK(fit_of({folder / "wide.mtx"}, 0)["error_against_ones"].is_null());

  // An empty row and an inconsistent b: the first row is x1 + x2 = 2, the third 0 = 5.
  write_file(folder / "singular.mtx", matrix_of("3 3 3", "1 1 1\n1 2 1\n2 3 4\n"));
  write_file(folder / "b3.txt", "2\n8\n5\n");
  const json singular = fit_of({folder / "singular.mtx", "--rhs", folder / "b3.txt", "--out", folder / "x3.mtx"}, 0);
  CHECK(singular["criterion"] == "orthogonality");
  const auto x3 = entries_of(folder / "x3.mtx");
  CHECK(x3[0] == doctest::Approx(1));
  CHECK(x3[1] == doctest::Approx(1));
  CHECK(x3[2] == doctest::Approx(2));
}

TEST_CASE("a verdict that warns says which of the two criteria was met") {
  Folder folder;
  write_file(folder / "b.mtx", "%%MatrixMarket matrix array real general\n40 1\n" + numbers(40));
  const Run run =
      seidel_program({"solve", "random:40x30:60", "--least-squares", "--rhs", folder / "b.mtx", "--tol", "0.1"});
  CHECK(contains(run.out, "solved to the orthogonality asked for:"));
}

TEST_CASE("lengths of b and x0, and what a least-squares solution has no use for, are refused") {
  Folder folder;
  write_file(folder / "b9.mtx", "%%MatrixMarket matrix array real general\n9 1\n" + numbers(9));
  check_refused(3, {{{"solve", "random:30x9:90", "--least-squares", "--rhs", folder / "b9.mtx"},
                     {"found 9 entries, expected 30", "each row"}},
                    {{"solve", "random:30x8:90", "--least-squares", "--x0", folder / "b9.mtx"},
                     {"found 9 entries, expected 8", "each column"}}});
  check_refused(2,
                {{{"solve", "random:30x9:90", "--least-squares", "--method", "gmres"}, {"--method lsmr"}},
                 {{"solve", "random:30x9:90", "--least-squares", "--precond", "symgs"}, {"leave --precond out"}},
                 {{"solve", "random:30x9:90", "--least-squares", "--order", "natural"}, {"leave --order out"}},
                 {{"solve", "poisson2d:9", "--least-squares", "--null-space", "constant"}, {"leave --null-space out"}},
                 {{"solve", "poisson2d:9", "--method", "lsmr", "--precond", "jacobi"}, {"expected none"}}});
}

TEST_CASE("the least-squares solution of a matrix of zeros is 0, and its error is no NaN") {
  Folder folder;
  write_file(folder / "b.txt", numbers(3));
  write_file(folder / "A.mtx", matrix_of("3 3 1", "1 1 0\n"));
  for (const char* tolerance : {"1e-6", "1e-12"}) {
    const json report = fit_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--error-tol", tolerance}, 0);
    CHECK(report["criterion"] == "orthogonality");
    CHECK(report["error_estimate"].get<double>() <= 1e-15);
    CHECK(report["verdict"] == "solved");
  }
}

TEST_CASE("an error that is only known from below is not trusted, though the residual is small") {
  Folder folder;
  const int m = 24, n = 9;  // of Hilbert: condition 2e11
  std::string text = "%%MatrixMarket matrix array real general\n24 9\n", b;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) text += seidel::drivers::formatted("{}\n", 1.0 / (i + j + 1));
  for (int i = 0; i < m; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += std::cos(2.0 * j) / (i + j + 1);
    b += seidel::drivers::formatted("{}\n", sum);
  }
  write_file(folder / "A.mtx", text);
  write_file(folder / "b.txt", b);
  const json report = fit_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--out", folder / "x.mtx"}, 0);
  double error = 0;
  const auto x = entries_of(folder / "x.mtx");
  for (int j = 0; j < n; ++j) error = std::max(error, std::abs(x[std::size_t(j)] - std::cos(2.0 * j)));
  if (error > 1e-2) CHECK(report["verdict"] == "doubtful");
  if (report["error_estimate"] < 0.1 * error) CHECK(report["error_estimate_is_lower_bound"] == true);
}

TEST_CASE("where lsmr does not reach the target, factors do, unless it was asked for by name or limited") {
  Folder folder;
  const int n = 60;
  std::string entries, b;
  int count = 0;
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      double a = (i * 31 + j * 17) % 4 == 0 ? (i * 7919 + j * 104729) % 101 / 50.5 - 1 : 0;
      a = (a + (i == j ? 2 : 0)) * std::pow(10.0, -(i * 37 % 11));
      if (a == 0) continue;
      entries += seidel::drivers::formatted("{} {} {}\n", i + 1, j + 1, a), ++count;
      sum += a * std::cos(double(j));
    }
    b += seidel::drivers::formatted("{}\n", sum);
  }
  write_file(folder / "A.mtx", matrix_of("60 60 " + std::to_string(count), entries));
  write_file(folder / "b.txt", b);
  const Words words = {folder / "A.mtx", "--rhs", folder / "b.txt", "--tol", "1e-12", "--out", folder / "x.mtx"};
  const json report = fit_of(words, 0);
  CHECK(report["refined"] == true);
  CHECK(report["error_estimate"] <= 1e-9);
  const auto x = entries_of(folder / "x.mtx");
  for (int j = 0; j < n; ++j) CHECK(std::abs(x[std::size_t(j)] - std::cos(double(j))) <= 1e-9);
  CHECK(fit_of(words + Words{"--method", "lsmr"}, 1)["refined"] == false);
  CHECK(fit_of(words + Words{"--max-iterations", "50"}, 1)["refined"] == false);
}

TEST_CASE("limits end with an honest report, and the command that it names leads on") {
  Folder folder;
  write_file(folder / "b.txt", numbers(900));
  const json report = fit_of({"random:900x700:8000", "--rhs", folder / "b.txt", "--max-iterations", "40"}, 1);
  CHECK(report["status"] == "iteration_limit");
  CHECK(report["criterion"].is_null());
  CHECK(report["orthogonality"] > 1e-8);
  REQUIRE(report["diagnosis"].size() == 1);
  CHECK(contains(report["diagnosis"][0]["try"].get<std::string>(), "--max-iterations"));
  CHECK(fit_of({"random:900x700:8000", "--rhs", folder / "b.txt", "--time-limit", "1e-9"}, 1)["status"] ==
        "time_limit");
  // The same bits whatever the number of threads.
  const json one = fit_of({"random:900x100:8000", "--rhs", folder / "b.txt", "--threads", "1"}, 0);
  for (const char* threads : {"2", "3"})
    CHECK(fit_of({"random:900x100:8000", "--rhs", folder / "b.txt", "--threads", threads, "--backend", "openmp"},
                 0)["history"] == one["history"]);
}

TEST_CASE(
    "a matrix with empty rows is solved if some x solves it; otherwise the row is named, and the advice leads on") {
  Folder folder;
  // Gmres finds no direction but b itself: the shift is nilpotent. The last row is empty.
  std::string shift, b;
  for (int i = 1; i < 60; ++i) {
    shift += std::to_string(i) + " " + std::to_string(i + 1) + " " + std::to_string(1 + i % 3) + "\n";
    b += std::to_string(i % 7 + 1) + "\n";
  }
  write_file(folder / "A.mtx", matrix_of("60 60 59", shift));
  write_file(folder / "b.txt", b + "0\n");
  write_file(folder / "c.txt", b + "3\n");
  const auto solved = [&](const char* rhs, int exit_code) {
    const Run run = seidel_program({"solve", folder / "A.mtx", "--rhs", folder / rhs, "--json", "-"});
    CHECK(run.exit_code == exit_code);
    return json::parse(run.out);
  };
  const json report = solved("b.txt", 0);
  CHECK(report["verdict"] == "doubtful");  // one of many solutions
  CHECK(report["error_estimate_source"] == "singular");
  const json refused = solved("c.txt", 1);
  REQUIRE(!refused["diagnosis"].empty());
  CHECK(contains(refused["diagnosis"][0]["evidence"].get<std::string>(), "row 60 has no entries"));
  CHECK(contains(refused["diagnosis"][0]["try"].get<std::string>(), "--least-squares"));
  CHECK(fit_of({folder / "A.mtx", "--rhs", folder / "c.txt"}, 0)["criterion"] == "orthogonality");
  const Run own = succeeded({"solve", folder / "A.mtx"});
  CHECK(contains(own.out, "ones are one of many solutions"));
}

TEST_CASE("where factors find A singular, a consistent b is solved, and another one is said to have no solution") {
  Folder folder;
  // Rows 1 and 4 are the same; no row is empty, no entry is on the diagonal.
  write_file(folder / "A.mtx", matrix_of("4 4 8", "1 2 1\n1 3 2\n2 1 3\n2 4 1\n3 1 1\n3 2 1\n4 2 1\n4 3 2\n"));
  write_file(folder / "b.txt", "3\n1\n2\n3\n");
  write_file(folder / "c.txt", "3\n1\n2\n4\n");
  succeeded({"solve", folder / "A.mtx", "--rhs", folder / "b.txt"});
  const Run own = succeeded({"solve", folder / "A.mtx"});
  CHECK(!contains(own.out, "--error-tol"));
  const Run none = seidel_program({"solve", folder / "A.mtx", "--rhs", folder / "c.txt"});
  CHECK(none.exit_code == 1);
  CHECK(contains(none.out, "b is not in its range"));
  CHECK(contains(none.out, "--least-squares"));
  // By symmetry half of the difference is left in either row.
  const json report = fit_of({folder / "A.mtx", "--rhs", folder / "c.txt"}, 0);
  CHECK(report["relative_residual"].get<double>() == doctest::Approx(std::sqrt(0.5 / 30)));
}

TEST_CASE("the error of x is not that of multipliers, which are larger by the square of the condition") {
  const Folder folder;
  write_file(folder / "A.mtx", matrix_of("2 4 8", "1 1 1\n1 2 1\n1 3 1\n1 4 1\n2 1 1\n2 2 1\n2 3 1\n2 4 1.00001\n"));
  write_file(folder / "b.txt", "1\n1\n");  // the smallest x is 1/3, 1/3, 1/3, 0
  const json report = fit_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--out", folder / "x.mtx"}, 0);
  REQUIRE(report["error_estimate_source"] == "refinement");
  constexpr double eps = 2.2e-16, condition = 4e5;  // rounding b may change x by as much as eps times that
  CHECK(report["error_estimate"] <= eps * condition);
  const auto x = entries_of(folder / "x.mtx");
  for (int i = 0; i < 4; ++i) CHECK(std::abs(x[i] - (i < 3 ? 1 / 3.0 : 0)) <= double(report["error_estimate"]));
}
