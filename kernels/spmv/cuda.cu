// Products and residuals on the GPU: one thread per row, long rows by a warp or a block (kernels/cuda_rows.cuh); large CSR
// matrices by cuda_csr.cu or cuda_shares.cu.
#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/cuda_rows.cuh>
#include <seidel/kernels/spmv/cuda_csr.hpp>
#include <seidel/kernels/spmv/shares.hpp>
#include <seidel/kernels/spmv/spmv.hpp>

namespace seidel::spmv_detail {

namespace {

constexpr const char* name = "a product with a sparse matrix";

/// Nobody knows the rows yet, but what their mean length makes likely.
template <class Real, class Offset, class Store>
void csr(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Real* x, const Store& store) {
  if (A.nrows == 0) return;
  Scratch scratch(on);
  const UnpreparedWay way = unprepared_way(A.nrows, A.nnz());
  switch (way) {
    case UnpreparedWay::thread_per_row: return cuda::launch_rows<Real>(on.stream(), cuda::rows_of(A, x), store, name);
    case UnpreparedWay::shares: return shares_product(on, A, x, store);
    case UnpreparedWay::staged:
    case UnpreparedWay::staged_if_regular: break;
  }
  const LongRowsView long_rows = room_in(scratch, A, longest_unlisted_row(A.nrows, A.nnz()));
  bool* const irregular = scratch.take<bool>(1).data();
  look_at_rows(on, A, long_rows, irregular);
  if (way == UnpreparedWay::staged) return csr_product(on, A, long_rows, Listing::by_product, x, store);
  csr_product(on, A, long_rows, Listing::by_product, x, store, {.irregular = irregular, .wanted = false});
  shares_product(on, A, x, store, {.irregular = irregular, .wanted = true});
}

}  // namespace

template <class Matrix, class Store>
void product(const Cuda& on, const Matrix& A, const typename Matrix::Real* x, const Store& store) {
  using Real = typename Matrix::Real;
  using Warp = std::integral_constant<int, cuda::warp_size>;
  if constexpr (requires { typename Matrix::Offset; })
    csr(on, A, x, store);
  else if constexpr (!requires { A.slice_height; })
    cuda::launch_rows<Real>(on.stream(), cuda::rows_of(A, x), store, name);
  else if (A.slice_height == cuda::warp_size)
    cuda::launch_rows<Real>(on.stream(), cuda::SellRows<Real, Warp>{A, x, {}}, store, name);
  else
    cuda::launch_rows<Real>(on.stream(), cuda::SellRows<Real, Index>{A, x, A.slice_height}, store, name);
}

/// Never called: names every product, so that its code is emitted here.
void instances(const Cuda& on) {
  with_each_real([&]<class Real>(Real* x) {
    const auto both = [&](const auto& A) {
      product(on, A, x, StoreProduct<Real>{x});
      product(on, A, x, StoreResidual<Real>{x, x});
    };
    std::apply([&](const auto&... A) { (both(A), ...); }, SpmvMatrices<Real, Device>{});
  });
}

}  // namespace seidel::spmv_detail
