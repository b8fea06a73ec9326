// An error of x along a vector that A maps to nearly nothing, which hardly changes b - A x, so that no iterate has seen it: a
// constant on a connected part of A, or another one.
#pragma once
#include <cmath>
#include <functional>
#include <vector>

#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/null_space.hpp>
#include <seidel/solvers/solve.hpp>

namespace seidel::drivers {

/// What constants may hide, of one matrix. A constant is a vector z that is 1 on a connected part of A and 0 elsewhere, or 1 only in
/// those rows of the part whose diagonal entry is not positive or small beside others, as in the rows of the pressure of a flow.
class Constants {
 public:
  /// Cost  three products at most, and connected_parts().
  template <class Offset>
  Constants(const OpenMP& on, const CsrView<double, Offset, Host>& A, bool symmetric);

  struct Found {
    double error = 0;       // max |x_i - x*_i| / max |x*_i|; 0 where nothing is hidden
    bool at_least = false;  // it may be much larger
    bool singular = false;  // A' maps some z to zero within rounding
  };
  /// What r = b - A x tells. With s = A'z, z'r is s'(x* - x), at most max |x_i - x*_i| times the sum of all |s_i|: a bound from below,
  /// which is large where A nearly conserves sums. Of an A that is not symmetric also the constant with which x has the smallest
  /// residual, s'r / s's with s = A z, if it is above `doubt`.
  Found found(HostSpan<const double> x, HostSpan<const double> r, double doubt) const;

 private:
  struct Direction {
    std::vector<char> z;
    std::vector<double> Az;              // empty where A is symmetric
    std::vector<double> sizes, squares;  // sums of |A'z| and of (A z)^2 over each part
    std::vector<char> vanishes;          // on each part: A'z is rounding, and z is not 0
  };
  template <class Offset>
  void add(const OpenMP& on, const CsrView<double, Offset, Host>& A, bool symmetric, std::vector<char> z);
  double relative_to_x(const std::vector<double>& constants, const std::vector<char>& z,
                       HostSpan<const double> x) const;

  ConnectedParts parts_;
  std::vector<Direction> directions_;
};

/// What the entries of a matrix tell of vectors that it maps to nearly nothing.
struct Couplings {
  /// No vector but the constants can be one, as far as the entries tell: off the diagonal they are negative and of similar
  /// size, and no row sums to less than zero. Then x'A x = sum |a_ij| (x_i - x_j)^2 + sum d_i x_i^2.
  bool constants_alone = false;
  /// The least a_ii - sum of |a_ij| beside it. Where that is positive, max |x_i| <= max |(A x)_i| / margin.
  double margin = 0;
};
template <class Offset>
Couplings couplings_of(const OpenMP& on, const CsrView<double, Offset, Host>& A);

/// Where to look for others: numbers between 0 and 1, over the roots of a_ii > 0. Of S L S with a Laplacian L and a diagonal S
/// that is S^-1 times numbers of similar size.
template <class Offset>
Array<double> first_direction(const OpenMP& on, const CsrView<double, Offset, Host>& A);

/// Solves for b from the guess x, in place.
template <class V>
using Solver = std::function<Summary(const MethodChoice& choice, const V& b, V& x, const Criteria& criteria)>;

/// z = w - d, with d what n iterations of cg find of the solution w of A d = A w: of all w + K_n, K_n their Krylov space, z is the
/// one with the least z'A z. What A maps to nearly nothing in w is left in z.
template <class V>
void keep_unseen_part(const AnyOperator<V>& A, const Solver<V>& solve, MethodChoice choice, std::int64_t n,
                      const Criteria& limits, V& w) {
  V Aw = like(w), d = like(w);
  A.apply(w, Aw);
  choice.fallbacks.clear();
  choice.may_drop_preconditioner = false;
  (void)solve(choice, Aw, d,
              {.relative_tolerance = 0, .max_iterations = n, .seconds = limits.seconds, .stop = limits.stop});
  axpy(-1, d, w);
}

/// max |c z_i| / max |x*_i|, where x + c z is nearest to x* in the norm of A: c = z'r / z'A z, r = b - A x.
template <class V>
double error_along(const V& z, const AnyOperator<V>& A, const V& r, const V& x) {
  V y = like(x);
  A.apply(z, y);
  const double c = dot(z, r) / dot(z, y);
  copy(x, y);
  axpy(c, z, y);
  const double error = std::abs(c) * double(max_abs(z)) / double(max_abs(y));
  return std::isfinite(error) ? error : 0;  // z = 0, or too small for its squares
}

}  // namespace seidel::drivers
