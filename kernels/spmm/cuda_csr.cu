// Y = A X from CSR, row-major. A few threads take a row, a pair of columns each; a warp copies the entries of its rows to
// shared memory. Rows of up to 64 entries are summed from left to right, longer ones by warps (cuda_joined_rows.cuh up to 256
// entries, kernels/cuda_pieces.cuh above).
//
// Neighbouring threads read neighbouring columns of X, two at a time where that can be one access.
#include <algorithm>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/spmm/cuda_csr.hpp>
#include <seidel/kernels/spmm/cuda_joined_rows.cuh>
#include <seidel/kernels/spmm/cuda_nodes.cuh>
#include <seidel/kernels/spmm/cuda_sorted_rows.cuh>

namespace seidel::spmm_detail {

namespace {

constexpr int block_threads = piece_threads, warps = block_threads / warp_size;

/// G threads per row; a warp takes as many rows as that makes, `turns` times.
template <class D, class Real, class Offset>
__global__ void __launch_bounds__(block_threads, D::V == 1 ? 8 : 6)
    short_rows(const __grid_constant__ Operands<Real, Offset> of) {
  extern __shared__ double shared[];
  constexpr int G = D::G, rows = warp_size / G, batch = 4;
  const int warp = threadIdx.x / warp_size, lane = int(threadIdx.x) % warp_size, mine = lane / G;
  const std::int64_t nrows = of.A.nrows, first_row = (std::int64_t(of.block()) * warps + warp) * (rows * of.turns);
  if (first_row >= nrows) return end_after_launch_before();
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
                          sum_from_left<batch>(terms, staged.place, staged.place + int(last - first)).of[0]);
      __syncwarp();
    }
  }
  end_after_launch_before();
}

/// Threads that take a piece: at most one per lane of the one order of sums and share of a slice.
template <class D>
inline constexpr int threads_of_piece = std::min(piece_threads, sum_lanes* D::G);

/// A block per piece, in turns; 256 entries at a time by way of shared memory, the next ones under way meanwhile.
template <class D, class Real, class Offset>
__global__ void __launch_bounds__(threads_of_piece<D>, 1024 / threads_of_piece<D>)
    sum_pieces(const __grid_constant__ Operands<Real, Offset> of) {
  constexpr int threads = threads_of_piece<D>, T = threads / D::G, all_warps = threads / warp_size, together = 256,
                batch = 4;
  using Terms = StagedTerms<Real, D>;
  __shared__ Real values[2][together];
  __shared__ Index col_idx[2][together];
  __shared__ typename Terms::Factor of_warps[all_warps][warp_size];
  const int warp = threadIdx.x / warp_size, lane = int(threadIdx.x) % warp_size;
  const Slice<Real, D> slice(of.X, of.slice());
  let_next_begin();
  const Index count = of.long_rows.counts->long_pieces;
  for (Index at = of.block(); at < count; at += of.blocks_per_slice()) {
    const Piece piece = of.long_rows.pieces[at];
    const auto stage_from = [&](int begin) {
      constexpr int share = together / all_warps;
      const int entries = min(share, piece.length - begin - warp * share), buffer = begin / together % 2;
      stage(col_idx[buffer] + warp * share, of.A.col_idx.data() + piece.first + begin + warp * share, entries);
      stage(values[buffer] + warp * share, of.A.values.data() + piece.first + begin + warp * share, entries);
    };
    LaneSums<typename Terms::Sum, T> sums;
    stage_from(0);
    for (int begin = 0; begin < piece.length; begin += together) {
      const int buffer = begin / together % 2;
      wait_for_staged();
      __syncthreads();
      if (begin + together < piece.length) stage_from(begin + together);
      sums.template add<batch>(Terms{col_idx[buffer], {values[buffer]}, slice}, int(threadIdx.x) / D::G,
                               min(together, piece.length - begin));
    }
    of_warps[warp][lane] = sums.total().of[0];
    __syncthreads();
    if (warp > 0) continue;
#pragma unroll
    for (int width = all_warps / 2; width; width /= 2)
#pragma unroll
      for (int w = 0; w < width; ++w) of_warps[w][lane] = of_warps[w][lane] + of_warps[w + width][lane];
    const auto s = across_threads<warp_size / D::G, D::G>(of_warps[0][lane]);
    if (lane >= D::G) continue;
    if (piece.to >= 0)
      slice.store(of.Y, piece.to, s);
    else
      slice.each(s, [&](std::int64_t column, Real value) { of.slots(~piece.to, column) = value; });
  }
  end_after_launch_before();
}

template <class Real>
struct StoreFinished {
  MultiVectorView<Real, Device> Y;
  __device__ void operator()(Index row, std::int64_t column, Real s) const {
    Y.data[row * Y.leading_dimension + column] = s;
  }
};

/// `Short` for rows of up to 64 entries, D for longer ones.
template <class D, class Short, class Real, class Offset>
void launch(const Cuda& on, Operands<Real, Offset> of, const Preparation& preparation) {
  if (const Nodes* const nodes = preparation.nodes; nodes && nodes_pay(*nodes)) {
    const NodeOperands<Real> by_nodes{.count = nodes->count(),
                                      .first_block = nodes->first_block.data(),
                                      .blocks = nodes->columns.data(),
                                      .values = of.A.values.data(),
                                      .longest = nodes->longest,
                                      .X = of.X,
                                      .Y = of.Y};
    return nodes->rows == 3 ? launch_nodes<D, 3>(on, by_nodes) : launch_nodes<D, 4>(on, by_nodes);
  }
  const LongRowCounts room = of.long_rows.room;
  // A tenth more than so many rows have on average, between bounds.
  const auto room_for = [&](int nrows, int least, int most) {
    const double entries = 1.1 * nrows * double(of.A.nnz()) / double(of.A.nrows);
    return int(std::clamp(entries, double(least), double(most))) / warp_size * warp_size + warp_size;
  };
  static const bool can_overlap = can_wait(short_rows<Short, Real, Offset>);
  bool is_first = true;
  // Each kernel has rows of its own, and so may begin when the last blocks of the one before have.
  const auto begin = [&](const auto& kernel, std::int64_t blocks, int threads, int bytes) {
    launch_after(on, can_overlap && !is_first, kernel,
                 {.blocks = of.slices * blocks, .threads = threads, .shared_bytes = bytes},
                 "a product with several vectors", of);
    is_first = false;
  };
  of.slices = D::slices(of.X.ncols);
  const int per_multiprocessor = preparation.is_counted ? 100 : 24;  // blocks that take pieces in turns
  if (room.long_pieces > 0)
    begin(sum_pieces<D, Real, Offset>,
          std::min<std::int64_t>(room.long_pieces, per_multiprocessor * std::int64_t(on.multiprocessors())),
          threads_of_piece<D>, 0);
  if (room.moderate_pieces > 0) {
    const bool some_joined = 4 * std::int64_t(room.joined_rows) > room.moderate_pieces;
    of.room = some_joined ? room_for(max_joined, moderate_row, max_joined * moderate_row) : moderate_row;
    begin(some_joined ? sum_joined_rows<D, max_joined, Real, Offset> : sum_joined_rows<D, 1, Real, Offset>,
          blocks_in_turns(on, room.moderate_pieces / (some_joined ? max_joined : 1) + 1, per_multiprocessor),
          piece_threads, warps * (of.room * int(sizeof(Real)) + moderate_row * int(sizeof(Index))));
  }
  constexpr int rows = warp_size / Short::G, entry = sizeof(Real) + sizeof(Index);
  const bool sorts = preparation.is_uneven && Short::columns > 4;
  const std::int64_t min_warps =
      (sorts ? 32 : 128) * std::int64_t(on.multiprocessors());  // above that a warp takes several turns
  of.turns = int(std::clamp<std::int64_t>(of.A.nrows / (rows * min_warps), 1, warp_size / rows));
  of.slices = Short::slices(of.X.ncols);
  of.room = room_for(rows, 32, 1000);
  begin(sorts ? sum_sorted_rows<Short, Real, Offset> : short_rows<Short, Real, Offset>,
        blocks_for(of.A.nrows, rows * of.turns * warps), block_threads, sorts ? 0 : warps * of.room * entry);
  launch_finish(on, of.long_rows, preparation.is_counted, of.slots, StoreFinished<Real>{of.Y});
}

template <class Real, class Offset>
void row_major_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const LongRowsView& long_rows,
                       const MultiVectorView<const Real, Device>& X, const MultiVectorView<Real, Device>& Y,
                       const Preparation& preparation) {
  require_near_rows(X);
  Scratch scratch(on);
  const Operands<Real, Offset> of{
      .A = A,
      .X = X,
      .Y = Y,
      .long_rows = long_rows,
      .slots = {.sums = scratch.take<Real>(long_rows.room.slots * X.ncols).data(), .columns = X.ncols}};
  with_division(X, [&]<class D>(D) {
    launch<D, std::conditional_t<D::columns == 32, Division<2, 8, 2>, D>>(on, of, preparation);
  });
}

// Columns of a multivector brought from one layout into the other.

constexpr int tile_width = 32, tile_threads = 256;

/// to = from, 32 rows per block, by way of a tile in shared memory: neighbouring threads read and write neighbouring elements.
template <class Real>
__global__ void __launch_bounds__(tile_threads)
    copy_tiles(const __grid_constant__ MultiVectorView<const Real, Device> from,
               const __grid_constant__ MultiVectorView<Real, Device> to) {
  __shared__ Real tile[tile_width][tile_width + 1];
  const int fast = threadIdx.x % tile_width, first = threadIdx.x / tile_width;
  const std::int64_t first_row = blockIdx.x * std::int64_t(tile_width);
  const bool by_rows = from.layout == Layout::row_major;
  for (int slow = first; slow < tile_width; slow += tile_threads / tile_width) {
    const std::int64_t row = first_row + (by_rows ? slow : fast), column = by_rows ? fast : slow;
    if (row < from.nrows && column < from.ncols) tile[slow][fast] = from(row, column);
  }
  __syncthreads();
  for (int slow = first; slow < tile_width; slow += tile_threads / tile_width) {
    const std::int64_t row = first_row + (by_rows ? fast : slow), column = by_rows ? slow : fast;
    if (row < to.nrows && column < to.ncols) to(row, column) = tile[fast][slow];
  }
}

/// to = from: at most 32 columns, one of them row-major, the other column-major.
template <class Real>
void copy_layout(const Cuda& on, const MultiVectorView<const Real, Device>& from,
                 const MultiVectorView<Real, Device>& to) {
  if (from.nrows == 0 || from.ncols == 0) return;
  copy_tiles<<<blocks_for(from.nrows, tile_width), tile_threads, 0, on.stream()>>>(from, to);
  check_launch("bringing columns into another layout");
}

template <class T>
MultiVectorView<T, Device> columns_of(const MultiVectorView<T, Device>& V, std::int64_t first, std::int64_t count) {
  return {V.nrows, count, V.leading_dimension, V.layout, V.data + V.at(0, first)};
}

}  // namespace

template <class Real, class Offset>
void join_rows(const Cuda& on, const CsrView<Real, Offset, Device>& A, const LongRowsView& long_rows) {
  if (long_rows.room.moderate_pieces == 0) return;
  launch_after(
      on, false, join_pieces,
      {.blocks = blocks_in_turns(on, long_rows.room.moderate_pieces / join_window + 1, 16), .threads = piece_threads},
      "joining rows with the same columns", A.col_idx.data(), long_rows);
}

template <class Real, class Offset>
void csr_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const LongRowsView& long_rows,
                 const MultiVectorView<const Real, Device>& X, const MultiVectorView<Real, Device>& Y,
                 const Preparation& preparation) {
  if (X.ncols == 0 || A.nrows == 0) return;
  const bool turns_x = X.layout == Layout::column_major, turns_y = Y.layout == Layout::column_major;
  if (!turns_x && !turns_y) return row_major_product(on, A, long_rows, X, Y, preparation);
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
    row_major_product<Real, Offset>(on, A, long_rows, turns_x ? X_turned : X_part, turns_y ? Y_turned : Y_part,
                                    preparation);
    if (turns_y) copy_layout<Real>(on, Y_turned, Y_part);
  }
}

/// Never called: names both functions, so that their code is emitted here.
void instances(const Cuda& on, const LongRowsView& rows) {
  with_each_csr<Device>([&](const auto& A, auto*) { join_rows(on, A, rows), csr_product(on, A, rows, {}, {}, {}); });
}

}  // namespace seidel::spmm_detail
