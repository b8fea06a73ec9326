// Products with a CSR matrix on a GPU of whose rows nothing is known: each warp takes a share of the entries and finds its rows.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/spmv/cuda_csr.hpp>
#include <seidel/kernels/spmv/row.hpp>
#include <seidel/kernels/spmv/tiles.hpp>

namespace seidel::spmv_detail {

/// A matrix so small that each warp has one share, of cost 768 at most (a row costs as much as its entries and 4 more, as in
/// tiles.hpp). There the warps of a block add up a long row together: faster than tiles, even where rows are uneven.
struct SmallShares {
  static constexpr int max_cost = 768, per_multiprocessor = 32;

  static bool fit(const Cuda& on, std::int64_t nrows, std::int64_t nnz) {
    return nnz + TilesView::cost_of_row * nrows < std::int64_t(max_cost) * per_multiprocessor * on.multiprocessors();
  }
};

/// Takes the counters that products with so many entries need; else the first product takes them.
inline void reserve_shares(const Cuda& on, std::int64_t nnz) { zero_counters(on, TilesView::arrivals_of(nnz)); }

/// store(row, sum of the row's products with x) for each row.
/// Cost  one launch; allocates nothing but scratch memory and counters; waits for nothing.
template <class Real, class Offset, class Store>
[[gnu::used]] void shares_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Real* x,
                                  const Store& store, OnlyIf only = {});

}  // namespace seidel::spmv_detail
