// The small problem inside GMRES: min ||beta e1 - H y|| for a Hessenberg matrix H that grows by a column at a time.
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

#include <seidel/solvers/right_triangle.hpp>

namespace seidel {

/// Keeps H triangular by Givens rotations. All on the host, all memory taken at the start.
/// Source  Saad (2003), section 6.5.3.
template <class Real>
class HessenbergLeastSquares {
 public:
  explicit HessenbergLeastSquares(std::size_t columns)
      : m_(columns), R_((m_ + 1) * m_), c_(m_), s_(m_), g_(m_ + 1), y_(m_) {}

  void start(Real beta) {
    k_ = 0;
    g_[0] = beta;
  }

  bool full() const { return k_ == m_; }
  std::size_t columns() const { return k_; }
  std::size_t max_columns() const { return m_; }
  /// Entries 0 ... columns() + 1 of the next column of H, to be filled before add().
  Real* next() { return &R_[k_ * (m_ + 1)]; }

  /// Takes next() in; returns the residual norm of the problem with it.
  Real add() {
    Real* h = next();
    for (std::size_t i = 0; i < k_; ++i) {
      const Real above = h[i];
      h[i] = std::fma(c_[i], above, s_[i] * h[i + 1]);
      h[i + 1] = std::fma(c_[i], h[i + 1], -s_[i] * above);
    }
    const Real length = hypotenuse(h[k_], h[k_ + 1]);
    c_[k_] = length == 0 ? Real(0) : h[k_] / length;  // a column of nothing leaves the residual as it is; NaN stays NaN
    s_[k_] = length == 0 ? Real(1) : h[k_ + 1] / length;
    h[k_] = length;
    g_[k_ + 1] = -s_[k_] * g_[k_];
    g_[k_] *= c_[k_];
    return std::abs(g_[++k_]);
  }

  /// The last column is taken out again.
  void drop() { --k_; }

  /// y, columns() entries. A column that added nothing (H singular) gets 0.
  const std::vector<Real>& solve() {
    for (std::size_t i = k_; i-- > 0;) {
      Real sum = g_[i];
      for (std::size_t j = i + 1; j < k_; ++j) sum = std::fma(-R_[j * (m_ + 1) + i], y_[j], sum);
      const Real diagonal = R_[i * (m_ + 1) + i];
      y_[i] = diagonal != 0 ? sum / diagonal : Real(0);
    }
    return y_;
  }

 private:
  std::size_t m_, k_ = 0;
  std::vector<Real> R_;          // columns of m + 1 entries
  std::vector<Real> c_, s_, g_;  // rotations; right-hand side, rotated
  std::vector<Real> y_;
};

}  // namespace seidel
