// Y = A X from CSR, row-major. A few threads take a row, a pair of columns each; a warp copies the entries of its rows to
// shared memory. Rows of up to 64 entries are summed from left to right, longer ones by warps (cuda_joined_rows.cuh up to 256
// entries, kernels/cuda_pieces.cuh above).
//
// Neighbouring threads read neighbouring columns of X, two at a time where that can be one access.
#include <algorithm>

#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/spmm/cuda_csr.hpp>
#include <seidel/kernels/spmm/cuda_joined_rows.cuh>
#include <seidel/kernels/spmm/cuda_layout.cuh>

namespace seidel::spmm_detail {

namespace {

constexpr int block_threads = piece_threads, warps = block_threads / warp_size;

/// The sum of the staged terms first ... last - 1, from left to right.
template <int batch, class Terms>
__device__ auto short_sum_of(const Terms& terms, int first, int last) {
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
  return s.of[0];
}

/// G threads per row; a warp takes as many rows as that makes, `turns` times.
template <class D, class Real, class Offset>
__global__ void __launch_bounds__(block_threads, D::V == 1 ? 8 : 6)
    short_rows(const __grid_constant__ Operands<Real, Offset> of) {
  extern __shared__ double shared[];
  constexpr int G = D::G, rows = warp_size / G, batch = 4;
  const int warp = threadIdx.x / warp_size, lane = int(threadIdx.x) % warp_size, mine = lane / G;
  const std::int64_t nrows = of.A.nrows, first_row = (std::int64_t(of.block()) * warps + warp) * (rows * of.turns);
  if (first_row >= nrows) return;
  // Each lane knows a row.
  const std::int64_t known = first_row + lane < nrows ? first_row + lane : nrows;
  const Offset known_first = __ldg(of.A.row_ptr.data() + known),
               known_last = __ldg(of.A.row_ptr.data() + (known < nrows ? known + 1 : nrows));

  Real* const values = reinterpret_cast<Real*>(shared) + warp * of.room;
  Index* const col_idx = reinterpret_cast<Index*>(reinterpret_cast<Real*>(shared) + warps * of.room) + warp * of.room;
  const StagedTerms<Real, D> terms{col_idx, {values}, Slice<Real, D>(of.X, of.slice())};
  for (int turn = 0; turn < of.turns; ++turn) {
    const int source = turn * rows + mine;
    const Offset first = __shfl_sync(whole_warp, known_first, source),
                 last = __shfl_sync(whole_warp, known_last, source);
    const bool apart = last - first > short_sum;
    if (__all_sync(whole_warp, apart)) continue;
    for (int begin = 0; begin < rows;) {
      const Staged staged = stage_rows<G>(of.A, Stage<Real>{values, col_idx, of.room}, begin, first, last, apart);
      begin = staged.next;
      wait_for_staged();
      if (staged.place >= 0 && first_row + source < nrows)
        terms.slice.store(of.Y, Index(first_row + source),
                          short_sum_of<batch>(terms, staged.place, staged.place + int(last - first)));
      __syncwarp();
    }
  }
}

/// A warp per piece, in turns; 256 entries at a time by way of shared memory.
template <class D, class Real, class Offset>
__global__ void __launch_bounds__(piece_threads) sum_pieces(const __grid_constant__ Operands<Real, Offset> of) {
  constexpr int T = warp_size / D::G, together = 256, batch = 4;
  __shared__ Real all_values[warps][together];
  __shared__ Index all_columns[warps][together];
  const int warp = threadIdx.x / warp_size, lane = int(threadIdx.x) % warp_size;
  const StagedTerms<Real, D> terms{all_columns[warp], {all_values[warp]}, Slice<Real, D>(of.X, of.slice())};
  const Index count = of.long_rows.counts->long_pieces;
  const Index all_warps = Index(of.blocks_per_slice()) * warps;
  for (Index at = of.block() * warps + warp; at < count; at += all_warps) {
    const Piece piece = of.long_rows.pieces[at];
    LaneSums<typename StagedTerms<Real, D>::Sum, T> sums;
    for (Index begin = 0; begin < piece.length; begin += together) {
      const int entries = piece.length - begin < together ? piece.length - begin : together;
      stage(all_columns[warp], of.A.col_idx.data() + piece.first + begin, entries);
      stage(all_values[warp], of.A.values.data() + piece.first + begin, entries);
      wait_for_staged();
      sums.template add<batch>(terms, lane / D::G, entries);
      __syncwarp();
    }
    const auto s = across_threads<T, D::G>(sums.total()).of[0];
    if (lane >= D::G) continue;
    if (piece.to >= 0)
      terms.slice.store(of.Y, piece.to, s);
    else
      terms.slice.each(s, [&](std::int64_t column, Real value) { of.slots(~piece.to, column) = value; });
  }
}

template <class Real>
struct StoreFinished {
  MultiVectorView<Real, Device> Y;
  __device__ void operator()(Index row, std::int64_t column, Real s) const {
    Y.data[row * Y.leading_dimension + column] = s;
  }
};

/// `Short` for rows of up to 64 entries, D for longer ones.
template <class D, class Short = D, class Real, class Offset>
void launch(const Cuda& on, Operands<Real, Offset> of) {
  const LongRowCounts room = of.long_rows.room;
  // A tenth more than so many rows have on average, between bounds.
  const auto room_for = [&](int nrows, int least, int most) {
    const double entries = 1.1 * nrows * double(of.A.nnz()) / double(of.A.nrows);
    return int(std::clamp(entries, double(least), double(most))) / warp_size * warp_size + warp_size;
  };
  if (room.long_pieces > 0) {
    using Narrow = Division<D::W, std::min(D::G, 8)>;  // a thread keeps the sums of D::G lanes in registers
    of.slices = Narrow::slices(of.X.ncols);
    sum_pieces<Narrow><<<of.slices * blocks_in_turns(on, room.long_pieces), piece_threads, 0, on.stream()>>>(of);
    check_launch("a product of long rows with several vectors");
  }
  if (room.moderate_pieces > 0) {
    of.slices = D::slices(of.X.ncols);
    of.room = room_for(max_joined, moderate_row, max_joined * moderate_row);
    const int bytes = warps * (of.room * int(sizeof(Real)) + moderate_row * int(sizeof(Index)));
    sum_joined_rows<D>
        <<<of.slices * blocks_for(room.moderate_pieces, max_joined * warps), piece_threads, bytes, on.stream()>>>(of);
    check_launch("a product of joined rows with several vectors");
  }
  constexpr int rows = warp_size / Short::G, entry = sizeof(Real) + sizeof(Index);
  constexpr std::int64_t min_warps_per_multiprocessor = 128;  // above that a warp takes several turns
  of.turns = int(std::clamp<std::int64_t>(of.A.nrows / (rows * min_warps_per_multiprocessor * on.multiprocessors()), 1,
                                          warp_size / rows));
  of.slices = Short::slices(of.X.ncols);
  of.room = room_for(rows, 32, 1000);
  short_rows<Short><<<of.slices * blocks_for(of.A.nrows, rows * of.turns * warps), block_threads,
                      warps * of.room * entry, on.stream()>>>(of);
  check_launch("a product with several vectors");
  launch_finish(on, of.long_rows, of.slots, StoreFinished<Real>{of.Y});
}

template <class Real, class Offset>
void row_major_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const LongRowsView& long_rows,
                       const MultiVectorView<const Real, Device>& X, const MultiVectorView<Real, Device>& Y) {
  require_near_rows(X);
  Scratch scratch(on);
  const Operands<Real, Offset> of{
      .A = A,
      .X = X,
      .Y = Y,
      .long_rows = long_rows,
      .slots = {.sums = scratch.take<Real>(long_rows.room.slots * X.ncols).data(), .columns = X.ncols}};
  if (!in_pairs(X))
    X.ncols <= 4 ? launch<Division<1, 4>>(on, of) : launch<Division<1, 16>>(on, of);
  else if (X.ncols <= 4)
    launch<Division<2, 2>>(on, of);
  else if (X.ncols <= 8)
    launch<Division<2, 4>>(on, of);
  else if (X.ncols <= 16)
    launch<Division<2, 8>>(on, of);
  else  // 32 columns at a time, which the first cache can keep
    launch<Division<2, 16>, Division<2, 8, 2>>(on, of);
}

template <class T>
MultiVectorView<T, Device> columns_of(const MultiVectorView<T, Device>& V, std::int64_t first, std::int64_t count) {
  return {V.nrows, count, V.leading_dimension, V.layout, V.data + V.at(0, first)};
}

}  // namespace

template <class Real, class Offset>
void join_rows(const Cuda& on, const CsrView<Real, Offset, Device>& A, const LongRowsView& long_rows) {
  if (long_rows.room.moderate_pieces == 0) return;
  join_pieces<<<blocks_for(long_rows.room.moderate_pieces, join_window * warps), piece_threads, 0, on.stream()>>>(
      A.col_idx.data(), long_rows);
  check_launch("joining rows with the same columns");
}

template <class Real, class Offset>
void csr_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const LongRowsView& long_rows,
                 const MultiVectorView<const Real, Device>& X, const MultiVectorView<Real, Device>& Y) {
  if (X.ncols == 0 || A.nrows == 0) return;
  const bool turns_x = X.layout == Layout::column_major, turns_y = Y.layout == Layout::column_major;
  if (!turns_x && !turns_y) return row_major_product(on, A, long_rows, X, Y);
  Scratch scratch(on);
  const std::int64_t width = std::min<std::int64_t>(X.ncols, tile_width);
  Real* const x = turns_x ? scratch.take<Real>(X.nrows * width).data() : nullptr;
  Real* const y = turns_y ? scratch.take<Real>(Y.nrows * width).data() : nullptr;
  for (std::int64_t first = 0; first < X.ncols; first += width) {
    const std::int64_t count = std::min(width, X.ncols - first);
    const auto X_part = columns_of(X, first, count);
    const auto Y_part = columns_of(Y, first, count);
    const MultiVectorView<Real, Device> X_turned{X.nrows, count, count, Layout::row_major, x},
        Y_turned{Y.nrows, count, count, Layout::row_major, y};
    if (turns_x) copy_layout<Real>(on, X_part, X_turned);
    row_major_product<Real, Offset>(on, A, long_rows, turns_x ? X_turned : X_part, turns_y ? Y_turned : Y_part);
    if (turns_y) copy_layout<Real>(on, Y_turned, Y_part);
  }
}

/// Never called: names every product, so that its code is emitted here.
template <class Real, class Offset>
void instances(const Cuda& on, const LongRowsView& rows, const MultiVectorView<Real, Device>& X) {
  const CsrView<Real, Offset, Device> A;
  join_rows(on, A, rows);
  csr_product<Real, Offset>(on, A, rows, X, X);
}
template void instances<double, std::int32_t>(const Cuda&, const LongRowsView&, const MultiVectorView<double, Device>&);
template void instances<double, std::int64_t>(const Cuda&, const LongRowsView&, const MultiVectorView<double, Device>&);
template void instances<float, std::int32_t>(const Cuda&, const LongRowsView&, const MultiVectorView<float, Device>&);
template void instances<float, std::int64_t>(const Cuda&, const LongRowsView&, const MultiVectorView<float, Device>&);

}  // namespace seidel::spmm_detail
