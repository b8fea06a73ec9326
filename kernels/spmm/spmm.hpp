// Sparse matrix times several vectors at once: the front door.
#pragma once
#include <seidel/formats/quantity.hpp>
#include <seidel/kernels/spmm/row.hpp>
#include <seidel/kernels/spmv/spmv.hpp>

namespace seidel {

namespace spmm_detail {

/// Y = A X. Shapes fit. Instantiated for CSR and ELL, double and float.
template <class Matrix>
[[gnu::used]] void product(const Serial& on, const Matrix& A,
                           const MultiVectorView<const typename Matrix::Real, Host>& X,
                           const MultiVectorView<typename Matrix::Real, Host>& Y);
template <class Matrix>
[[gnu::used]] void product(const OpenMP& on, const Matrix& A,
                           const MultiVectorView<const typename Matrix::Real, Host>& X,
                           const MultiVectorView<typename Matrix::Real, Host>& Y);
template <class Matrix>
[[gnu::used]] void product(const Cuda& on, const Matrix& A,
                           const MultiVectorView<const typename Matrix::Real, Device>& X,
                           const MultiVectorView<typename Matrix::Real, Device>& Y);

/// Errors  ShapeError when sizes differ, or when columns (or rows) would overlap.
template <class T, class Space>
void require_shape(const MultiVectorView<T, Space>& V, std::int64_t nrows, std::int64_t ncols, const char* operand) {
  spmv_detail::require_size(V.nrows, nrows, "spmm", operand);
  const std::int64_t least = V.layout == Layout::row_major ? ncols : nrows;
  if (V.ncols != ncols || (V.leading_dimension < least && nrows > 0 && ncols > 0))
    throw ShapeError(std::string("spmm: ") + operand + " has " + counted(V.ncols, "column") +
                     " and leading dimension " + std::to_string(V.leading_dimension) + ", expected " +
                     counted(ncols, "column") + " and at least " + std::to_string(least));
}

}  // namespace spmm_detail

/// Y = A X: column j of Y has the bits of spmv with column j of X.
///
/// Shapes  A is m x n in CSR or ELL; X is n x k, Y is m x k, each in a layout of its own; Y must not overlap X.
/// Cost    reads A and X once, writes Y, for k columns together; allocates nothing, synchronises nothing.
/// Repeats bit for bit on every back end, in both formats and layouts, and with any number of threads.
/// Errors  ShapeError.
template <Backend B, class Matrix>
requires std::is_same_v<typename Matrix::Space, SpaceOf<B>>
void spmm(const B& on, const Matrix& A,
          std::type_identity_t<MultiVectorView<const typename Matrix::Real, SpaceOf<B>>> X,
          std::type_identity_t<MultiVectorView<typename Matrix::Real, SpaceOf<B>>> Y) {
  spmm_detail::require_shape(X, A.ncols, Y.ncols, "X");
  spmm_detail::require_shape(Y, A.nrows, X.ncols, "Y");
  spmm_detail::product(on, A, X, Y);
}

}  // namespace seidel
