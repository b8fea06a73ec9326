// The residual in twice the working precision, on which a claim "solved" stands: the front door.
#pragma once
#include <seidel/kernels/certificate/twice.hpp>
#include <seidel/kernels/spmv/spmv.hpp>

namespace seidel {

namespace certificate_detail {

/// Term k of a row's product, exact, added in twice the precision.
template <class Real>
struct ExactTerm {
  RowTerm<Real> of;
  SEIDEL_HD Twice<Real> operator()(std::int64_t k, const Twice<Real>& s) const {
    return s + two_product(of.values[k * of.stride], of.x[of.col_idx[k * of.stride]]);
  }
};

/// b - s, rounded once.
template <class Real>
SEIDEL_HD Real rounded_residual(Real b, const Twice<Real>& s) {
  return (Twice<Real>{b, 0} + -s).high;
}

/// Instantiated for CSR, double and float.
template <class Real, class Offset>
[[gnu::used]] void residual(const OpenMP& on, const CsrView<Real, Offset, Host>& A, const Real* x, const Real* b,
                            Real* r);
template <class Real, class Offset>
[[gnu::used]] void residual(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Real* x, const Real* b,
                            Real* r);

}  // namespace certificate_detail

/// r_i = b_i - sum_j a_ij x_j, each product exact, added in twice the precision of Real in the one order of
/// kernels/sum.hpp, and rounded at the end: |error of r_i| <= u |r_i| + 4 n u^2 (|b_i| + sum_j |a_ij x_j|) for n
/// entries in row i, if nothing underflows. Where a product or sum overflows r_i is NaN or infinite.
///
/// Shapes  A is m x n in CSR; x has n entries, b and r have m. r may be b, but not x.
/// Cost    reads A, x, b, writes r; about ten times the arithmetic of residual(); allocates and synchronises nothing.
/// Repeats bit for bit on every back end.
/// Errors  ShapeError.
template <Backend B, class Real, class Offset>
void certified_residual(const B& on, const CsrView<Real, Offset, SpaceOf<B>>& A,
                        std::type_identity_t<Span<const Real, SpaceOf<B>>> x,
                        std::type_identity_t<Span<const Real, SpaceOf<B>>> b,
                        std::type_identity_t<Span<Real, SpaceOf<B>>> r) {
  spmv_detail::require_size(x.size(), A.ncols, "certified_residual", "x");
  spmv_detail::require_size(b.size(), A.nrows, "certified_residual", "b");
  spmv_detail::require_size(r.size(), A.nrows, "certified_residual", "r");
  certificate_detail::residual(on, A, x.data(), b.data(), r.data());
}

}  // namespace seidel
