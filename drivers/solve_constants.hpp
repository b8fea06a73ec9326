// An error of x that has a constant on a connected part of A, which may hardly change b - A x, so that no iterate has seen it.
#pragma once
#include <vector>

#include <seidel/solvers/null_space.hpp>

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

}  // namespace seidel::drivers
