// The diagonal as preconditioner.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/kernels/vector.hpp>

namespace seidel {

namespace jacobi_detail {
/// 1 / a_ii for every row. Errors  ShapeError if A is not square; ZeroDiagonal.
template <class Real, class Offset>
[[gnu::used]] Array<Real> inverse_diagonal(const CsrView<Real, Offset, Host>& A);
}  // namespace jacobi_detail

/// z_i = (1 / a_ii) r_i. Takes what it needs from A, which may go away.
///
/// Errors  ShapeError; ZeroDiagonal, naming the first row without a diagonal entry that can be divided by.
template <class Real, Backend B>
class JacobiPreconditioner {
 public:
  template <class Offset>
  JacobiPreconditioner(B on, const CsrView<Real, Offset, Host>& A)
      : inverse_(on, copied_to<SpaceOf<B>>(jacobi_detail::inverse_diagonal(A))) {}

  void apply(const Vector<Real, B>& r, Vector<Real, B>& z) const { multiply(inverse_, r, z); }
  bool is_symmetric() const { return true; }

 private:
  Vector<Real, B> inverse_;
};
template <Backend B, class Real, class Offset>
JacobiPreconditioner(B, const CsrView<Real, Offset, Host>&) -> JacobiPreconditioner<Real, B>;

}  // namespace seidel
