// An error along a vector that A maps to nearly nothing, and that is not constant, is told; where there is none, nobody is alarmed.
#include "solve_json.hpp"

#include <cmath>
#include <functional>
#include <iterator>
#include <random>
#include <sstream>

#include "solution.hpp"

using namespace seidel::tests;
using nlohmann::json;

namespace {

using Random = std::mt19937_64;
double uniform(Random& random, double low, double high) {  // the same with every standard library
  return low + (high - low) * double(random() >> 11) * 0x1p-53;
}
double power(Random& random, double low, double high) { return std::pow(10, uniform(random, low, high)); }

constexpr int side = 16, n = side * side * side;

/// S (L + more I) S with L of a lattice whose couplings are those of `weight(i, j)`; b = A x with a random x.
struct Lattice {
  std::function<double(int, int)> weight;
  std::function<double(int)> scale = [](int) { return 1.0; };
  double more = 0;
};
std::vector<double> write_system(const Folder& folder, Random& random, const Lattice& lattice, int columns) {
  std::vector<double> x(std::size_t(n) * columns), s(n), sum(n, lattice.more);
  for (double& v : x) v = uniform(random, 0, 1);
  for (int i = 0; i < n; ++i) s[i] = lattice.scale(i);
  std::vector<long double> b(x.size(), 0);
  std::ostringstream entries, right;
  entries.precision(17), right.precision(17);
  int count = 0;
  const auto add = [&](int i, int j, double a) {
    entries << i + 1 << " " << j + 1 << " " << a << "\n", ++count;
    for (int c = 0; c < columns; ++c) {
      b[c * n + i] += (long double)a * x[c * n + j];
      if (i != j) b[c * n + j] += (long double)a * x[c * n + i];
    }
  };
  for (int i = 0; i < n; ++i)
    for (const int step : {1, side, side * side}) {
      if (i / step % side == side - 1) continue;
      const double w = lattice.weight(i, i + step);
      sum[i] += w, sum[i + step] += w;
      add(i + step, i, -w * s[i] * s[i + step]);
    }
  for (int i = 0; i < n; ++i) add(i, i, sum[i] * s[i] * s[i]);
  for (const long double v : b) right << double(v) << "\n";
  const std::string size = std::to_string(n);
  write_file(folder / "A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n" + size + " " + size + " " +
                                   std::to_string(count) + "\n" + entries.str());
  write_file(folder / "b.mtx",
             "%%MatrixMarket matrix array real general\n" + size + " " + std::to_string(columns) + "\n" + right.str());
  return x;
}

json solved(const Folder& folder, const Words& words, const std::string& method = "cg") {
  return report_of(
      Words{folder / "A.mtx", "--rhs", folder / "b.mtx", "--out", folder / "x.mtx", "--method", method} + words, 0);
}

}  // namespace

TEST_CASE("an error along a vector that A maps to nearly nothing, whatever that is, is told, by every preconditioner") {
  Folder folder;
  Random random(20261124);
  const auto one = [](int, int) { return 1.0; };
  const auto halves = [](int i, int j) { return i < n / 2 && j >= n / 2 ? 1e-9 : 1.0; };
  const Lattice scaled{one, [&](int) { return power(random, -1, 1); }, 1e-11};
  const Lattice joined{halves, [](int) { return 1.0; }, 1e-9};
  for (const Lattice& lattice : {scaled, joined}) {
    const auto x = write_system(folder, random, lattice, 1);
    for (const char* precond : {"none", "jacobi", "symgs", "amg"})
      for (const char* backend : {"serial", "openmp"}) {
        CAPTURE(precond);
        const json report = solved(folder, {"--precond", precond, "--backend", backend});
        const double truth = relative_error(folder / "x.mtx", x);
        CAPTURE(truth);
        CHECK((report["verdict"] == "doubtful") == (truth > 1e-3));
        CHECK(report["error_estimate"] >= truth / 20);
        CHECK(report["error_estimate"] <= 20 * truth);
      }
  }
}

TEST_CASE("what A maps to nearly nothing is looked for once for all right-hand sides, and changes no x") {
  Folder folder;
  Random random(7);
  const Lattice scaled{[](int, int) { return 1.0; }, [&](int) { return power(random, -1, 1); }, 1e-11};
  (void)write_system(folder, random, scaled, 2);
  const json both = solved(folder, {"--precond", "jacobi"});
  for (const json& column : both["columns"]) {
    CHECK(column["verdict"] == "doubtful");
    CHECK(column["error_estimate"] >= 0.1);
  }
  const std::string x = read_file(folder / "x.mtx");
  const json exact = solved(folder, {"--precond", "jacobi", "--tol", "1e-14"});
  CHECK(exact["verdict"] == "solved");
  CHECK(exact["error_estimate"] <= 1e-3);
  const json again = solved(folder, {"--precond", "jacobi", "--threads", "1"});
  CHECK(read_file(folder / "x.mtx") == x);
  CHECK(again["columns"][1]["error_estimate"] == both["columns"][1]["error_estimate"]);
}

TEST_CASE(
    "where the entries tell that nothing can be unseen, nothing is looked for; where they do not, there is no false "
    "alarm") {
  Folder folder;
  Random random(11);
  const auto one = [](int, int) { return 1.0; };
  const Lattice plain{one, [](int) { return 1.0; }, 1e-2};
  (void)write_system(folder, random, plain, 1);
  const json short_look = solved(folder, {"--precond", "jacobi"});
  CHECK(short_look["verdict"] == "solved");
  CHECK(short_look["error_estimate_iterations"] < short_look["iterations"]);
  for (const double spread : {1.0, 2.0}) {
    const Lattice uneven{[&](int, int) { return power(random, -spread, spread); },
                         [&](int) { return power(random, -0.5, 0.5); }, 1e-2};
    const auto x = write_system(folder, random, uneven, 1);
    const json report = solved(folder, {"--precond", "jacobi"});
    CHECK(report["verdict"] == "solved");
    CHECK(report["error_estimate_iterations"] > report["iterations"]);
    CHECK(report["error_estimate"] <= 20 * relative_error(folder / "x.mtx", x));
  }
}

TEST_CASE("at the limit of precision, where iterates no longer change, x is not called exact") {
  Folder folder;
  Random random(3);
  const Lattice scaled{[](int, int) { return 1.0; }, [&](int) { return power(random, -0.3, 0.3); }, 1e-8};
  (void)write_system(folder, random, scaled, 1);
  std::ostringstream b;  // hardly in the range of A: x is 1e8 times as large
  for (int i = 0; i < n; ++i) b << uniform(random, -1, 1) << "\n";
  write_file(folder / "b.mtx", b.str());
  (void)solved(folder, {}, "direct");
  std::istringstream lines(read_file(folder / "x.mtx"));
  std::string line;
  std::getline(lines, line), std::getline(lines, line);
  const std::vector<double> x(std::istream_iterator<double>(lines), {});
  const json report = solved(folder, {}, "minres");
  CHECK(report["error_estimate_source"] == "going on");
  const double truth = relative_error(folder / "x.mtx", x);
  CHECK(truth > 1e-12);
  CHECK(report["error_estimate"] >= truth / 20);
  CHECK(report["error_estimate"] <= 100 * truth);
}

namespace {

/// A system whose entries are given one by one; b = A x is summed in more digits than double has.
class EntryByEntry {
 public:
  EntryByEntry(const std::vector<double>& x, bool symmetric) : x_(x), symmetric_(symmetric), b_(x.size()) {
    entries_.precision(17);
  }
  void add(int i, int j, double a) {
    entries_ << i + 1 << " " << j + 1 << " " << a << "\n", ++count_;
    b_[i] += (long double)a * x_[j];
    if (symmetric_ && i != j) b_[j] += (long double)a * x_[i];
  }
  void write(const Folder& folder) const {
    std::ostringstream right;
    right.precision(17);
    for (const long double v : b_) right << double(v) << "\n";
    const std::string size = std::to_string(x_.size());
    write_file(folder / "A.mtx", std::string("%%MatrixMarket matrix coordinate real ") +
                                     (symmetric_ ? "symmetric" : "general") + "\n" + size + " " + size + " " +
                                     std::to_string(count_) + "\n" + entries_.str());
    write_file(folder / "b.mtx", right.str());
  }

 private:
  const std::vector<double>& x_;
  bool symmetric_;
  std::vector<long double> b_;
  std::ostringstream entries_;
  int count_ = 0;
};

}  // namespace

TEST_CASE("an error along a constant pressure, which no iterate has seen, is told, and auto removes it") {
  // A flow in a box of m x m cells: [L, G; G', -1e-9 I], velocities on the walls between cells, pressures in the cells.
  constexpr int m = 32, walls = m * (m - 1), rows = 2 * walls + m * m;
  Folder folder;
  Random random(5);
  std::vector<double> x(rows);
  for (double& v : x) v = uniform(random, 0, 1);
  EntryByEntry system(x, true);
  // wall (i, j) is between the cells (i, j) and (i + 1, j), or the same with i and j exchanged
  for (const int first : {0, walls})
    for (int i = 0; i < m - 1; ++i)
      for (int j = 0; j < m; ++j) {
        const int wall = first + i * m + j;
        system.add(wall, wall, 4);
        if (i > 0) system.add(wall, wall - m, -1);
        if (j > 0) system.add(wall, wall - 1, -1);
        for (const int side : {0, 1})
          system.add(2 * walls + (first ? j * m + i + side : (i + side) * m + j), wall, side ? 1 : -1);
      }
  for (int i = 2 * walls; i < rows; ++i) system.add(i, i, -1e-9);
  system.write(folder);
  const json asked = solved(folder, {}, "minres");
  CHECK(asked["verdict"] == "doubtful");
  const double truth = relative_error(folder / "x.mtx", x);
  CHECK(truth > 0.1);
  CHECK(asked["error_estimate"] >= truth / 2);
  CHECK(asked["error_estimate"] <= 2 * truth);
  CHECK(solved(folder, {}, "auto")["verdict"] == "solved");
  CHECK(relative_error(folder / "x.mtx", x) < 1e-6);
}

TEST_CASE("an error that only sums of the residual show, of a flow that conserves what flows, is told") {
  // Finite volumes, k^3 cells: what leaves a cell comes to its neighbour, so columns sum to `more`, and rows to anything.
  constexpr int k = 24, cells = k * k * k;
  Folder folder;
  Random random(24);
  std::vector<double> x(cells);
  for (double& v : x) v = uniform(random, 0, 1);
  for (const double more : {1e-9, 0.0}) {
    CAPTURE(more);
    EntryByEntry system(x, false);
    for (int from = 0; from < cells; ++from) {
      for (const int step : {1, k, k * k}) {
        if (from / step % k == k - 1) continue;
        const double wind = 0.1 * std::sin(double(from / step % k) / 8);
        const double out = std::ldexp(std::round(std::ldexp(1 + std::max(wind, 0.0), 20)), -20);  // sums are exact
        system.add(from, from, out), system.add(from + step, from, -out), system.add(from, from + step, -1),
            system.add(from + step, from + step, 1);
      }
      if (more > 0) system.add(from, from, more);
    }
    system.write(folder);
    const json report = solved(folder, {}, "gmres");
    CHECK(report["verdict"] == "doubtful");
    CHECK(report["error_estimate_source"] == std::string(more > 0 ? "constants" : "singular"));
    const double truth = relative_error(folder / "x.mtx", x);
    CHECK(truth > 0.1);
    if (more == 0) continue;
    CHECK(report["error_estimate"] > truth / 100);
    CHECK(report["error_estimate"] < 2 * truth);
    CHECK(report["error_estimate_is_lower_bound"] == true);
  }
}
