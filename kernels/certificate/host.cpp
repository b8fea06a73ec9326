// The residual in twice the working precision on the host: one core or several, the same code.
#include <seidel/formats/parallel.hpp>
#include <seidel/kernels/certificate/certificate.hpp>

namespace seidel::certificate_detail {

namespace {

template <class On, class Real, class Offset>
void rows(const On& on, const CsrView<Real, Offset, Host>& A, const Real* x, const Real* b, Real* r) {
  parallel_for_rows(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const auto row = row_at(A, i, x);
      r[i] = rounded_residual(b[i], sum_of_products<Twice<Real>>(row.length, ExactTerm<Real>{row.term}));
    }
  });
}

}  // namespace

template <class Real, class Offset>
void residual(const Serial& on, const CsrView<Real, Offset, Host>& A, const Real* x, const Real* b, Real* r) {
  rows(on, A, x, b, r);
}
template <class Real, class Offset>
void residual(const OpenMP& on, const CsrView<Real, Offset, Host>& A, const Real* x, const Real* b, Real* r) {
  rows(on, A, x, b, r);
}

/// Never called: names every residual, so that its code is emitted here.
template <class On, class Real>
void instances(const On& on, Real* x) {
  residual(on, CsrView<Real, std::int32_t, Host>{}, x, x, x);
  residual(on, CsrView<Real, std::int64_t, Host>{}, x, x, x);
}
template void instances(const Serial&, double*);
template void instances(const Serial&, float*);
template void instances(const OpenMP&, double*);
template void instances(const OpenMP&, float*);

}  // namespace seidel::certificate_detail
