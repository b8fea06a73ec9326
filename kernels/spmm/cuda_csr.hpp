// Products of a CSR matrix with several vectors on a GPU, row-major, whose long rows have been listed.
#pragma once
#include <seidel/formats/multivector.hpp>
#include <seidel/kernels/spmv/long_rows.hpp>

namespace seidel::spmm_detail {

/// Y = A X for row-major X and Y. Rows of more than 64 entries must be listed. Allocates nothing but scratch memory; waits
/// for nothing.
template <class Real, class Offset>
void csr_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const spmv_detail::LongRowsView& long_rows,
                 const MultiVectorView<const Real, Device>& X, const MultiVectorView<Real, Device>& Y);

}  // namespace seidel::spmm_detail
