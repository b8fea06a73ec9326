// The residual in twice the working precision on the GPU: the rows of spmv, other sums.
#include <seidel/formats/instances.hpp>
#include <seidel/kernels/certificate/certificate.hpp>
#include <seidel/kernels/cuda_rows.cuh>

namespace seidel::certificate_detail {

namespace {

/// The terms of spmv, exact and added in twice the precision (ExactTerm, in the steps of kernels/cuda_rows.cuh).
template <class Terms>
struct ExactTerms : Terms {
  template <class Entry, class Real>
  __device__ static Twice<Real> add(Entry e, Real factor, const Twice<Real>& s) {
    return s + two_product(e.value, factor);
  }
};

template <class Rows>
struct ExactRows {
  Rows rows;
  SEIDEL_HD std::int64_t size() const { return rows.size(); }
  __device__ auto operator()(std::int64_t p) const {
    const auto row = rows(p);
    return cuda::Row<ExactTerms<std::remove_cv_t<decltype(row.terms)>>>{{row.terms}, row.length, row.number};
  }
};

template <class Real>
struct StoreRounded {
  const Real* b;
  Real* r;
  SEIDEL_HD void operator()(Index row, const Twice<Real>& s) const { r[row] = rounded_residual(b[row], s); }
};

}  // namespace

template <class Real, class Offset>
void residual(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Real* x, const Real* b, Real* r) {
  cuda::launch_rows<Twice<Real>>(on.stream(), ExactRows{cuda::rows_of(A, x)}, StoreRounded<Real>{b, r},
                                 "a residual in twice the precision");
}

/// Never called: names every residual, so that its code is emitted here.
void instances(const Cuda& on) {
  with_each_csr<Device>([&](const auto& A, auto* x) { residual(on, A, x, x, x); });
}

}  // namespace seidel::certificate_detail
