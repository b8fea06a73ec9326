// Products with a CSR matrix on a GPU of whose rows nothing is known: each warp takes a share of the entries and finds its rows.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/kernels/spmv/row.hpp>

namespace seidel::spmv_detail {

/// store(row, sum of the row's products with x) for each row.
/// Cost  one launch; allocates nothing but scratch memory and counters; waits for nothing.
template <class Real, class Offset, class Store>
[[gnu::used]] void shares_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Real* x,
                                  const Store& store);

}  // namespace seidel::spmv_detail
