// The residual in twice the working precision on the host: one core or several, the same code.
#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/certificate/certificate.hpp>

namespace seidel::certificate_detail {

namespace {

/// More than 64 terms; apart from the loop over rows, whose code it would swell.
template <class Real>
[[gnu::noinline]] Twice<Real> long_sum(const RowOf<Real>& row) {
  Twice<Real> sum;
  with_avx2([&] { sum = sum_of_long<Twice<Real>>(row.length, ExactTerm<Real>{row.term}); });
  return sum;
}

}  // namespace

template <class Real, class Offset>
void residual(const OpenMP& on, const CsrView<Real, Offset, Host>& A, const Real* x, const Real* b, Real* r) {
  parallel_for_rows(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const auto row = row_at(A, i, x);
      r[i] = rounded_residual(b[i], row.length <= short_sum
                                        ? sum_left_to_right<Twice<Real>>(0, row.length, 1, ExactTerm<Real>{row.term})
                                        : long_sum(row));
    }
  });
}

/// Never called: names every residual, so that its code is emitted here.
void instances(const OpenMP& on) {
  with_each_csr<Host>([&](const auto& A, auto* x) { residual(on, A, x, x, x); });
}

}  // namespace seidel::certificate_detail
