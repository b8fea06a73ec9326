// The diagonal as preconditioner.
#pragma once
#include <string>

#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/preconditioners/diagonal.hpp>

namespace seidel {

/// z_i = (1 / a_ii) r_i. Takes what it needs from A, which may go away.
///
/// Shapes  A is n x n with every diagonal entry stored; r and z have n entries, z may be r.
/// Cost    made: reads A once and waits for a GPU; holds a vector. Updated: the same, and another vector. Applied: reads two
///         vectors, writes one; does not wait.
/// Errors  as inverse_diagonal().
template <class Real, Backend B>
class JacobiPreconditioner {
 public:
  template <class Offset>
  JacobiPreconditioner(B on, const CsrView<Real, Offset, SpaceOf<B>>& A) : inverse_(on, inverse_diagonal(on, A)) {}

  /// Of these 1 / a_ii.
  explicit JacobiPreconditioner(Vector<Real, B> inverse) : inverse_(std::move(inverse)) {}

  /// For new values in A. Errors  as the constructor; ShapeError for another number of rows. They leave this as it is.
  template <class Offset>
  void update_values(const CsrView<Real, Offset, SpaceOf<B>>& A) {
    require_rows(A.nrows, inverse_.size());
    *this = JacobiPreconditioner(inverse_.on(), A);
  }

  void apply(const Vector<Real, B>& r, Vector<Real, B>& z) const { multiply(inverse_, r, z); }
  bool is_symmetric() const { return true; }
  std::int64_t bytes() const { return inverse_.size() * std::int64_t(sizeof(Real)); }
  std::string describe() const { return "jacobi"; }
  const Vector<Real, B>* diagonal() const { return &inverse_; }

 private:
  Vector<Real, B> inverse_;
};
template <Backend B, class Real, class Offset, class Space>
JacobiPreconditioner(B, const CsrView<Real, Offset, Space>&) -> JacobiPreconditioner<Real, B>;

}  // namespace seidel
