// Y = A X from CSR, row-major. A few threads take a row, a pair of columns each; a warp copies the entries of its rows to
// shared memory. Rows of up to 64 entries are summed from left to right, longer ones by warps (kernels/cuda_pieces.cuh).
//
// Neighbouring threads read neighbouring columns of X, two at a time where that can be one access.
#include <algorithm>

#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/cuda_pieces.cuh>
#include <seidel/kernels/cuda_staged_rows.cuh>
#include <seidel/kernels/spmm/cuda_csr.hpp>
#include <seidel/kernels/spmm/row.hpp>

namespace seidel::spmm_detail {

using namespace seidel::cuda;
using spmv_detail::LongRowsView;
using spmv_detail::Piece;

namespace {

constexpr int block_threads = piece_threads, warps = block_threads / warp_size;

/// How a row is divided: G threads with W neighbouring columns each.
template <int W_, int G_>
struct Division {
  static constexpr int W = W_, G = G_;
  static constexpr int columns = W * G;  // of a slice of X

  static int slices(std::int64_t ncols) { return int((ncols + columns - 1) / columns); }
};

template <class Real, class Offset>
struct Operands {
  CsrView<Real, Offset, Device> A;
  MultiVectorView<const Real, Device> X;
  MultiVectorView<Real, Device> Y;
  LongRowsView long_rows;
  SlotSums<Real> slots;
  int slices = 1;  // blocks that follow each other take different columns of the same rows, so that A is read once
  int room = 0;    // entries of shared memory per warp
};

/// The columns of one thread.
template <class Real, class D>
struct Slice {
  using Sum = Columns<Real, D::W>;
  std::int64_t column;  // the first
  bool exists;

  __device__ Slice(int slice, std::int64_t ncols)
      : column(slice * std::int64_t(D::columns) + int(threadIdx.x) % D::G * D::W), exists(column < ncols) {}
  /// From a row of X, whose element of the first column is *at.
  __device__ Sum load(const Real* at) const {
    Sum f;
    if constexpr (D::W == 2) {
      using Pair = std::conditional_t<std::is_same_v<Real, double>, double2, float2>;
      if (exists) {
        const Pair pair = __ldg(reinterpret_cast<const Pair*>(at));
        f.at[0] = pair.x, f.at[1] = pair.y;
      }
    } else if (exists) {
      f.at[0] = __ldg(at);
    }
    return f;
  }
  /// visit(column, value) for each.
  template <class Visit>
  __device__ void each(const Sum& s, const Visit& visit) const {
#pragma unroll
    for (int w = 0; w < D::W; ++w)
      if (exists) visit(column + w, s.at[w]);
  }
  __device__ static Sum add(Real a, const Sum& f, Sum s) {
#pragma unroll
    for (int j = 0; j < D::W; ++j) s.at[j] = std::fma(a, f.at[j], s.at[j]);
    return s;
  }
};

/// Staged terms of a piece for the columns of one thread.
template <class Real, class D>
struct ColumnsTerms {
  const Index* col_idx;
  const Real* values;
  const Real* x;  // the first column of this thread, in row 0
  std::int64_t leading_dimension;
  Slice<Real, D> slice;

  using Sum = typename Slice<Real, D>::Sum;
  __device__ int entry(int k) const { return k; }
  __device__ Sum factor(int k) const { return slice.load(x + col_idx[k] * leading_dimension); }
  __device__ Sum add(int k, const Sum& f, const Sum& s) const { return slice.add(values[k], f, s); }
};

/// G threads per row.
template <class D, class Real, class Offset>
__global__ void __launch_bounds__(block_threads) short_rows(const __grid_constant__ Operands<Real, Offset> of) {
  extern __shared__ double shared[];
  constexpr int G = D::G, rows = warp_size / G, batch = 4;
  const int warp = threadIdx.x / warp_size, mine = int(threadIdx.x) % warp_size / G;
  const std::int64_t nrows = of.A.nrows, first_row = (std::int64_t(blockIdx.x / of.slices) * warps + warp) * rows,
                     row = first_row + mine < nrows ? first_row + mine : nrows;
  if (first_row >= nrows) return;
  const Offset first = __ldg(of.A.row_ptr.data() + row),
               last = __ldg(of.A.row_ptr.data() + (row < nrows ? row + 1 : nrows));
  const bool apart = last - first > short_sum;
  const int length = apart ? 0 : int(last - first);
  const Slice<Real, D> slice(int(blockIdx.x % of.slices), of.X.ncols);
  const Real* const x = of.X.data + slice.column;

  Real* const values = reinterpret_cast<Real*>(shared) + warp * of.room;
  Index* const col_idx = reinterpret_cast<Index*>(reinterpret_cast<Real*>(shared) + warps * of.room) + warp * of.room;
  for (int begin = 0; begin < rows;) {
    const Staged staged = stage_rows<G>(of.A, Stage<Real>{values, col_idx, of.room}, begin, first, last, apart);
    begin = staged.next;
    wait_for_staged();
    if (staged.place >= 0 && row < nrows) {
      using Sum = typename Slice<Real, D>::Sum;
      Sum s{};
      const int to = staged.place + length;
#pragma unroll 1
      for (int k = staged.place; k < to; k += batch) {
        Sum factors[batch];
#pragma unroll
        for (int j = 0; j < batch; ++j)
          if (k + j < to) factors[j] = slice.load(x + col_idx[k + j] * of.X.leading_dimension);
#pragma unroll
        for (int j = 0; j < batch; ++j)
          if (k + j < to) s = slice.add(values[k + j], factors[j], s);
      }
      Real* const y = of.Y.data + row * of.Y.leading_dimension;
      slice.each(s, [y](std::int64_t column, Real value) { y[column] = value; });
    }
    __syncwarp();
  }
}

/// A warp per piece, in turns; 256 entries at a time by way of shared memory.
template <class D, class Real, class Offset>
__global__ void __launch_bounds__(piece_threads) sum_pieces(const __grid_constant__ Operands<Real, Offset> of) {
  constexpr int T = warp_size / D::G, together = 256, batch = 4;
  __shared__ Real all_values[warps][together];
  __shared__ Index all_columns[warps][together];
  const int warp = threadIdx.x / warp_size, lane = int(threadIdx.x) % warp_size;
  using Sum = typename Slice<Real, D>::Sum;
  const Slice<Real, D> slice(int(blockIdx.x % of.slices), of.X.ncols);
  const ColumnsTerms<Real, D> terms{all_columns[warp], all_values[warp], of.X.data + slice.column,
                                    of.X.leading_dimension, slice};
  const Index long_pieces = of.long_rows.counts->long_pieces,
              count = long_pieces + of.long_rows.counts->moderate_pieces;
  const Index all_warps = Index(gridDim.x) / of.slices * warps;
  for (Index at = blockIdx.x / of.slices * warps + warp; at < count; at += all_warps) {
    const Piece piece = of.long_rows.piece(at, long_pieces);
    LaneSums<Sum, T> sums;
    for (Index begin = 0; begin < piece.length; begin += together) {
      const int entries = piece.length - begin < together ? piece.length - begin : together;
      stage(all_columns[warp], of.A.col_idx.data() + piece.first + begin, entries);
      stage(all_values[warp], of.A.values.data() + piece.first + begin, entries);
      wait_for_staged();
      sums.template add<batch>(terms, lane / D::G, entries);
      __syncwarp();
    }
    const Sum s = across_threads<T, D::G>(sums.total());
    if (lane >= D::G) continue;
    if (piece.to >= 0) {
      Real* const y = of.Y.data + piece.to * of.Y.leading_dimension;
      slice.each(s, [y](std::int64_t column, Real value) { y[column] = value; });
    } else {
      slice.each(s, [&](std::int64_t column, Real value) { of.slots(~piece.to, column) = value; });
    }
  }
}

template <class Real>
struct StoreFinished {
  MultiVectorView<Real, Device> Y;
  __device__ void operator()(Index row, std::int64_t column, Real s) const {
    Y.data[row * Y.leading_dimension + column] = s;
  }
};

template <class D, class Real, class Offset>
void launch(const Cuda& on, Operands<Real, Offset> of) {
  if (of.long_rows.room.pieces() > 0) {
    using Narrow = Division<D::W, std::min(D::G, 8)>;  // a thread keeps the sums of D::G lanes in registers
    of.slices = Narrow::slices(of.X.ncols);
    sum_pieces<Narrow>
        <<<of.slices * blocks_in_turns(on, of.long_rows.room.pieces()), piece_threads, 0, on.stream()>>>(of);
    check_launch("a product of long rows with several vectors");
  }
  constexpr int rows = warp_size / D::G, entry = sizeof(Real) + sizeof(Index);
  const double entries =
      1.1 * rows * double(of.A.nnz()) / double(of.A.nrows);  // a tenth more than a warp has on average
  of.room = std::clamp(int(entries) / warp_size * warp_size + warp_size, 64, 1000);
  of.slices = D::slices(of.X.ncols);
  short_rows<D>
      <<<of.slices * blocks_for(of.A.nrows, rows * warps), block_threads, warps * of.room * entry, on.stream()>>>(of);
  check_launch("a product with several vectors");
  launch_finish(on, of.long_rows, of.slots, StoreFinished<Real>{of.Y});
}

}  // namespace

template <class Real, class Offset>
void csr_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const LongRowsView& long_rows,
                 const MultiVectorView<const Real, Device>& X, const MultiVectorView<Real, Device>& Y) {
  if (X.ncols == 0 || A.nrows == 0) return;
  Scratch scratch(on);
  const Operands<Real, Offset> of{
      .A = A,
      .X = X,
      .Y = Y,
      .long_rows = long_rows,
      .slots = {.sums = scratch.take<Real>(long_rows.room.slots * X.ncols).data(), .columns = X.ncols}};
  const bool in_pairs = X.ncols % 2 == 0 && X.leading_dimension % 2 == 0 &&
                        reinterpret_cast<std::uintptr_t>(X.data) % (2 * sizeof(Real)) == 0;
  if (!in_pairs)
    X.ncols <= 4 ? launch<Division<1, 4>>(on, of) : launch<Division<1, 16>>(on, of);
  else if (X.ncols <= 4)
    launch<Division<2, 2>>(on, of);
  else if (X.ncols <= 8)
    launch<Division<2, 4>>(on, of);
  else if (X.ncols <= 16)
    launch<Division<2, 8>>(on, of);
  else  // 32 columns at a time, which the first cache can keep
    launch<Division<2, 16>>(on, of);
}

template void csr_product(const Cuda&, const CsrView<double, std::int32_t, Device>&, const LongRowsView&,
                          const MultiVectorView<const double, Device>&, const MultiVectorView<double, Device>&);
template void csr_product(const Cuda&, const CsrView<double, std::int64_t, Device>&, const LongRowsView&,
                          const MultiVectorView<const double, Device>&, const MultiVectorView<double, Device>&);
template void csr_product(const Cuda&, const CsrView<float, std::int32_t, Device>&, const LongRowsView&,
                          const MultiVectorView<const float, Device>&, const MultiVectorView<float, Device>&);
template void csr_product(const Cuda&, const CsrView<float, std::int64_t, Device>&, const LongRowsView&,
                          const MultiVectorView<const float, Device>&, const MultiVectorView<float, Device>&);

}  // namespace seidel::spmm_detail
