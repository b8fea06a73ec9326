// What solve says of small systems whose entries differ by a hundred orders of magnitude.
#include "solution.hpp"
#include "solve_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <sstream>

using namespace seidel::tests;
using nlohmann::json;

namespace {

const std::string banner = "%%MatrixMarket matrix coordinate real general\n";

}  // namespace

TEST_CASE("an x that factors find right is returned, though one that is all wrong has a smaller residual") {
  Folder folder;
  write_file(folder / "A.mtx", banner + "2 2 4\n1 1 1e54\n1 2 0.1\n2 1 -0.8\n2 2 3e-40\n");
  write_file(folder / "b.txt", "0 1\n");  // x = -1/3e15, 1/3e-40: rounding x changes A x by 1e22
  const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--out", folder / "x.txt"});
  CHECK(report["converged"] == false);
  CHECK(report["diagnosis"][0]["cause"] == "the limit of double precision is reached");
  CHECK(report["error_estimate"] <= 1e-12);
  CHECK(contains(read_file(folder / "x.txt"), "\n3.33333333333333"));
}

TEST_CASE("a regular matrix whose entries have different units is not just called singular") {
  Folder folder;
  write_file(folder / "A.mtx", banner + "2 2 4\n1 1 1e54\n1 2 0.1\n2 1 -0.8\n2 2 3e-40\n");
  write_file(folder / "b.txt", "0 1\n");
  const json report =
      report_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--method", "gmres", "--precond", "none"});
  CHECK(report["diagnosis"][0]["cause"] == "A is badly scaled, or singular");
}

namespace {

constexpr int n = 36;
/// A lattice of 6 x 6 points, symmetric or with wind, and a b of no kind, in units of 2^of_A and 2^of_b, A with this sign.
void write_lattice(const Folder& folder, double wind, int of_A, int of_b, double sign = 1) {
  std::ostringstream A, b;
  A.precision(17), b.precision(17);
  int count = 0;
  const auto put = [&](int i, int j, double a) {
    A << i + 1 << " " << j + 1 << " " << sign * std::ldexp(a, of_A) << "\n", ++count;
  };
  for (int i = 0; i < n; ++i) {
    put(i, i, 4.25);
    if (i % 6 > 0) put(i, i - 1, -1 - wind);
    if (i % 6 < 5) put(i, i + 1, -1);
    if (i >= 6) put(i, i - 6, -1);
    if (i + 6 < n) put(i, i + 6, -1);
    b << std::ldexp(std::sin(3.0 * i + 1), of_b) << "\n";
  }
  write_file(folder / "A.mtx",
             banner + std::to_string(n) + " " + std::to_string(n) + " " + std::to_string(count) + "\n" + A.str());
  write_file(folder / "b.txt", b.str());
}

std::vector<double> vector_in(const std::string& file) {
  std::istringstream lines(read_file(file));
  std::string line;
  std::getline(lines, line), std::getline(lines, line);
  std::vector<double> v;
  while (std::getline(lines, line)) v.push_back(std::stod(line));
  return v;
}

}  // namespace

TEST_CASE("units of A and b change nothing but those of x, to the last bit, by every method and preconditioner") {
  Folder folder;
  for (const double wind : {0.0, 0.5}) {
    std::vector<Words> ways = {{},
                               {"--least-squares"},
                               {"--method", "direct"},
                               {"--method", "gmres"},
                               {"--method", "idr"},
                               {"--method", "bicgstab", "--precond", "none"},
                               {"--method", "bicgstab", "--precond", "symgs"},
                               {"--method", "bicgstab", "--precond", "ilu0"}};
    if (wind == 0)
      ways.insert(ways.end(), {{"--method", "cg", "--precond", "jacobi"},
                               {"--method", "cg", "--precond", "amg"},
                               {"--method", "cg", "--precond", "ic0"},
                               {"--method", "minres", "--precond", "none"}});
    for (const Words& way : ways) {
      CAPTURE(wind);
      CAPTURE(way.empty() ? "auto" : way.back());
      const auto solved = [&](int of_A, int of_b, const Words& more) {
        write_lattice(folder, wind, of_A, of_b);
        return report_of(Words{folder / "A.mtx", "--rhs", folder / "b.txt", "--out", folder / "x.mtx"} + way + more);
      };
      const json usual = solved(0, 0, {});
      CHECK(usual["verdict"] == "solved");
      const auto x = vector_in(folder / "x.mtx");
      for (const auto& [of_A, of_b] :
           {std::pair{0, -1000}, {0, -560}, {-1000, 0}, {-1000, -1000}, {1000, 990}, {0, 900}, {900, 0}, {-900, 100}}) {
        CAPTURE(of_A);
        CAPTURE(of_b);
        const json report = solved(of_A, of_b, {});
        for (const char* what :
             {"verdict", "iterations", "relative_residual", "backward_error", "error_estimate", "history"})
          CHECK(report[what] == usual[what]);
        auto other = vector_in(folder / "x.mtx");
        for (double& v : other) v = std::ldexp(v, of_A - of_b);
        CHECK(other == x);
      }
      if (way.empty()) continue;
      const json far = solved(-1000, 1000, {});  // x of 2^2000
      CHECK(far["converged"] == false);
      const json small = solved(1000, -60, {});  // of 2^-1060: few digits, or none
      CHECK(small["verdict"] != "solved");
    }
  }
}

TEST_CASE("with all signs of A turned, the whole diagonal negative, the same method solves for -x, to the last bit") {
  Folder folder;
  for (const double wind : {0.0, 0.5})
    for (const Words& way : {Words{}, {"--precond", "amg"}, {"--method", "idr"}, {"--method", "direct"}}) {
      CAPTURE(wind);
      CAPTURE(way.empty() ? "auto" : way.back());
      const auto solved = [&](double sign, int of_A) {
        write_lattice(folder, wind, of_A, 0, sign);
        return report_of(Words{folder / "A.mtx", "--rhs", folder / "b.txt", "--out", folder / "x.mtx"} + way);
      };
      const json positive = solved(1, 0);
      const auto x = vector_in(folder / "x.mtx");
      for (const int of_A : {0, -900}) {
        const json negative = solved(-1, of_A);
        for (const char* what : {"verdict", "method", "preconditioner", "iterations", "relative_residual",
                                 "backward_error", "error_estimate", "history"})
          CHECK(negative[what] == positive[what]);
        auto other = vector_in(folder / "x.mtx");
        for (double& v : other) v = -std::ldexp(v, of_A);
        CHECK(other == x);
        if (way.empty()) CHECK(contains(negative["choice"].get<std::string>(), "with the signs of A and b turned"));
      }
    }
}

TEST_CASE("an absolute tolerance has the units of b, whatever those of the solve are") {
  Folder folder;
  write_file(folder / "A.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 2\n2 1 -1\n2 2 2\n3 2 -1\n3 3 2\n");
  write_file(folder / "b.txt", "1e-170 2e-170 5e-170");
  const Words words = {folder / "A.mtx", "--rhs", folder / "b.txt", "--method", "minres", "--precond", "none"};
  const json fine = report_of(words + Words{"--set", "atol=1e-250"}, 0);
  CHECK(fine["relative_residual"] <= 1e-8);
  CHECK(fine["absolute_tolerance"] == 1e-250);
  const json coarse = report_of(words + Words{"--set", "atol=2e-170"}, 0);
  CHECK(coarse["iterations"] < fine["iterations"]);

  // b of A itself, in whose units it is solved for.
  for (const int e : {-200, 200}) {
    const std::string size = "e" + std::to_string(e);
    write_file(folder / "A.mtx",
               banner + "2 2 4\n1 1 3" + size + "\n1 2 1" + size + "\n2 1 2" + size + "\n2 2 4" + size + "\n");
    const json own =
        report_of({folder / "A.mtx", "--method", "gmres", "--set", "atol=1e" + std::to_string(e - 5), "--tol", "0"}, 0);
    CHECK(own["verdict"] == "solved");
    CHECK(own["relative_residual"] <= 1e-5);
  }
}

TEST_CASE("a b that is tiny beside A x0 is no zero") {
  Folder folder;
  write_file(folder / "A.mtx", banner + "2 2 3\n1 1 3\n1 2 1\n2 2 2\n");
  write_file(folder / "b.txt", "3e-150 1e-150\n");
  write_file(folder / "x0.txt", "1e200 2e200\n");
  for (const Words& way : {Words{}, {"--method", "gmres"}, {"--method", "bicgstab"}}) {
    const json report = report_of(
        Words{folder / "A.mtx", "--rhs", folder / "b.txt", "--x0", folder / "x0.txt", "--out", folder / "x.mtx"} + way);
    if (report["converged"] == true) CHECK(relative_error(folder / "x.mtx", {2.5e-150 / 3, 0.5e-150}) <= 1e-7);
    CHECK((report["converged"] == true || way == Words{"--method", "bicgstab"}));
  }
}

TEST_CASE(
    "the residual of numbers near the least of double precision has all its digits, beside an absolute tolerance, "
    "too") {
  Folder folder;
  write_file(folder / "A.mtx", banner + "2 2 3\n1 1 3\n2 1 1\n2 2 3\n");
  write_file(folder / "b.txt", "1e-310 0\n");
  const json report =
      report_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--set", "atol=1e-315", "--out", folder / "x.mtx"}, 0);
  std::istringstream lines(read_file(folder / "x.mtx"));
  std::string line;
  std::getline(lines, line), std::getline(lines, line);
  double x[2], b = std::ldexp(1e-310, 1000);  // these are exact
  for (double& v : x) std::getline(lines, line), v = std::ldexp(std::strtod(line.c_str(), nullptr), 1000);
  const double residual =
      std::hypot(b - 3 * x[0], x[0] + 3 * x[1]) / b;  // a few multiples of the least number: exact, too
  CHECK(std::abs(double(report["relative_residual"]) - residual) <= 1e-10 * residual);
}

TEST_CASE("a solve of tiny numbers goes on from its x, and its columns may have different units") {
  Folder folder;
  write_lattice(folder, 0, -1000, -990);
  const Words words = {folder / "A.mtx", "--rhs", folder / "b.txt", "--method",      "cg",
                       "--precond",      "none",  "--out",          folder / "x.mtx"};
  CHECK(report_of(words + Words{"--max-iterations", "5"})["converged"] == false);
  const json resumed = report_of(words + Words{"--x0", folder / "x.mtx"});
  CHECK(resumed["converged"] == true);
  CHECK(resumed["history"][0] < 0.5);
  std::string B = "%%MatrixMarket matrix array real general\n36 3\n";
  for (const char* e : {"e-300", "e0", "e300"})
    for (int i = 0; i < n; ++i) B += std::to_string(i % 7 + 1) + e + "\n";
  write_file(folder / "B.mtx", B);
  write_lattice(folder, 0, 0, 0);
  const json columns = report_of({folder / "A.mtx", "--rhs", folder / "B.mtx", "--method", "cg", "--precond", "symgs"});
  for (const json& column : columns["columns"]) CHECK(column["verdict"] == "solved");
}

TEST_CASE("a b whose norm overflows is solved for in other units, beside an absolute tolerance and a null space, too") {
  Folder folder;
  write_file(folder / "A.mtx",  // a ring of 3 points
             "%%MatrixMarket matrix coordinate real symmetric\n3 3 6\n1 1 2\n2 1 -1\n3 1 -1\n2 2 2\n3 2 -1\n3 3 2\n");
  write_file(folder / "b.txt", "1.7e308 1.7e308 1.6e308\n");  // less its mean it is no zero
  for (const char* space : {"constant", ""}) {
    const Words words =
        Words{"solve", folder / "A.mtx", "--rhs", folder / "b.txt"} + (*space ? Words{"--null-space", space} : Words{});
    const Run solved = seidel_program(words);
    CHECK(solved.exit_code == (*space ? 0 : 1));
    CHECK(contains(solved.out, *space ? "x has mean zero" : "b is not in its range"));
    CHECK(seidel_program(words + Words{"--set", "atol=1"}).exit_code == solved.exit_code);
  }
}

TEST_CASE("an iteration that meets the target after the factors did not is judged by them") {
  Folder folder;
  write_file(folder / "A.mtx", banner + "3 3 4\n1 1 2e-131\n2 2 3.6e34\n3 1 -0.54\n3 3 3.2e-34\n");
  write_file(folder / "b.txt", "0.1 1.7e34 -0.56\n");  // row 2 is all that a residual shows
  const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt"});
  CHECK(report["converged"] == true);
  CHECK(report["verdict"] == "doubtful");
  CHECK(report["error_estimate"] >= 0.1);
  CHECK(report["error_estimate"] <= 10);
}

TEST_CASE("factors of a positive definite matrix whose pivots have no reciprocal in double precision solve with it") {
  Folder folder;
  write_file(folder / "A.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n"
             "1 1 1e-300\n2 1 -1e-309\n2 2 2e-309\n");
  write_file(folder / "b.txt", "1e-300 2.999999999e-309\n");  // x = 1 + 2e-9, 2
  const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--method", "direct"});
  CHECK(report["verdict"] == "solved");
  CHECK(report["error_estimate"] <= 1e-10);
}

namespace {

double uniform(std::mt19937_64& random, double low, double high) {  // the same with every standard library
  return low + (high - low) * double(random() >> 11) * 0x1p-53;
}

}  // namespace

TEST_CASE("least squares with columns of 1e-4 to 1e4: solved is said of an x that is right, and its error is known") {
  Folder folder;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    std::mt19937_64 random(seed);
    const int rows = 5 + int(random() % 20), columns = 2 + int(random() % 4);
    std::vector<double> x(columns), b(rows, 0.0), unit(columns);
    for (double& v : x) v = uniform(random, -1, 1);
    for (double& v : unit) v = std::pow(10, uniform(random, -4, 4));
    std::ostringstream A;
    A.precision(17);
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) {
        const double a = unit[j] * uniform(random, -1, 1);
        A << a << "\n";
        b[i] += a * x[j];
      }
    std::ostringstream numbers;
    numbers.precision(17);
    for (const double v : b) numbers << v << "\n";
    write_file(folder / "A.mtx", "%%MatrixMarket matrix array real general\n" + std::to_string(rows) + " " +
                                     std::to_string(columns) + "\n" + A.str());
    write_file(folder / "b.txt", numbers.str());
    const json report = report_of(
        {folder / "A.mtx", "--rhs", folder / "b.txt", "--least-squares", "--tol", "1e-4", "--out", folder / "x.mtx"});
    CAPTURE(seed);
    REQUIRE(report["converged"] == true);
    const double error = relative_error(folder / "x.mtx", x);
    CHECK(report["error_estimate_source"] == "refinement");
    CHECK(report["verdict"] == "solved");
    CHECK(error <= 1e-5);
    CHECK(error <= 100 * report["error_estimate"].get<double>());
  }
}

TEST_CASE("where the residual of the solver and the verified one differ, all that is said is of the verified one") {
  Folder folder;
  int missed = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    std::mt19937_64 random(seed);
    std::ostringstream A, b;
    A.precision(17), b.precision(17);
    for (int k = 0; k < 4; ++k) A << uniform(random, -1, 1) << "\n";
    for (int i = 0; i < 2; ++i) b << uniform(random, -1, 1) << "\n";
    write_file(folder / "A.mtx", "%%MatrixMarket matrix array real general\n2 2\n" + A.str());
    write_file(folder / "b.txt", b.str());
    const json report = report_of(
        {folder / "A.mtx", "--rhs", folder / "b.txt", "--method", "gmres", "--precond", "none", "--tol", "3e-17"});
    CAPTURE(seed);
    const std::string reason = report["reason"];
    CHECK((report["status"] == "converged") == report["converged"]);
    CHECK(contains(reason, "within the tolerance") == report["converged"]);
    missed += contains(reason, "the solver's own residual met the tolerance") ? 1 : 0;
  }
  CHECK(missed > 0);
}

TEST_CASE("a matrix of zeros solves nothing, from whatever x") {
  Folder folder;
  write_file(folder / "A.mtx", banner + "3 3 0\n");
  write_file(folder / "b.txt", "1 2 4\n");
  for (const char* start : {"0.5 0.25 0.125\n", "2 3 4\n"}) {
    write_file(folder / "x0.txt", start);
    const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--x0", folder / "x0.txt"});
    CHECK(report["converged"] == false);
    CHECK(report["relative_residual"] == 1);
  }
}

TEST_CASE("a matrix with two equal columns and rows is singular, however large the pivot is that rounding leaves") {
  Folder folder;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    constexpr int m = 60, n = 30;  // [I T; T' 0], T of m x n
    double T[m][n];
    int count = m;
    for (auto& row : T) {
      for (double& t : row) t = uniform(random, 0, 1) < 0.3 ? uniform(random, -1, 1) : 0;
      row[n - 1] = row[0];
      for (const double t : row) count += t != 0 ? 1 : 0;
    }
    std::ostringstream K;
    K.precision(17);
    K << "%%MatrixMarket matrix coordinate real symmetric\n" << m + n << " " << m + n << " " << count << "\n";
    for (int i = 0; i < m; ++i) {
      K << i + 1 << " " << i + 1 << " 1\n";
      for (int j = 0; j < n; ++j)
        if (T[i][j] != 0) K << m + j + 1 << " " << i + 1 << " " << T[i][j] << "\n";
    }
    write_file(folder / "K.mtx", K.str());
    std::string b;
    for (int i = 0; i < m + n; ++i) b += i < m ? std::to_string(uniform(random, -1, 1)) + "\n" : "0\n";
    write_file(folder / "b.txt", b);
    CAPTURE(seed);
    const json report = report_of({folder / "K.mtx", "--rhs", folder / "b.txt", "--method", "direct"});
    CHECK(report["verdict"] != "solved");
    if (report["converged"]) CHECK(report["error_estimate_source"] == "singular");
  }
}
