// Sparse matrix times several vectors at once: the front door.
#pragma once
#include <seidel/formats/multivector.hpp>
#include <seidel/kernels/spmm/row.hpp>
#include <seidel/kernels/spmv/spmv.hpp>

namespace seidel {

namespace spmm_detail {

/// Y = A X. Shapes fit. Instantiated for SpmmMatrices of double and float.
template <class Matrix>
[[gnu::used]] void product(const OpenMP& on, const Matrix& A,
                           const MultiVectorView<const typename Matrix::Real, Host>& X,
                           const MultiVectorView<typename Matrix::Real, Host>& Y);
template <class Matrix>
[[gnu::used]] void product(const Cuda& on, const Matrix& A,
                           const MultiVectorView<const typename Matrix::Real, Device>& X,
                           const MultiVectorView<typename Matrix::Real, Device>& Y);

}  // namespace spmm_detail

/// Y = A X: column j of Y has the bits of spmv with column j of X.
///
/// Shapes  A is m x n in CSR, ELL or BSR; X is n x k, Y is m x k, each in a layout of its own; Y must not overlap X.
/// Cost    reads A and X once, writes Y, for k columns together; synchronises nothing; allocates as spmv. On a GPU, CSR of 2^20
///         entries and more: with column-major X or Y scratch memory of up to 32 of their columns.
/// Repeats bit for bit on every back end, in every format and layout, and with any number of threads.
/// Errors  ShapeError; on a GPU also where rows of X are 4 GiB apart and more.
template <Backend B, class Matrix>
  requires std::is_same_v<typename Matrix::Space, SpaceOf<B>>
void spmm(const B& on, const Matrix& A,
          std::type_identity_t<MultiVectorView<const typename Matrix::Real, SpaceOf<B>>> X,
          std::type_identity_t<MultiVectorView<typename Matrix::Real, SpaceOf<B>>> Y) {
  require_shape(X, A.ncols, Y.ncols, "spmm", "X");
  require_shape(Y, A.nrows, X.ncols, "spmm", "Y");
  spmm_detail::product(on, A, X, Y);
}

}  // namespace seidel
