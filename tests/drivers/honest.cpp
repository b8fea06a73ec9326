// What solve says of x is compared with x* of long double factors, for random systems of many kinds.
#include "solve_json.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <sstream>

using namespace seidel::tests;
using nlohmann::json;

namespace {

using Dense = std::vector<std::vector<double>>;
using Random = std::mt19937_64;

double uniform(Random& random, double low, double high) {  // the same with every standard library
  return low + (high - low) * double(random() >> 11) * 0x1p-53;
}
double power(Random& random, double low, double high) { return std::pow(10, uniform(random, low, high)); }

Dense zeros(int n) { return Dense(std::size_t(n), std::vector<double>(std::size_t(n), 0)); }
Dense sparse(Random& random, int n) {
  Dense A = zeros(n);
  for (auto& row : A)
    for (double& a : row)
      if (uniform(random, 0, 1) < 4.0 / n) a = uniform(random, -1, 1);
  return A;
}
Dense dominant(Random& random, int n) {
  Dense A = sparse(random, n);
  for (int i = 0; i < n; ++i) {
    double sum = 0.01;
    for (const double a : A[i]) sum += std::abs(a);
    A[i][i] = sum;
  }
  return A;
}
Dense symmetric(Random& random, int n) {
  Dense A = sparse(random, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) A[i][j] = A[j][i];
  return A;
}
/// A chain and some more couplings, whose rows sum to zero but for `more`.
Dense laplacian(Random& random, int n, double more) {
  Dense A = zeros(n);
  const auto couple = [&](int i, int j) { A[i][j] -= 1, A[j][i] -= 1, A[i][i] += 1, A[j][j] += 1; };
  for (int i = 1; i < n; ++i) couple(i, i - 1);
  for (int k = 0; k < n / 2; ++k)
    if (const int i = int(random() % std::uint64_t(n)), j = int(random() % std::uint64_t(n)); i != j) couple(i, j);
  for (int i = 0; i < n; ++i) A[i][i] += more;
  return A;
}
void scale_rows(Random& random, Dense& A, double decades) {
  for (auto& row : A) {
    const double by = power(random, -decades, decades);
    for (double& a : row) a *= by;
  }
}

struct Kind {
  const char* name;
  std::function<Dense(Random&, int)> make;
};
const Kind kinds[] = {
    {"dominant", dominant},
    {"sparse",
     [](Random& random, int n) {
       Dense A = sparse(random, n);
       for (int i = 0; i < n; ++i) A[i][(i + 1) % n] += 1;
       return A;
     }},
    {"symmetric indefinite", symmetric},
    {"saddle point",
     [](Random& random, int n) {
       Dense A = symmetric(random, n);
       for (int i = 0; i < n; ++i)
         for (int j = 0; j < n; ++j)
           if (i >= 2 * n / 3 && j >= 2 * n / 3) A[i][j] = 0;
       for (int i = 0; i < 2 * n / 3; ++i) A[i][i] = 4;
       for (int i = 2 * n / 3; i < n; ++i) A[i][i - 2 * n / 3] = A[i - 2 * n / 3][i] = 1;
       return A;
     }},
    {"rows of different units",
     [](Random& random, int n) {
       Dense A = dominant(random, n);
       scale_rows(random, A, 8);
       return A;
     }},
    {"unknowns of different units",
     [](Random& random, int n) {
       Dense A = symmetric(random, n);
       std::vector<double> by(n);
       for (double& d : by) d = power(random, -6, 6);
       for (int i = 0; i < n; ++i) A[i][i] = 5;
       for (int i = 0; i < n; ++i)
         for (int j = 0; j < n; ++j) A[i][j] *= by[i] * by[j];
       return A;
     }},
    {"an equation twice",
     [](Random& random, int n) {
       Dense A = sparse(random, n);
       for (int i = 0; i < n; ++i) A[i][(i + 1) % n] += 1;
       A[n - 1] = A[0];
       return A;
     }},
    {"rows that nearly sum to zero",
     [](Random& random, int n) { return laplacian(random, n, power(random, -12, -3)); }},
    {"nearly singular",
     [](Random& random, int n) {
       Dense A = dominant(random, n);
       for (int j = 0; j < n; ++j) A[n - 1][j] = A[0][j] * 3;
       A[n - 1][n - 1] += power(random, -14, -6);
       return A;
     }},
    {"skew-symmetric",
     [](Random& random, int n) {
       Dense A = sparse(random, n);
       for (int i = 0; i < n; ++i)
         for (int j = 0; j <= i; ++j) A[i][j] = i == j ? 0 : -A[j][i];
       return A;
     }},
};

std::string number(double v) {
  std::ostringstream text;
  text.precision(17);
  text << v;
  return text.str();
}
std::string matrix_text(const Dense& A) {
  std::string entries;
  int count = 0;
  for (std::size_t i = 0; i < A.size(); ++i)
    for (std::size_t j = 0; j < A.size(); ++j)
      if (A[i][j] != 0)
        entries += std::to_string(i + 1) + " " + std::to_string(j + 1) + " " + number(A[i][j]) + "\n", ++count;
  const std::string n = std::to_string(A.size());
  return "%%MatrixMarket matrix coordinate real general\n" + n + " " + n + " " + std::to_string(count) + "\n" + entries;
}

using Long = long double;
/// x with A x = b by elimination with full pivoting, after rows and columns are scaled, and the smallest pivot.
struct Exact {
  std::vector<Long> x;
  Long pivot = 1;

  Exact(const Dense& A, const std::vector<double>& b) {
    const int n = int(A.size());
    std::vector<std::vector<Long>> M(n, std::vector<Long>(n + 1));
    std::vector<int> at(n);
    for (int i = 0; i < n; ++i) {
      at[i] = i;
      Long largest = 0;
      for (int j = 0; j < n; ++j) largest = std::max(largest, std::abs(Long(A[i][j])));
      for (int j = 0; j <= n; ++j) M[i][j] = (j < n ? Long(A[i][j]) : Long(b[i])) / (largest > 0 ? largest : 1);
    }
    for (int k = 0; k < n; ++k) {
      int row = k, column = k;
      for (int i = k; i < n; ++i)
        for (int j = k; j < n; ++j)
          if (std::abs(M[i][j]) > std::abs(M[row][column])) row = i, column = j;
      pivot = std::min(pivot, std::abs(M[row][column]));
      if (pivot < 1e-18L) return;
      std::swap(M[k], M[row]), std::swap(at[k], at[column]);
      for (int i = 0; i < n; ++i) std::swap(M[i][k], M[i][column]);
      for (int i = k + 1; i < n; ++i) {
        const Long by = M[i][k] / M[k][k];
        for (int j = k; j <= n; ++j) M[i][j] -= by * M[k][j];
      }
    }
    x.resize(n);
    for (int k = n - 1; k >= 0; --k) {
      Long sum = M[k][n];
      for (int j = k + 1; j < n; ++j) sum -= M[k][j] * x[at[j]];
      x[at[k]] = sum / M[k][k];
    }
  }
  double error_of(const std::vector<double>& y) const {
    Long error = 0, largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      error = std::max(error, std::abs(x[i] - y[i]));
      largest = std::max(largest, std::abs(x[i]));
    }
    return double(error / largest);
  }
};

void write_vector(const std::string& file, const std::vector<double>& v) {
  std::string text;
  for (const double value : v) text += number(value) + "\n";
  write_file(file, text);
}

/// The report of these words, or, where they fail, of the last of the commands that are proposed one after another.
json followed(std::vector<std::string> words) {
  for (int step = 0;; ++step) {
    const json report = json::parse(seidel_program(words).out);
    const json& causes = report["diagnosis"];
    if (causes.empty() || causes[0]["try"].is_null() || step == 4) return report;
    std::istringstream command(causes[0]["try"].get<std::string>());
    words.clear();
    for (std::string word; command >> word;) words.push_back(word);
    words.erase(words.begin());
  }
}

}  // namespace

TEST_CASE("what is proposed where a method that was asked for fails leads to what auto finds") {
  Folder folder;
  const char* methods[] = {"cg", "minres", "bicgstab", "idr", "gmres", "direct"};
  for (std::uint64_t seed = 0; seed < 20 * std::size(kinds); ++seed) {
    Random random(seed + 1000);
    const Dense A = kinds[seed % std::size(kinds)].make(random, 2 + int(random() % 20));
    std::vector<double> b(A.size());
    for (double& v : b) v = uniform(random, -1, 1);
    write_file(folder / "A.mtx", matrix_text(A));
    write_vector(folder / "b.txt", b);
    const Words words = {"solve", folder / "A.mtx", "--rhs", folder / "b.txt", "--json", "-"};
    CAPTURE(seed);
    CAPTURE(kinds[seed % std::size(kinds)].name);
    const Run by_auto = seidel_program(words);
    const json report = followed(words + Words{"--method", methods[seed / std::size(kinds) % std::size(methods)]});
    if (by_auto.exit_code == 0) CHECK(report["converged"] == true);
    CAPTURE(report["attempts"].dump(1));
    for (const json& attempt : report["attempts"])
      if (!report["converged"] && !attempt["relative_residual"].is_null())
        CHECK(report["relative_residual"] <= 10 * attempt["relative_residual"].get<double>());  // less precise
  }
}

TEST_CASE("what auto says of random systems is true: solved with a right x, or a warning, or not solved") {
  Folder folder;
  for (std::uint64_t seed = 0; seed < 24 * std::size(kinds); ++seed) {
    Random random(seed);
    const Kind& kind = kinds[seed % std::size(kinds)];
    const int n = 3 + int(random() % 30);
    const Dense A = kind.make(random, n);
    std::vector<double> b(n, 0.0);
    std::vector<double> known(n);
    for (double& v : known) v = uniform(random, -1, 1);
    for (int i = 0; i < n; ++i) {
      Long sum = 0;
      for (int j = 0; j < n; ++j) sum += Long(A[i][j]) * known[j];
      b[i] = double(sum);
    }
    write_file(folder / "A.mtx", matrix_text(A));
    write_vector(folder / "b.txt", b);
    const std::string tolerance = seed % 3 == 0 ? "1e-4" : "1e-8";
    const Run run = seidel_program({"solve", folder / "A.mtx", "--rhs", folder / "b.txt", "--out", folder / "x.mtx",
                                    "--tol", tolerance, "--json", "-"});
    CAPTURE(seed);
    CAPTURE(kind.name);
    REQUIRE(run.exit_code <= 1);
    const json report = json::parse(run.out);
    CAPTURE(report["method"].get<std::string>());
    const std::string verdict = report["verdict"];
    CHECK((run.exit_code == 0) == (report["relative_residual"] <= std::stod(tolerance)));
    const Exact exact(A, b);
    if (!report["null_space"].is_null()) continue;  // said to be singular: x is of least norm
    if (exact.x.empty() || exact.pivot < 1e-16L) {  // one of many solutions is not just "solved"
      CHECK(verdict != "solved");
      continue;
    }
    std::vector<double> x;
    std::istringstream lines(read_file(folder / "x.mtx"));
    std::string line;
    std::getline(lines, line), std::getline(lines, line);
    while (std::getline(lines, line)) x.push_back(std::stod(line));
    const double error = exact.error_of(x);
    CAPTURE(error);
    CAPTURE(double(exact.pivot));
    if (verdict == "solved") CHECK(error <= 0.01);
    if (verdict == "solved" && !report["error_estimate"].is_null())
      CHECK(error <= 1000 * report["error_estimate"].get<double>() + 1e-19 / double(exact.pivot));
    if (exact.pivot > 1e-8L && verdict != "solved") {  // nothing stands in the way but rounding of x
      CHECK(error <= 1e-6);
      CHECK(report["diagnosis"][0]["cause"] == "the limit of double precision is reached");
    }
    if (report["error_estimate_source"] == "singular") CHECK(exact.pivot < 1e-12L);
  }
}

namespace {

/// A lattice of n x n x n points without boundary values, with wind along its lines, and `more` of the identity; b = A x with x
/// in 0 ... 1. Or two halves that nothing couples, with 3 more in one x and 3 less in the other.
void write_lattice(const Folder& folder, int n, double wind, double more, bool halves = false) {
  Random random(5);
  std::vector<double> x(std::size_t(n) * n * n), b(x.size(), 0.0);
  for (double& v : x) v = uniform(random, 0, 1);
  const auto is_first = [&](int row) { return row < n * n * (n / 2); };
  if (halves)
    for (int row = 0; row < n * n * n; ++row) x[row] += is_first(row) ? 2.5 : -3.5;
  std::string entries, numbers;
  int count = 0;
  const int steps[] = {1, n, n * n};
  for (int row = 0; row < n * n * n; ++row) {
    const int at[] = {row % n, row / n % n, row / n / n};
    double sum = 0;
    for (int d = 0; d < 3; ++d)
      for (const int side : {-1, 1}) {
        if (at[d] + side < 0 || at[d] + side >= n) continue;
        const int column = row + side * steps[d];
        if (halves && is_first(row) != is_first(column)) continue;
        const double coupling = side < 0 ? 1 + wind : 1;
        sum += coupling;
        b[row] += coupling * (x[row] - x[column]);
        if (side > 0 && wind == 0) continue;
        entries += std::to_string(row + 1) + " " + std::to_string(column + 1) + " " + number(-coupling) + "\n", ++count;
      }
    b[row] += more * x[row];
    entries += std::to_string(row + 1) + " " + std::to_string(row + 1) + " " + number(sum + more) + "\n", ++count;
    numbers += number(b[row]) + "\n";
  }
  const std::string rows = std::to_string(n * n * n);
  write_file(folder / "A.mtx", std::string("%%MatrixMarket matrix coordinate real ") +
                                   (wind == 0 ? "symmetric\n" : "general\n") + rows + " " + rows + " " +
                                   std::to_string(count) + "\n" + entries);
  write_file(folder / "b.txt", numbers);
}

}  // namespace

TEST_CASE("an error along the constants of two parts, whose sum is zero, is told") {
  Folder folder;
  write_lattice(folder, 40, 0, 1e-10, true);
  for (const char* backend : {"serial", "openmp"}) {
    const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--backend", backend}, 0);
    CHECK(report["verdict"] == "doubtful");
    CHECK(report["error_estimate_source"] == "constants");
    CHECK(report["error_estimate"] >= 0.3);
  }
}

TEST_CASE("an error along the constants, which no iterate has seen, is told, and what is proposed removes it") {
  Folder folder;
  for (const double wind : {0.0, 0.25}) {
    CAPTURE(wind);
    write_lattice(folder, 30, wind, 1e-10);  // whose factors are too dear
    for (const char* backend : {"serial", "openmp"}) {
      const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--backend", backend});
      CHECK(report["converged"] == true);
      CHECK(report["verdict"] == "doubtful");
      CHECK(report["error_estimate_source"] == "constants");
      CHECK(report["error_estimate_is_lower_bound"] == (wind == 0));
      CHECK(report["error_estimate"] >= 0.4);  // the mean of x is missed
      CHECK(report["error_estimate"] <= 1);
    }
    CHECK(report_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--tol", "1e-13"})["verdict"] == "solved");
    write_lattice(folder, 20, wind, 1e-2);
    const json good = report_of({folder / "A.mtx", "--rhs", folder / "b.txt"});
    CHECK(good["verdict"] == "solved");
    CHECK(good["error_estimate_source"] == "going on");
    const std::string text = seidel_program({"solve", folder / "A.mtx", "--rhs", folder / "b.txt"}).out;
    CHECK(contains(text,
                   "as far as " + std::to_string(good["error_estimate_iterations"].get<int>()) + " more iterations"));
  }
}

TEST_CASE("a start that was given makes no wrong x a right one") {
  // K + 1e-9 I, of a lattice without a boundary, in rows and unknowns of other units: 1e-8 is met by an x that is half wrong.
  Folder folder;
  const int n = 20, rows = n * n;
  Random random(3);
  std::vector<double> x(rows), unit(rows);
  for (double& v : x) v = uniform(random, -1, 1) + 1;
  for (double& v : unit) v = power(random, -1, 1);
  std::string entries;
  std::vector<double> b(rows, 0.0);
  int count = 0;
  for (int i = 0; i < rows; ++i) {
    double sum = 1e-9;
    const auto put = [&](int j, double a) {
      const double scaled = a * unit[i] * unit[j];
      entries += std::to_string(i + 1) + " " + std::to_string(j + 1) + " " + number(scaled) + "\n", ++count;
      b[i] += scaled * x[j] / unit[j];
    };
    for (const auto& [step, is_there] : {std::pair{-n, i >= n}, {-1, i % n > 0}, {1, i % n + 1 < n}, {n, i + n < rows}})
      if (is_there) put(i + step, -1), sum += 1;
    put(i, sum);
  }
  write_file(folder / "A.mtx", "%%MatrixMarket matrix coordinate real general\n" + std::to_string(rows) + " " +
                                   std::to_string(rows) + " " + std::to_string(count) + "\n" + entries);
  write_vector(folder / "b.txt", b);
  for (const char* precond : {"symgs", "amg"}) {
    CAPTURE(precond);
    const Words words = {folder / "A.mtx", "--rhs", folder / "b.txt", "--method",      "cg", "--precond", precond,
                         "--tol",          "1e-7",  "--out",          folder / "x.mtx"};
    const json cold = report_of(words, 0);
    CHECK(cold["error_estimate"] >= 0.1);
    const json warm = report_of(words + Words{"--x0", folder / "x.mtx"}, 0);
    CHECK(warm["iterations"] == 0);
    CHECK(warm["verdict"] == "doubtful");
    CHECK(warm["error_estimate"] >= 0.1);
  }
}

TEST_CASE("direct: rows of any units, a matrix without entries, equal rows, a first x that is good by chance") {
  Folder folder;
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  write_file(folder / "zero.mtx", banner + "29 29 0\n");
  CHECK(report_of({folder / "zero.mtx", "--method", "direct"})["converged"] == true);  // ended without an end
  write_file(folder / "equal.mtx",
             "%%MatrixMarket matrix array real general\n3 3\n"
             "0.7\n-1.3\n0.7\n1.1\n0.3\n1.1\n-0.4\n0.9\n-0.4\n");
  write_file(folder / "b.txt", "1 2 1\n");
  const json equal = report_of({folder / "equal.mtx", "--rhs", folder / "b.txt", "--method", "direct"});
  CHECK(equal["verdict"] == "doubtful");
  CHECK(equal["error_estimate_source"] == "singular");
  for (int seed = 0; seed < 200; ++seed) {  // of condition 1e9: regular, whatever the first x is like
    Random random(seed);
    const double a = uniform(random, 1, 2), c = uniform(random, 1, 2), d = 1e-9;
    write_file(folder / "A.mtx", "%%MatrixMarket matrix array real general\n2 2\n" + number(a) + "\n" + number(a * c) +
                                     "\n" + number(c) + "\n" + number(c * c * (1 + d)) + "\n");
    write_file(folder / "b.txt", number(uniform(random, -1, 1)) + " " + number(uniform(random, -1, 1)));
    const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--method", "direct"});
    CAPTURE(seed);
    CHECK(report["error_estimate_source"] == "refinement");
  }
}

TEST_CASE("a large target that is met at once is no sign of a bad condition") {
  Folder folder;
  write_lattice(folder, 8, 0, 1);
  const Run run = seidel_program({"solve", folder / "A.mtx", "--rhs", folder / "b.txt", "--set", "atol=1e9", "--method",
                                  "cg", "--precond", "jacobi"});
  CHECK(contains(run.out, "no digit of x can be trusted"));
  CHECK(!contains(run.out, "badly conditioned"));
}
