// Products with a CSR matrix on a GPU whose long rows have been listed.
#pragma once
#include <seidel/kernels/spmv/long_rows.hpp>
#include <seidel/kernels/spmv/row.hpp>

namespace seidel::spmv_detail {

/// Rows of more entries than this must be listed for csr_product.
int longest_unlisted_row(std::int64_t nrows, std::int64_t nnz);

/// store(row, sum of the row's products with x) for each row. Allocates nothing but scratch memory; waits for nothing.
template <class Real, class Offset, class Store>
[[gnu::used]] void csr_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const LongRowsView& long_rows,
                               const Real* x, const Store& store);

}  // namespace seidel::spmv_detail
