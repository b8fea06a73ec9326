// The largest eigenvalue of a small tridiagonal matrix.
#include <seidel/solvers/lanczos.hpp>

#include <algorithm>

namespace seidel {

double largest_eigenvalue(const std::vector<double>& diagonal, const std::vector<double>& beside) {
  const auto off = [&](std::size_t i) { return i < beside.size() ? std::abs(beside[i]) : 0.0; };
  double low = diagonal.at(0),
         high = low;  // by Gershgorin's circles, and since x'T x / x'x is no more than the largest
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    low = std::max(low, diagonal[i]);
    high = std::max(high, diagonal[i] + off(i) + (i > 0 ? off(i - 1) : 0));
  }
  /// Whether all eigenvalues are less than x: all pivots of x I - T are positive.
  const auto all_below = [&](double x) {
    double pivot = 1;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      pivot = x - diagonal[i] - (i > 0 ? off(i - 1) * off(i - 1) / pivot : 0);
      if (!(pivot > 0)) return false;
    }
    return true;
  };
  for (int step = 0; step < 60; ++step) {
    const double middle = low + (high - low) / 2;
    (all_below(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace seidel
