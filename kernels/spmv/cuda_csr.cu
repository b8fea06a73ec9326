// y = A x from CSR, by way of shared memory. Rows of up to 64 entries: a thread per row. Longer rows: a warp per piece; but 8
// threads per row of 65 ... 256 entries where rows are long on average, as in finite elements.
#include <algorithm>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/cuda_pieces.cuh>
#include <seidel/kernels/cuda_staged_rows.cuh>
#include <seidel/kernels/spmv/cuda_csr.hpp>

namespace seidel::spmv_detail {

using namespace seidel::cuda;

namespace {

constexpr int block_threads = 256, warps = block_threads / warp_size;

// How rows are taken, by their RowClass. Measured on an H200; docs/notes/products.md has the tables. The more shared memory, the
// more entries are under way, and the less of x the first cache keeps: above 164 KB per multiprocessor, random reads suffer.

struct LatticeRows {
  static constexpr int longest = short_sum;  // entries of a row; longer ones are taken in pieces
  static constexpr int batch = 4;            // elements of x under way per thread
  static constexpr int min_blocks = 6;       // per multiprocessor
  static constexpr int rows = 32;            // of the mean length for which a warp has room
  static constexpr int max_room = 416;       // entries for which it has room at most
};
struct GraphRows {
  static constexpr int longest = short_sum, batch = 8, min_blocks = 4, rows = 32, max_room = 416;
};
struct WideRows {
  static constexpr int longest = short_sum, batch = 4, min_blocks = 5, rows = 16, max_room = 520;
};
struct ElementRows {
  static constexpr int longest = moderate_row, batch = 4, min_blocks = 4, rows = 32, max_room = 336;
};
constexpr int piece_batch = 4;
constexpr const char* name = "a product with a sparse matrix";

template <class Real, class Offset, class Store>
struct Product {
  CsrView<Real, Offset, Device> A;
  const Real* x;
  Store store;
};

/// A warp per piece, in turns.
template <class Real, class Offset, class Store>
__global__ void __launch_bounds__(piece_threads, 8)
    sum_pieces(const __grid_constant__ Product<Real, Offset, Store> of, const __grid_constant__ LongRowsView rows,
               bool with_moderate, const __grid_constant__ SlotSums<Real> slots) {
  using One = std::integral_constant<int, 1>;
  let_next_begin();
  await_launch_before();
  const Index long_pieces = rows.counts->long_pieces;
  const Index count = long_pieces + (with_moderate ? rows.counts->moderate_pieces : 0);
  constexpr int piece_warps = piece_threads / warp_size;
  for (Index at = blockIdx.x * piece_warps + threadIdx.x / warp_size; at < count; at += gridDim.x * piece_warps) {
    const Piece piece = rows.piece(at, long_pieces);
    const RowTerms<Real, One, true> terms{
        of.A.col_idx.data() + piece.first, of.A.values.data() + piece.first, of.x, {}};
    LaneSums<Real, warp_size> sums;
    sums.template add<piece_batch>(terms, int(threadIdx.x) % warp_size, piece.length);
    const Real s = across_threads<warp_size, 1>(sums.total());
    if (threadIdx.x % warp_size != 0) continue;
    if (piece.to >= 0)
      of.store(piece.to, s);
    else
      slots(~piece.to, 0) = s;
  }
}

/// Staged terms of a row.
template <class Real>
struct StagedTerms {
  const Index* col_idx;
  const Real* values;
  const Real* x;
  __device__ int entry(int k) const { return k; }
  __device__ Real factor(int k) const { return __ldg(x + col_idx[k]); }
  __device__ Real add(int k, Real factor, Real s) const { return std::fma(values[k], factor, s); }
};

/// The sum of a row of up to 64 entries, from left to right.
template <int batch, class Real>
__device__ Real short_row_sum(const StagedTerms<Real>& terms, int from, int to) {
  Real s = 0;
  for (int k = from; k < to; k += batch) {
    Real factors[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (k + j < to) factors[j] = terms.factor(k + j);
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (k + j < to) s = terms.add(k + j, factors[j], s);
  }
  return s;
}

/// Sums of those of a warp's rows begin ... end - 1 that are staged and longer than 64 entries, 8 threads each.
template <class Real, class Store>
__device__ void sum_by_groups(int begin, int end, int place, int length, const StagedTerms<Real>& terms,
                              Index first_row, const Store& store) {
  constexpr int T = 8, groups = warp_size / T;
  const int lane = threadIdx.x % warp_size;
  for (; begin < end; begin += groups) {
    const int owner = begin + lane / T;
    const int from = __shfl_sync(whole_warp, place, owner % warp_size),
              entries = __shfl_sync(whole_warp, length, owner % warp_size);
    const bool is_mine = owner < end && from >= 0 && entries > short_sum;
    const StagedTerms<Real> its{terms.col_idx + from, terms.values + from, terms.x};
    LaneSums<Real, T> sums;
    sums.template add<sum_lanes / T>(its, lane % T, is_mine ? entries : 0);
    const Real s = across_threads<T, 1>(sums.total());
    if (is_mine && lane % T == 0) store(first_row + owner, s);
  }
}

/// Lists the rows of the lanes that are `apart`, in any order. By a warp.
__device__ void list(const LongRowsView& to, bool apart, Index row, std::int64_t first, std::int64_t length) {
  if (!__any_sync(whole_warp, apart)) return;
  await_launch_before();  // which cleared the counts
  const Index pieces = apart ? Index((length + sum_block - 1) / sum_block) : 0, end = warp_inclusive_sum(pieces);
  Index at = lane() == warp_size - 1 ? atomicAdd(&to.counts->long_pieces, end) : 0;
  at = __shfl_sync(whole_warp, at, warp_size - 1) + end - pieces;
  const bool is_cut = pieces > 1;
  const Index slot = is_cut ? atomicAdd(&to.counts->slots, pieces) : 0;
  if (is_cut) to.cut_rows[atomicAdd(&to.counts->cut_rows, 1)] = {row, slot, pieces};
  for (Index p = 0; p < pieces; ++p, first += sum_block, length -= sum_block) {
    Piece& piece = to.pieces[at + p];
    piece.first = first;
    piece.length = length < sum_block ? length : sum_block;
    piece.rows = 1;
    piece.to = is_cut ? ~(slot + p) : row;
  }
}

constexpr int pairs = 1024;

/// By a block with a thread per pair of neighbouring rows, spread over the matrix.
template <class Offset>
__global__ void __launch_bounds__(pairs)
    judge_rows(const Offset* row_ptr, const Index* col_idx, Index nrows, double max_even_difference, int max_far,
               LongRowCounts* counts, bool* irregular) {
  constexpr std::int64_t most = 1 << 20;  // a difference counts as no more, so that their sum fits
  constexpr Index far = 4096;             // elements of x, which the first cache does not keep
  let_next_begin();
  const std::int64_t row = std::int64_t(threadIdx.x) * nrows / pairs;
  const Offset first = row_ptr[row], middle = row_ptr[row + 1], last = row_ptr[row + 1 < nrows ? row + 2 : nrows];
  const std::int64_t length = middle - first, next = row + 1 < nrows ? last - middle : length;
  const bool is_far = length > 0 && last > middle && abs(col_idx[middle] - col_idx[first]) > far;
  const int nfar = __syncthreads_count(is_far);
  __shared__ unsigned sums[pairs / warp_size];
  const unsigned of_warp = warp_inclusive_sum(unsigned(min(abs(next - length), most)));
  constexpr int last_lane = warp_size - 1;
  if (lane() == last_lane) sums[threadIdx.x / warp_size] = of_warp;
  __syncthreads();
  if (threadIdx.x >= warp_size) return;
  const unsigned sum = warp_inclusive_sum(sums[lane()]);
  if (lane() != last_lane) return;
  *irregular = double(sum) > max_even_difference * pairs || nfar > max_far;
  *counts = {};
}

/// Rows by way of shared memory: a warp takes 32 rows, as many at a time as fit its `room`. Long ones are put on `to_list` if
/// that has a place for its counts.
template <class How, class Place, class Real, class Offset, class Store>
__global__ void __launch_bounds__(block_threads, How::min_blocks)
    staged_rows(const __grid_constant__ Product<Real, Offset, Store> of, int room,
                const __grid_constant__ LongRowsView to_list, OnlyIf only) {
  extern __shared__ int4 shared[];
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  const std::int64_t nrows = of.A.nrows, first_row = (std::int64_t(blockIdx.x) * warps + warp) * warp_size,
                     row = first_row + lane < nrows ? first_row + lane : nrows;
  if (first_row >= nrows) return;
  const Offset first = __ldg(of.A.row_ptr.data() + row),
               last = __ldg(of.A.row_ptr.data() + (row < nrows ? row + 1 : nrows));
  // The first block does for those who wait for this launch, and so for the counts, to have ended.
  if (only.irregular || blockIdx.x == 0) await_launch_before();
  if (!only.holds()) return;
  const bool apart = last - first > How::longest;
  const int length = apart ? 0 : int(last - first);
  if (to_list.counts) list(to_list, apart, Index(row), first, last - first);
  Real* const values = reinterpret_cast<Real*>(shared);
  Index* const col_idx = reinterpret_cast<Index*>(values + warps * room);
  std::uint64_t* const arrivals = reinterpret_cast<std::uint64_t*>(col_idx + warps * room);
  Place place;
  static_cast<Stage<Real>&>(place) = {values + warp * room, col_idx + warp * room, room};
  place.start(arrivals + warp);
  const StagedTerms<Real> terms{place.col_idx, place.values, of.x};
  for (int begin = 0; begin < warp_size;) {
    const Staged staged = stage_rows<1>(of.A, place, begin, first, last, apart);
    place.wait();
    if (staged.place >= 0 && length <= short_sum && row < nrows)
      of.store(Index(row), short_row_sum<How::batch>(terms, staged.place, staged.place + length));
    if constexpr (How::longest > short_sum)
      sum_by_groups(begin, staged.next, staged.place, length, terms, Index(first_row), of.store);
    begin = staged.next;
    __syncwarp();
  }
}

/// The store of a product of one column.
template <class Store>
struct StoreFinished {
  Store store;
  template <class Real>
  __device__ void operator()(Index row, std::int64_t, Real s) const {
    store(row, s);
  }
};

}  // namespace

template <class How, class Place, class Real, class Offset, class Store>
void launch_staged(const Cuda& on, const Product<Real, Offset, Store>& of, const LongRowsView& to_list, OnlyIf only) {
  const double mean = std::min(double(of.A.nnz()) / double(of.A.nrows), double(How::max_room));
  const int wanted = int(1.02 * How::rows * mean) / 8 * 8 + 8;
  const int room = std::clamp(wanted, How::longest + 8, How::max_room);  // a multiple of 8
  const int bytes = warps * (room * int(sizeof(Real) + sizeof(Index)) + int(sizeof(std::uint64_t)));
  const auto kernel = staged_rows<How, Place, Real, Offset, Store>;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             "asking for shared memory");
  static const bool can_begin_early = can_wait(kernel);
  launch_after(on, to_list.counts && can_begin_early, kernel,
               {.blocks = blocks_for(of.A.nrows, block_threads), .threads = block_threads, .shared_bytes = bytes}, name,
               of, room, to_list, only);
}

/// Whether the copy engine can read the entries of A.
template <class Real, class Offset>
bool is_aligned(const CsrView<Real, Offset, Device>& A) {
  return (reinterpret_cast<std::uintptr_t>(A.values.data()) | reinterpret_cast<std::uintptr_t>(A.col_idx.data())) %
             16 ==
         0;
}

template <class Real, class Offset>
void look_at_rows(const Cuda& on, const CsrView<Real, Offset, Device>& A, const LongRowsView& to_list,
                  bool* irregular) {
  const double max_even_difference = double(max_even_variation(A.nrows, A.nnz())) / double(A.nrows);
  const RowClass rows = row_class(A.nrows, A.nnz());
  const int max_far = rows == RowClass::wide || rows == RowClass::element ? pairs / 2 : pairs;
  launch(on, judge_rows<Offset>, A.nrows > 0, pairs, "looking at rows", A.row_ptr.data(), A.col_idx.data(), A.nrows,
         max_even_difference, max_far, to_list.counts, irregular);
}

template <class Real, class Offset, class Store>
void csr_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const LongRowsView& long_rows, Listing listing,
                 const Real* x, const Store& store, OnlyIf only) {
  if (A.nrows == 0) return;
  const Product<Real, Offset, Store> of{A, x, store};
  LongRowsView to_list = long_rows;
  if (listing == Listing::done) to_list.counts = nullptr;
  const RowClass rows = row_class(A.nrows, A.nnz());
  const bool has_engine = is_aligned(A);
  if (rows == RowClass::lattice)
    launch_staged<LatticeRows, Stage<Real>>(on, of, to_list, only);
  else if (rows == RowClass::element)
    has_engine ? launch_staged<ElementRows, EngineStage<Real>>(on, of, to_list, only)
               : launch_staged<ElementRows, Stage<Real>>(on, of, to_list, only);
  else if (rows == RowClass::wide && has_engine)
    launch_staged<WideRows, EngineStage<Real>>(on, of, to_list, only);
  else
    launch_staged<GraphRows, Stage<Real>>(on, of, to_list, only);

  Scratch scratch(on);
  const SlotSums<Real> slots{.sums = scratch.take<Real>(long_rows.room.slots).data()};
  const bool with_moderate = rows != RowClass::element;
  const std::int64_t pieces = long_rows.room.long_pieces + (with_moderate ? long_rows.room.moderate_pieces : 0);
  if (pieces == 0) return;
  const bool is_counted = listing == Listing::done;
  const auto kernel = sum_pieces<Real, Offset, Store>;
  static const bool can_begin_early = can_wait(kernel);
  launch_after(on, can_begin_early, kernel,
               {.blocks = blocks_in_turns(on, pieces, is_counted ? 100 : 16), .threads = piece_threads}, name, of,
               long_rows, with_moderate, slots);
  launch_finish(on, long_rows, is_counted, slots, StoreFinished<Store>{store});
}

/// Never called: names every product, so that its code is emitted here.
void instances(const Cuda& on, const LongRowsView& rows) {
  with_each_csr<Device>([&]<class Real>(const auto& A, Real* x) {
    look_at_rows(on, A, rows, nullptr);
    csr_product(on, A, rows, Listing::done, x, StoreProduct<Real>{x});
    csr_product(on, A, rows, Listing::done, x, StoreResidual<Real>{x, x});
  });
}

}  // namespace seidel::spmv_detail
