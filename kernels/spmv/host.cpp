// Products and residuals on the host: one core or several, the same code.
#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/spmv/spmv.hpp>

namespace seidel::spmv_detail {

namespace {

template <class Matrix, class Store>
void rows(const Matrix& A, const typename Matrix::Real* x, const Store& store, std::int64_t first, std::int64_t last) {
  with_simd([&] {
    each_row(A, first, last, x,
             [&](const auto& row) { store(row.row, sum_of_products<typename Matrix::Real>(row.length, row.term)); });
  });
}

template <class Real, class Offset, class Store>
void share_out(const OpenMP& on, const CsrView<Real, Offset, Host>& A, const Real* x, const Store& store) {
  parallel_for_rows(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) { rows(A, x, store, first, last); });
}
template <class Real, int block, class Store>
void share_out(const OpenMP& on, const BsrView<Real, block, Host>& A, const Real* x, const Store& store) {
  parallel_for_rows(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) { rows(A, x, store, first, last); });
}
template <class Matrix, class Store>
void share_out(const OpenMP& on, const Matrix& A, const typename Matrix::Real* x, const Store& store) {
  parallel_for(on, A.nrows, [&](std::int64_t first, std::int64_t last) { rows(A, x, store, first, last); });
}

}  // namespace

template <class Matrix, class Store>
void product(const OpenMP& on, const Matrix& A, const typename Matrix::Real* x, const Store& store) {
  share_out(on, A, x, store);
}
template <class Matrix, class Store>
void product(const Serial&, const Matrix& A, const typename Matrix::Real* x, const Store& store) {
  product(OpenMP{1}, A, x, store);
}

/// Never called: names every product, so that its code is emitted here.
template <class On, class Real>
void instances(const On& on, Real* x) {
  const auto both = [&](const auto& A) {
    product(on, A, x, StoreProduct<Real>{x});
    product(on, A, x, StoreResidual<Real>{x, x});
  };
  both(CsrView<Real, std::int32_t, Host>{});
  both(CsrView<Real, std::int64_t, Host>{});
  both(EllView<Real, Host>{});
  both(SellView<Real, Host>{});
  both(BsrView<Real, 2, Host>{});
  both(BsrView<Real, 3, Host>{});
  both(BsrView<Real, 4, Host>{});
  both(BsrView<Real, 6, Host>{});
}
template void instances(const Serial&, double*);
template void instances(const Serial&, float*);
template void instances(const OpenMP&, double*);
template void instances(const OpenMP&, float*);

}  // namespace seidel::spmv_detail
