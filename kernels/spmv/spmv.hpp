// Sparse matrix times vector, and the residual: the front door.
#pragma once
#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/kernels/blas1/blas1.hpp>
#include <seidel/kernels/spmv/row.hpp>

namespace seidel {

namespace spmv_detail {

/// For each row of A: store(row, sum of its products with x). Instantiated for SpmvMatrices of double and float.
template <class Matrix, class Store>
[[gnu::used]] void product(const OpenMP& on, const Matrix& A, const typename Matrix::Real* x, const Store& store);
template <class Matrix, class Store>
[[gnu::used]] void product(const Cuda& on, const Matrix& A, const typename Matrix::Real* x, const Store& store);

inline void require_size(std::int64_t size, std::int64_t expected, const char* operation, const char* operand) {
  if (size != expected)
    throw ShapeError(std::string(operation) + ": " + operand + " has " + counted(size, "entry", "entries") +
                     ", the matrix needs " + std::to_string(expected));
}

}  // namespace spmv_detail

/// y = A x, in the one order of kernels/sum.hpp.
///
/// Shapes  A is m x n in CSR, ELL, SELL or BSR; x has n entries, y has m; y must not overlap x.
/// Cost    reads A and x, writes y; synchronises nothing; allocates nothing, but on the host the columns of a row of blocks
///         that has more than 2048 entries, and on a GPU, for a CSR matrix, scratch memory for a list of its
///         long rows, which is made each time, or for pieces of them; a Product lists once (kernels/products/product.hpp).
/// Repeats bit for bit on every back end, in every format and with any number of threads.
/// Errors  ShapeError.
template <Backend B, class Matrix>
  requires std::is_same_v<typename Matrix::Space, SpaceOf<B>>
void spmv(const B& on, const Matrix& A, Span<const typename Matrix::Real, SpaceOf<B>> x,
          Span<typename Matrix::Real, SpaceOf<B>> y) {
  spmv_detail::require_size(x.size(), A.ncols, "spmv", "x");
  spmv_detail::require_size(y.size(), A.nrows, "spmv", "y");
  spmv_detail::product(on, A, x.data(), StoreProduct<typename Matrix::Real>{y.data()});
}

/// r = b - A x, row by row: the sum of spmv, then one subtraction. r may be b, but not x.
/// Cost    reads A, x, b, writes r. Else as spmv: b and r have m entries.
template <Backend B, class Matrix>
  requires std::is_same_v<typename Matrix::Space, SpaceOf<B>>
void residual(const B& on, const Matrix& A, Span<const typename Matrix::Real, SpaceOf<B>> x,
              Span<const typename Matrix::Real, SpaceOf<B>> b, Span<typename Matrix::Real, SpaceOf<B>> r) {
  spmv_detail::require_size(x.size(), A.ncols, "residual", "x");
  spmv_detail::require_size(b.size(), A.nrows, "residual", "b");
  spmv_detail::require_size(r.size(), A.nrows, "residual", "r");
  spmv_detail::product(on, A, x.data(), StoreResidual<typename Matrix::Real>{b.data(), r.data()});
}

}  // namespace seidel
