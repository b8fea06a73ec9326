// y = A x from CSR. Rows of up to 64 entries: a thread per row. Where rows are short they are read as they stand; others go
// through shared memory. Longer rows: a warp per piece; but 8 threads per row of 65 ... 256 entries, by way of shared memory
// too, where rows are long on average, as in finite elements.
#include <algorithm>

#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/cuda_pieces.cuh>
#include <seidel/kernels/cuda_staged_rows.cuh>
#include <seidel/kernels/spmv/cuda_csr.hpp>

namespace seidel::spmv_detail {

using namespace seidel::cuda;

namespace {

/// Measured on an H200; docs/notes/products.md has the tables.
struct Tuning {
  static constexpr double max_direct_mean = 8;  // entries per row up to which they are read as they stand
  static constexpr double min_group_mean = 32;  // from which rows of 65 ... 256 entries are taken by groups of threads
  static constexpr int direct_batch = 4;        // entries under way per thread; 8 leave room for half as many threads
  static constexpr int staged_batch = 8;
  static constexpr int piece_batch = 4;
  static constexpr int group = 8;  // threads per row of 65 ... 256 entries
  static constexpr double staged_rows =
      17.6;  // of the mean length fit the shared memory of a warp: 0.66 ms on hpcg:192
             // for 0.69 with 35 and 0.72 with 12, since what is shared the first cache lacks
  static constexpr double grouped_rows = 4;  // the same where most rows are longer; 8 are 4 % slower on elasticity3d:96
  static constexpr int max_room = 1024;      // entries
};
constexpr int block_threads = 256, warps = block_threads / warp_size;

template <class Real, class Offset, class Store>
struct Product {
  CsrView<Real, Offset, Device> A;
  const Real* x;
  Store store;
};

/// A warp per piece, in turns.
template <class Real, class Offset, class Store>
__global__ void __launch_bounds__(piece_threads, 10)
    sum_pieces(const __grid_constant__ Product<Real, Offset, Store> of, const __grid_constant__ LongRowsView rows,
               bool with_moderate, const __grid_constant__ SlotSums<Real> slots) {
  using One = std::integral_constant<int, 1>;
  const Index long_pieces = rows.counts->long_pieces;
  const Index count = long_pieces + (with_moderate ? rows.counts->moderate_pieces : 0);
  constexpr int piece_warps = piece_threads / warp_size;
  for (Index at = blockIdx.x * piece_warps + threadIdx.x / warp_size; at < count; at += gridDim.x * piece_warps) {
    const Piece piece = rows.piece(at, long_pieces);
    const RowTerms<Real, One, true> terms{
        of.A.col_idx.data() + piece.first, of.A.values.data() + piece.first, of.x, {}};
    LaneSums<Real, warp_size> sums;
    sums.template add<Tuning::piece_batch>(terms, int(threadIdx.x) % warp_size, piece.length);
    const Real s = across_threads<warp_size, 1>(sums.total());
    if (threadIdx.x % warp_size != 0) continue;
    if (piece.to >= 0)
      of.store(piece.to, s);
    else
      slots(~piece.to, 0) = s;
  }
}

/// The sum of a row of up to 64 entries, from left to right.
template <int batch, class Real, class Factor>
__device__ Real short_row_sum(const Real* values, int from, int to, const Factor& factor) {
  Real s = 0;
  for (int k = from; k < to; k += batch) {
    Real factors[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (k + j < to) factors[j] = factor(k + j);
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (k + j < to) s = std::fma(values[k + j], factors[j], s);
  }
  return s;
}

/// Rows of up to 64 entries, a thread each.
template <class Real, class Offset, class Store>
__global__ void __launch_bounds__(block_threads, 6)
    direct_rows(const __grid_constant__ Product<Real, Offset, Store> of) {
  const std::int64_t p = std::int64_t(blockIdx.x) * block_threads + threadIdx.x;
  if (p >= of.A.nrows) return;
  const Offset first = __ldg(of.A.row_ptr.data() + p), length = __ldg(of.A.row_ptr.data() + p + 1) - first;
  if (length > short_sum) return;
  using One = std::integral_constant<int, 1>;
  const RowTerms<Real, One, false> terms{of.A.col_idx.data() + first, of.A.values.data() + first, of.x, {}};
  of.store(Index(p), thread_sum<Real, Tuning::direct_batch>(terms, int(length)));
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

/// Sums of staged rows of 65 ... 256 entries, 8 threads each: those of the threads with `is_mine`.
template <class Real, class Store>
__device__ void sum_by_groups(bool is_mine, int place, int length, const StagedTerms<Real>& terms, Index first_row,
                              const Store& store) {
  constexpr int T = Tuning::group;
  const int lane = threadIdx.x % warp_size;
  for (unsigned left = __ballot_sync(whole_warp, is_mine); left;) {
    int owner = -1;  // the thread whose row the group of this thread takes
#pragma unroll
    for (int group = 0; group < warp_size / T; ++group) {
      if (lane / T == group) owner = __ffs(int(left)) - 1;
      left &= left - 1;
    }
    const int from = __shfl_sync(whole_warp, place, owner & 31), n = __shfl_sync(whole_warp, length, owner & 31);
    const StagedTerms<Real> its{terms.col_idx + from, terms.values + from, terms.x};
    LaneSums<Real, T> sums;
    sums.template add<sum_lanes / T>(its, lane % T, owner < 0 ? 0 : n);
    const Real s = across_threads<T, 1>(sums.total());
    if (lane % T == 0 && owner >= 0) store(first_row + owner, s);
  }
}

/// Rows of up to `longest` entries by way of shared memory: 32 rows per warp, `room` entries at a time.
template <int longest, class Real, class Offset, class Store>
__global__ void __launch_bounds__(block_threads, 4)
    staged_rows(const __grid_constant__ Product<Real, Offset, Store> of, int room) {
  extern __shared__ double shared[];
  constexpr int batch = longest > short_sum ? Tuning::direct_batch : Tuning::staged_batch;
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  const std::int64_t nrows = of.A.nrows, first_row = (std::int64_t(blockIdx.x) * warps + warp) * warp_size,
                     row = first_row + lane < nrows ? first_row + lane : nrows;
  if (first_row >= nrows) return;
  const Offset first = __ldg(of.A.row_ptr.data() + row),
               last = __ldg(of.A.row_ptr.data() + (row < nrows ? row + 1 : nrows));
  const bool apart = last - first > longest;
  const int length = apart ? 0 : int(last - first);
  Real* const values = reinterpret_cast<Real*>(shared) + warp * room;
  Index* const col_idx = reinterpret_cast<Index*>(reinterpret_cast<Real*>(shared) + warps * room) + warp * room;
  for (int begin = 0; begin < warp_size;) {
    const Staged staged = stage_rows<1>(of.A, Stage<Real>{values, col_idx, room}, begin, first, last, apart);
    begin = staged.next;
    wait_for_staged();
    if (staged.place >= 0 && length <= short_sum && row < nrows)
      of.store(Index(row), short_row_sum<batch>(values, staged.place, staged.place + length,
                                                [&](int k) { return __ldg(of.x + col_idx[k]); }));
    if constexpr (longest > short_sum)
      sum_by_groups(staged.place >= 0 && length > short_sum, staged.place, length,
                    StagedTerms<Real>{col_idx, values, of.x}, Index(first_row), of.store);
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

int longest_unlisted_row(std::int64_t nrows, std::int64_t nnz) {
  return double(nnz) < Tuning::min_group_mean * double(nrows) ? short_sum : moderate_row;
}

/// `rows` of the mean length fit the shared memory of a warp.
template <int longest, class Real, class Offset, class Store>
void launch_staged(const Cuda& on, const Product<Real, Offset, Store>& of, double rows) {
  constexpr int entry = sizeof(Real) + sizeof(Index);
  const double mean = double(of.A.nnz()) / double(of.A.nrows);
  const int room =
      std::clamp(int(rows * mean) / warp_size * warp_size + warp_size, longest + warp_size, Tuning::max_room);
  const auto kernel = staged_rows<longest, Real, Offset, Store>;
  const int bytes = warps * room * entry;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             "asking for shared memory");
  kernel<<<blocks_for(of.A.nrows, block_threads), block_threads, bytes, on.stream()>>>(of, room);
}

template <class Real, class Offset, class Store>
void csr_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const LongRowsView& long_rows, const Real* x,
                 const Store& store) {
  if (A.nrows == 0) return;
  const char* const name = "a product with a sparse matrix";
  const Product<Real, Offset, Store> of{A, x, store};
  const bool by_groups = longest_unlisted_row(A.nrows, A.nnz()) == moderate_row;
  Scratch scratch(on);
  const SlotSums<Real> slots{.sums = scratch.take<Real>(long_rows.room.slots).data()};
  const std::int64_t pieces = long_rows.room.long_pieces + (by_groups ? 0 : long_rows.room.moderate_pieces);
  if (pieces > 0) {
    sum_pieces<<<blocks_in_turns(on, pieces), piece_threads, 0, on.stream()>>>(of, long_rows, !by_groups, slots);
    check_launch(name);
  }
  if (by_groups)
    launch_staged<moderate_row>(on, of, Tuning::grouped_rows);
  else if (double(A.nnz()) > Tuning::max_direct_mean * double(A.nrows))
    launch_staged<short_sum>(on, of, Tuning::staged_rows);
  else
    direct_rows<<<blocks_for(A.nrows, block_threads), block_threads, 0, on.stream()>>>(of);
  check_launch(name);
  launch_finish(on, long_rows, slots, StoreFinished<Store>{store});
}

/// Never called: names every product, so that its code is emitted here.
template <class Real, class Offset>
void instances(const Cuda& on, const LongRowsView& rows, Real* x) {
  const CsrView<Real, Offset, Device> A;
  csr_product(on, A, rows, x, StoreProduct<Real>{x});
  csr_product(on, A, rows, x, StoreResidual<Real>{x, x});
}
template void instances<double, std::int32_t>(const Cuda&, const LongRowsView&, double*);
template void instances<double, std::int64_t>(const Cuda&, const LongRowsView&, double*);
template void instances<float, std::int32_t>(const Cuda&, const LongRowsView&, float*);
template void instances<float, std::int64_t>(const Cuda&, const LongRowsView&, float*);

}  // namespace seidel::spmv_detail
