// The diagonal and its reciprocals, and who has none, on the device.
#include <seidel/solvers/preconditioners/diagonal.hpp>

#include <cmath>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/search.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel {

namespace {

/// The place of the diagonal entry in A.values, or -1.
__device__ std::int64_t diagonal_place(const auto& A, std::int64_t row) {
  const std::int64_t begin = A.row_ptr[row], end = A.row_ptr[row + 1];
  const std::int64_t place = begin + count_below(A.col_idx.data() + begin, end - begin, row);
  return place < end && A.col_idx[place] == row ? place : -1;
}

}  // namespace

template <class Real, class Offset>
Array<Real, Device> inverse_diagonal(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  require_square(A.nrows, A.ncols, "the diagonal");
  Array<Real, Device> inverse(on, A.nrows);
  // Whether all entries are finite is seen sooner by all threads together than by the thread of each row.
  const bool finite = std::isfinite(max_abs<Cuda, Real>(on, A.values));
  const std::int64_t bad =
      cuda::first_where(on, A.nrows, [A, finite, inverse = inverse.data()] __device__(std::int64_t row) {
        const std::int64_t place = finite ? diagonal_place(A, row) : std::int64_t(usable_diagonal(A, row));
        if (place < 0) return true;
        const Real reciprocal = 1 / A.values[place];
        inverse[row] = reciprocal;
        return !(reciprocal - reciprocal == 0);
      });
  if (bad < A.nrows) symgs_detail::refuse_row(on, A, bad);
  return inverse;
}

template <class Real, class Offset>
Array<Real, Device> diagonal(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  Array<Real, Device> diagonal(on, A.nrows);
  cuda::for_each(on, A.nrows, "gathering the diagonal", [A, diagonal = diagonal.data()] __device__(std::int64_t row) {
    diagonal[row] = A.values[diagonal_place(A, row)];
  });
  return diagonal;
}

/// Never called: names both functions, so that their code is emitted here.
void instances_of_diagonals(const Cuda& on) {
  with_each_csr<Device>([&](const auto& A, auto*) { inverse_diagonal(on, A), diagonal(on, A); });
}

}  // namespace seidel
