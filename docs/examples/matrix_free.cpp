// A matrix that is not stored, and a preconditioner of one's own. Neither knows of any base class: they have the
// members that the concepts of seidel/solvers/concepts.hpp ask for, and that is all.
//
// -u'' = f on (0, 1), u(0) = u(1) = 0, by finite differences on n points.
#include <algorithm>
#include <cstdio>
#include <string>

#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/cg.hpp>

using Backend = seidel::OpenMP;
using Vector = seidel::Vector<double, Backend>;

/// y = A x with A = tridiag(-1, 2, -1) + shift I.
struct SecondDifference {
  std::int64_t n;
  double shift;

  std::int64_t nrows() const { return n; }
  std::int64_t ncols() const { return n; }
  void apply(const Vector& x, Vector& y) const {
    const auto from = x.span();
    const auto to = y.span();
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = (2 + shift) * from[i] - (i > 0 ? from[i - 1] : 0) - (i + 1 < n ? from[i + 1] : 0);
  }
};

/// z = M^-1 r with M = tridiag(-1, 2 + shift, -1) in blocks of 64, each solved by elimination.
struct BlockElimination {
  std::int64_t n;
  double shift;

  void apply(const Vector& r, Vector& z) const {
    const auto from = r.span();
    const auto to = z.span();
    for (std::int64_t first = 0; first < n; first += 64) {
      const std::int64_t size = std::min<std::int64_t>(64, n - first);
      double ratio[64], previous = 0;
      for (std::int64_t i = 0; i < size; ++i) {
        const double pivot = 2 + shift - (i > 0 ? ratio[i - 1] : 0);
        ratio[i] = 1 / pivot;
        previous = to[first + i] = (from[first + i] + previous) / pivot;
      }
      for (std::int64_t i = size - 2; i >= 0; --i) to[first + i] += ratio[i] * to[first + i + 1];
    }
  }
  bool is_symmetric() const { return true; }
};

int main() {
  const std::int64_t n = 5000;
  const Backend on;  // all cores
  const SecondDifference A{n, 1e-3};
  Vector b(on, n), x(on, n);
  fill(b, 1);

  const seidel::Summary summary = seidel::cg(A, BlockElimination{n, 1e-3}, b, x);

  std::printf("%s after %lld iterations, ||b - A x|| / ||b|| = %.2e\n", std::string(to_string(summary.status)).c_str(),
              static_cast<long long>(summary.iterations), summary.relative_residual);
  return summary.converged() ? 0 : 1;
}
