// y = A x from CSR of whose rows nothing is known. A warp takes a share of the entries, one after another whatever rows they are
// in: neighbouring lanes fetch neighbouring entries and the elements of x for them into shared memory. From there rows of up to
// 64 entries are added by a lane each, longer ones by the warp; in small matrices those of more than 256 entries by the warps of a
// block together.
#include <limits>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/cuda_streamed.cuh>
#include <seidel/kernels/spmv/cuda_csr.hpp>
#include <seidel/kernels/spmv/cuda_cut_rows.cuh>
#include <seidel/kernels/spmv/cuda_listed_pieces.cuh>
#include <seidel/kernels/spmv/shares.hpp>

namespace seidel::spmv_detail {

using namespace seidel::cuda;

namespace {

// Measured on an H200; docs/notes/products.md has the tables. What is not shared memory is first cache, which keeps x: that counts
// in large matrices, as the time that an entry takes does in small ones.

struct LargeMatrix {
  static constexpr int warps = 10, min_blocks = 3;  // of a block, per multiprocessor: 64 registers
  static constexpr int batch = 4;                   // entries under way per lane
  static constexpr int shared_percent = 28;  // of what a multiprocessor has for shared memory and the first cache
  static constexpr bool by_block = false;    // whether a block lists rows of more than 256 entries
};
struct SmallMatrix {
  static constexpr int warps = 8, min_blocks = 4, batch = 8, shared_percent = 70;
  static constexpr bool by_block = true;
};
static_assert(SmallMatrix::warps * SmallMatrix::min_blocks == SmallShares::per_multiprocessor);
constexpr const char* name = "a product with a sparse matrix";

using Cost = std::int64_t;  // a row costs as much as its entries and 4 more
// Where each warp has a share of so much, the last eighth and more is shared out in small ones, to warps that are done sooner: on
// average no more than four per warp, since each block costs, even where the product is not done.
constexpr Cost min_even = 4096, min_small = 512;
constexpr double large_part = 0.85, small_part = (1 - large_part) / 4;

/// What each warp takes: rows before which there is a cost of begin(i) to begin(i + 1) - 1; of a row of more than 2048 entries,
/// which is cut into pieces of 2048, the pieces that begin there. The first shares are those of warps that all run at once; the
/// others are small, for warps that are done sooner.
struct Shares {
  Cost large, small;
  std::int64_t count_of_large, count;

  __device__ Cost begin(std::int64_t i) const {
    return i < count_of_large ? i * large : count_of_large * large + (i - count_of_large) * small;
  }
};

template <class Real, class Offset, class Store>
struct Product {
  CsrView<Real, Offset, Device> A;
  const Real* x;
  Store store;
  Shares shares;
  PieceSums<Real> pieces;
  OnlyIf only;
};

/// Rows begin ... end - 1, among which is the first before which there is a given cost; or it is row `end`.
struct RowRange {
  std::int64_t begin, end;
};

/// What there is before rows 0, step, 2 step, ..., one for each thread of a block: where its warps begin to look for rows.
template <int threads>
struct Landmarks {
  Cost before[threads];

  static __device__ std::int64_t step(Index nrows) { return nrows / threads + 1; }
  template <class Offset>
  __device__ void find(const Offset* row_ptr, Index nrows) {
    const std::int64_t row = threadIdx.x * step(nrows);
    before[threadIdx.x] =
        row < nrows ? cost_before(__ldg(row_ptr + row), Index(row)) : std::numeric_limits<Cost>::max();
  }
  /// By a warp.
  __device__ RowRange range_of(Cost cost, Index nrows) const {
    int count = 0;
#pragma unroll
    for (int k = 0; k < threads; k += warp_size) count += __popc(__ballot_sync(whole_warp, before[k + lane()] < cost));
    if (count == 0) return {0, 0};
    return {(count - 1) * step(nrows) + 1, min(std::int64_t(nrows), count * step(nrows))};
  }
};

/// One of the 32 rows up to the last before which there is less than `cost`; row 0 if there is none. By a warp.
template <class Offset>
__device__ Index row_before(const Offset* row_ptr, RowRange range, Cost cost) {
  while (range.end - range.begin >= warp_size) {
    const std::int64_t step = (range.end - range.begin) / warp_size + 1, row = range.begin + lane() * step;
    const bool is_before = row < range.end && cost_before(__ldg(row_ptr + row), Index(row)) < cost;
    const int count = __popc(__ballot_sync(whole_warp, is_before));
    if (count == 0) break;
    range.end = min(range.end, range.begin + count * step);
    range.begin += (count - 1) * step + 1;
  }
  return Index(max(range.begin - 1, std::int64_t(0)));
}

/// A lane's row, and which of its entries its warp adds: from ... to - 1 of the matrix.
template <class Offset>
struct RowPart {
  Offset first, last, from, to;
  bool is_inside;  // the row begins before the end of the share
  bool is_mine;    // all of it, or pieces

  __device__ RowPart(Offset first_, Offset last_, bool exists, Cost before, Cost begin, Cost end)
      : first(first_), last(last_), from(first_), is_inside(exists && before < end) {
    const auto after_pieces = [&](Cost cost) {  // entries of the pieces that begin before that cost
      return Offset(min((cost - before + sum_block - 1) / sum_block * sum_block, Cost(length())));
    };
    if (before < begin) from = is_cut() ? Offset(first + after_pieces(begin)) : last;
    to = is_inside && is_cut() ? Offset(first + after_pieces(end)) : last;
    is_mine = is_inside && (before >= begin || from < to);
  }
  __device__ Index length() const { return Index(last - first); }
  __device__ bool is_long() const { return length() > short_sum; }
  __device__ bool is_cut() const { return length() > sum_block; }
};

/// Entries of the matrix in shared memory, with their elements of x.
template <int batch, class Real, class Offset>
struct Chunk {
  static constexpr int room = batch * warp_size;
  Factors<Real>* factors;
  Offset first = 0;
  bool is_empty = true;

  /// Where those entries before `to` end that are here.
  __device__ Offset end(Offset to) const { return first + min(Offset(room), Offset(to - first)); }
  /// The entries from `from` on. What stands in places from `limit` on does not matter.
  template <class Store>
  __device__ void fetch(const Product<Real, Offset, Store>& of, Offset from, Offset limit) {
    first = from, is_empty = false;
    Factors<Real> mine[batch];
    Index columns[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const Offset at = first + min(Offset(j * warp_size + lane()), Offset(limit - 1 - first));
      mine[j].value = streamed(of.A.values.data() + at);
      columns[j] = streamed(of.A.col_idx.data() + at);
    }
#pragma unroll
    for (int j = 0; j < batch; ++j) mine[j].x = __ldg(of.x + columns[j]);
    __syncwarp();
#pragma unroll
    for (int j = 0; j < batch; ++j) factors[j * warp_size + lane()] = mine[j];
    __syncwarp();
  }
  /// s and the entries from, from + 1, ... below `to`, in that order.
  __device__ Real add(Real s, Offset from, Offset to) const {
    return add_terms(factors, int(from - first), int(to - first), s);
  }
  /// The same for every 32nd of them: those of this lane, if `passed` terms of the row come before.
  __device__ Real add_lanes(Real s, Offset from, Offset to, Index passed) const {
#pragma unroll 2
    for (int k = int(from - first) + ((lane() - passed) & (warp_size - 1)); k < int(to - first); k += warp_size)
      s = std::fma(factors[k].value, factors[k].x, s);
    return s;
  }
};

/// What a block of small shares may list.
template <class How, class Offset>
using Listed = ListedPieces<Offset, How::warps * SmallShares::max_cost>;

/// Adds the rows of a share, which begins within `range`; How::by_block: lists those of more than 256 entries.
template <class How, class Entries, class Real, class Offset, class Store>
__device__ __forceinline__ void sum_share(const Product<Real, Offset, Store>& of, std::int64_t share, RowRange range,
                                          Entries chunk, Listed<How, Offset>* listed) {
  const Cost begin = of.shares.begin(share), end = of.shares.begin(share + 1);
  const Offset* const row_ptr = of.A.row_ptr.data();
  const Index nrows = of.A.nrows;
  const auto first_entry = [&](Index row) { return __ldg(row_ptr + min(row, nrows)); };
  Real lane_sum = 0;  // of a long row
  Index row = row_before(row_ptr, range, begin) + lane();
  Offset first = first_entry(row), last = first_entry(row + 1);
  for (bool is_end = false; !is_end; row += warp_size) {  // 32 rows at a time
    const RowPart<Offset> part(first, last, row < nrows, cost_before(first, row), begin, end);
    is_end = !__all_sync(whole_warp, part.is_inside);
    if (!is_end) first = first_entry(row + warp_size), last = first_entry(row + warp_size + 1);  // under way meanwhile
    const unsigned mine = __ballot_sync(whole_warp, part.is_mine);
    if (mine == 0) continue;
    const bool is_apart = part.is_mine && part.length() > moderate_row;
    if (How::by_block && is_apart) listed->add(row, part.from, part.to);
    const unsigned apart = __ballot_sync(whole_warp, is_apart);
    unsigned left_out = apart;
    unsigned long_rows = __ballot_sync(whole_warp, part.is_mine && part.is_long() && !is_apart);
    Offset from = __shfl_sync(whole_warp, part.from, __ffs(int(mine)) - 1);
    const Offset to = __shfl_sync(whole_warp, part.to, 31 - __clz(int(mine)));
    Real s = 0;
    while (from < to) {  // what of them is in one chunk
      const int out = __ffs(int(left_out)) - 1;
      const Offset next_out = left_out ? __shfl_sync(whole_warp, part.from, out) : to;
      if (from == next_out) {
        from = __shfl_sync(whole_warp, part.to, out);
        left_out &= left_out - 1;
        chunk.is_empty = true;
        continue;
      }
      const Offset limit = is_end || left_out ? next_out : Offset(of.A.nnz());
      if (chunk.is_empty || from - chunk.first == Entries::room)
        chunk.fetch(of, chunk.is_empty ? from - from % warp_size : from, limit);
      const Offset until = chunk.end(next_out);
      if (!part.is_long()) s = chunk.add(s, max(part.from, from), min(part.to, until));
#pragma unroll 1
      while (long_rows) {
        const int who = __ffs(int(long_rows)) - 1;
        const Offset its_from = max(__shfl_sync(whole_warp, part.from, who), from),
                     its_to = __shfl_sync(whole_warp, part.to, who);
        if (its_from >= until) break;
        const Index passed = Index(its_from - __shfl_sync(whole_warp, part.first, who));
        lane_sum = chunk.add_lanes(passed == 0 ? 0 : lane_sum, its_from, min(its_to, until), passed);
        if (its_to > until) break;
        const Real sum = warp_sum(lane_sum);
        if (lane() == 0) of.store(row + who, sum);
        long_rows &= long_rows - 1;
      }
      from = until;
    }
    if (part.is_mine && !part.is_long()) of.store(row, s);
    if constexpr (!How::by_block) {
#pragma unroll 1
      for (unsigned left = apart; left; left &= left - 1) {
        const int who = __ffs(int(left)) - 1;
        const Offset its_first = __shfl_sync(whole_warp, part.first, who),
                     its_to = __shfl_sync(whole_warp, part.to, who);
        const Index length = __shfl_sync(whole_warp, part.length(), who);
#pragma unroll 1
        for (Offset at = __shfl_sync(whole_warp, part.from, who); at < its_to; at += sum_block) {
          const Real sum = piece_sum(of.A, ElementOf<Real>{of.x}, at, int(min(Offset(sum_block), its_to - at)));
          if (length > sum_block)
            finish_piece(of.pieces, of.store, row - lane() + who, its_first, length,
                         Index((at - its_first) / sum_block), sum);
          else if (lane() == 0)
            of.store(row - lane() + who, sum);
        }
      }
    }
  }
}

template <class How, class Real, class Offset, class Store>
__global__ void __launch_bounds__(How::warps* warp_size, How::min_blocks)
    sum_shares(const __grid_constant__ Product<Real, Offset, Store> of) {
  let_next_begin();
  if (of.only.irregular) await_launch_before();
  if (!of.only.holds()) return;
  using Entries = Chunk<How::batch, Real, Offset>;
  __shared__ union {
    Landmarks<How::warps * warp_size> landmarks;
    Factors<Real> places[How::warps][Entries::room];
  } shared;
  const int warp = int(threadIdx.x) / warp_size;
  const std::int64_t share = std::int64_t(blockIdx.x) * How::warps + warp;
  const Entries chunk{.factors = shared.places[warp]};
  const Index nrows = of.A.nrows;
  if constexpr (How::by_block) {
    __shared__ Listed<How, Offset> listed;
    if (threadIdx.x == 0) listed.count = 0;
    shared.landmarks.find(of.A.row_ptr.data(), nrows);
    __syncthreads();
    const RowRange range = shared.landmarks.range_of(of.shares.begin(share), nrows);
    __syncthreads();
    if (share < of.shares.count) sum_share<How>(of, share, range, chunk, &listed);
    __syncthreads();
    sum_listed<How::batch, How::warps>(of, listed, shared.places[0]);
  } else {
    if (share >= of.shares.count) return;
    Listed<How, Offset>* const none = nullptr;
    sum_share<How>(of, share, RowRange{0, nrows}, chunk, none);
  }
}

Shares shares_of(Cost total, std::int64_t at_once) {
  const Cost even = total / at_once + 1;  // each warp has one
  if (even < min_even) return {.large = even, .small = even, .count_of_large = at_once, .count = total / even + 1};
  const Cost large = Cost(large_part * double(even)), small = std::max(min_small, Cost(small_part * double(even)));
  return {.large = large,
          .small = small,
          .count_of_large = at_once,
          .count = at_once + (total - at_once * large) / small + 1};
}

}  // namespace

template <class How, class Real, class Offset, class Store>
void launch_shares(const Cuda& on, Product<Real, Offset, Store> of) {
  of.shares =
      shares_of(cost_before(of.A.nnz(), of.A.nrows), std::int64_t(on.multiprocessors()) * How::min_blocks * How::warps);
  const auto kernel = sum_shares<How, Real, Offset, Store>;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, How::shared_percent),
             "dividing the first cache");
  static const bool can_begin_early = can_wait(kernel);
  launch_after(on, of.only.irregular && can_begin_early, kernel,
               {.blocks = blocks_for(of.shares.count, How::warps), .threads = How::warps * warp_size}, name, of);
}

template <class Real, class Offset, class Store>
void shares_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Real* x, const Store& store,
                    OnlyIf only) {
  if (A.nrows == 0) return;
  Scratch scratch(on);
  const std::int64_t counters = TilesView::arrivals_of(A.nnz());
  const PieceSums<Real> pieces{.arrivals = zero_counters(on, counters),
                               .slots = scratch.take<Real>(2 * counters).data()};
  const Product<Real, Offset, Store> of{A, x, store, {}, pieces, only};
  SmallShares::fit(on, A.nrows, A.nnz()) ? launch_shares<SmallMatrix>(on, of) : launch_shares<LargeMatrix>(on, of);
}

/// Never called: names every product, so that its code is emitted here.
void instances_of_shares(const Cuda& on) {
  with_each_csr<Device>([&]<class Real>(const auto& A, Real* x) {
    shares_product(on, A, x, StoreProduct<Real>{x});
    shares_product(on, A, x, StoreResidual<Real>{x, x});
  });
}

}  // namespace seidel::spmv_detail
