// Products of a CSR matrix with several vectors on a GPU, whose long rows have been listed.
#pragma once
#include <seidel/formats/multivector.hpp>
#include <seidel/kernels/spmv/long_rows.hpp>
#include <seidel/kernels/spmv/nodes.hpp>

namespace seidel::spmm_detail {

/// Whether columns 2 j and 2 j + 1 of a row-major X can be read at once.
template <class Real>
bool in_pairs(const MultiVectorView<const Real, Device>& X) {
  return X.ncols % 2 == 0 && X.leading_dimension % 2 == 0 &&
         reinterpret_cast<std::uintptr_t>(X.data) % (2 * sizeof(Real)) == 0;
}

/// Joins listed rows of 65 ... 256 entries that have the same columns, so that csr_product reads X once for them, and counts them.
/// Reads the columns of those that may have; waits for nothing.
template <class Real, class Offset>
[[gnu::used]] void join_rows(const Cuda& on, const CsrView<Real, Offset, Device>& A,
                             const spmv_detail::LongRowsView& long_rows);

/// What is known of a matrix beside its long rows.
struct Preparation {
  bool is_counted = false;  // their room is how many there are: no kernel has many blocks for rows that do not exist
  bool is_uneven = false;   // neighbouring rows differ in length by half of their entries on average
  const spmv_detail::Nodes* nodes = nullptr;
};

/// Y = A X. Rows of more than 64 entries must be listed. Allocates nothing but scratch memory, and waits for nothing. What is
/// column-major is brought into row-major scratch memory, or back from there, 32 columns at a time.
template <class Real, class Offset>
[[gnu::used]] void csr_product(const Cuda& on, const CsrView<Real, Offset, Device>& A,
                               const spmv_detail::LongRowsView& long_rows, const MultiVectorView<const Real, Device>& X,
                               const MultiVectorView<Real, Device>& Y, const Preparation& preparation = {});

}  // namespace seidel::spmm_detail
