// What the kernels of Y = A X share, row-major: X is divided into slices of a few columns, of which each thread takes some.
#pragma once
#include <limits>
#include <string>

#include <seidel/kernels/cuda_pieces.cuh>
#include <seidel/kernels/cuda_staged_rows.cuh>
#include <seidel/kernels/spmm/cuda_csr.hpp>
#include <seidel/kernels/spmm/row.hpp>

namespace seidel::spmm_detail {

using namespace seidel::cuda;
using spmv_detail::LongRowCounts;
using spmv_detail::LongRowsView;
using spmv_detail::Piece;

/// For the end of a kernel that began while the one launched before it ran: it ends after that.
__device__ inline void end_after_launch_before() {
  if (blockIdx.x == gridDim.x - 1) await_launch_before();
}

/// How a row is divided: G threads, each with V times W neighbouring columns, which are G W columns apart.
template <int W_, int G_, int V_ = 1>
struct Division {
  static constexpr int W = W_, G = G_, V = V_;
  static constexpr int columns = W * G * V;  // of a slice of X

  static int slices(std::int64_t ncols) { return int((ncols + columns - 1) / columns); }
};

/// Calls use(division) with how the rows of Y = A X are divided: up to 32 columns at a time, which the first cache can keep.
template <class Real>
void with_division(const MultiVectorView<const Real, Device>& X, const auto& use) {
  if (!in_pairs(X))
    X.ncols <= 4 ? use(Division<1, 4>()) : use(Division<1, 16>());
  else if (X.ncols <= 4)
    use(Division<2, 2>());
  else if (X.ncols <= 8)
    use(Division<2, 4>());
  else if (X.ncols <= 16)
    use(Division<2, 8>());
  else
    use(Division<2, 16>());
}

/// Throws ShapeError where a row of X lies farther from the next than Slice can tell.
template <class Real>
void require_near_rows(const MultiVectorView<const Real, Device>& X) {
  constexpr std::int64_t most = std::numeric_limits<unsigned>::max() / sizeof(Real);
  if (X.leading_dimension > most)
    throw ShapeError("spmm: X has the leading dimension " + std::to_string(X.leading_dimension) +
                     ", a GPU takes row-major ones of at most " + std::to_string(most));
}

template <class Real, class Offset>
struct Operands {
  CsrView<Real, Offset, Device> A;
  MultiVectorView<const Real, Device> X;
  MultiVectorView<Real, Device> Y;
  LongRowsView long_rows;
  SlotSums<Real> slots;
  int slices = 1;  // one after another, so that the caches hold what is read of X; A is read again for each
  int room = 0;    // entries of shared memory per warp
  int turns = 1;   // of the warps that take short rows

  __device__ unsigned blocks_per_slice() const { return gridDim.x / unsigned(slices); }
  /// Of this block, and which block of the slice it is.
  __device__ int slice() const { return int(blockIdx.x / blocks_per_slice()); }
  __device__ unsigned block() const { return blockIdx.x % blocks_per_slice(); }
};

/// The columns of one thread. One that has none, or not all, of its own reads others instead, so that no read needs a
/// condition.
template <class Real, class D>
class Slice {
 public:
  using Sum = Columns<Real, D::W * D::V>;

  __device__ Slice(const MultiVectorView<const Real, Device>& X, int slice)
      : column_(slice * std::int64_t(D::columns) + int(threadIdx.x) % D::G * D::W),
        ncols_(X.ncols),
        x_(X.data + (exists(0) ? column_ : 0)),
        row_bytes_(unsigned(X.leading_dimension * sizeof(Real))) {
#pragma unroll
    for (int v = 0; v < D::V; ++v) part_[v] = exists(v) ? v * (D::W * D::G) : 0;
  }
  /// From row `row` of X.
  __device__ Sum load(Index row) const {
    // One instruction finds a row whose number and whose distance have 32 bits.
    const Real* const at =
        reinterpret_cast<const Real*>(reinterpret_cast<const char*>(x_) + std::uint64_t(row_bytes_) * unsigned(row));
    Sum f;
#pragma unroll
    for (int v = 0; v < D::V; ++v) {
      if constexpr (D::W == 2) {
        using Pair = std::conditional_t<std::is_same_v<Real, double>, double2, float2>;
        const Pair pair = __ldg(reinterpret_cast<const Pair*>(at + part_[v]));
        f.at[v * D::W] = pair.x, f.at[v * D::W + 1] = pair.y;
      } else {
        f.at[v] = __ldg(at + part_[v]);
      }
    }
    return f;
  }
  /// visit(column, value) for each.
  __device__ void each(const Sum& s, const auto& visit) const {
#pragma unroll
    for (int v = 0; v < D::V; ++v)
#pragma unroll
      for (int w = 0; w < D::W; ++w)
        if (exists(v)) visit(column_ + v * (D::W * D::G) + w, s.at[v * D::W + w]);
  }
  /// To row `row` of Y.
  __device__ void store(const MultiVectorView<Real, Device>& Y, Index row, const Sum& s) const {
    Real* const y = Y.data + row * Y.leading_dimension;
    each(s, [y](std::int64_t at, Real value) { y[at] = value; });
  }
  __device__ static Sum add(Real a, const Sum& f, Sum s) {
#pragma unroll
    for (int j = 0; j < D::W * D::V; ++j) s.at[j] = std::fma(a, f.at[j], s.at[j]);
    return s;
  }

 private:
  __device__ bool exists(int part) const { return column_ + part * (D::W * D::G) < ncols_; }

  std::int64_t column_;  // the first
  std::int64_t ncols_;
  const Real* x_;  // row 0 of X there
  unsigned row_bytes_;
  int part_[D::V];
};

/// Staged terms of `rows` rows with the same columns, for the columns of one thread.
template <class Real, class D, int rows = 1>
struct StagedTerms {
  const Index* col_idx;
  const Real* values[rows];
  Slice<Real, D> slice;

  using Factor = typename Slice<Real, D>::Sum;
  using Sum = SumGroup<Factor, rows>;
  __device__ int entry(int k) const { return k; }
  __device__ Factor factor(int k) const { return slice.load(col_idx[k]); }
  __device__ Sum add(int k, const Factor& f, Sum s) const {
#pragma unroll
    for (int r = 0; r < rows; ++r) s.of[r] = slice.add(values[r][k], f, s.of[r]);
    return s;
  }
};

/// The sum of the staged terms first ... last - 1, from left to right.
template <int batch, class Terms>
__device__ auto sum_from_left(const Terms& terms, int first, int last) {
  typename Terms::Sum s{};
  const auto add = [&](int k, auto exists) {
    typename Terms::Factor factors[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (exists(k + j)) factors[j] = terms.factor(k + j);
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (exists(k + j)) s = terms.add(k + j, factors[j], s);
  };
  int k = first;
#pragma unroll 1
  for (; k + batch <= last; k += batch) add(k, [](int) { return true; });
  if (k < last) add(k, [last](int at) { return at < last; });
  return s;
}

}  // namespace seidel::spmm_detail
