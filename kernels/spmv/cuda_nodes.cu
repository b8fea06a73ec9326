// y = A x where A consists of full blocks (nodes.hpp), each element of x taken once for all rows of a node. Long rows: by a warp,
// whose lanes are those of the one order of sums. Short rows: a thread each, by way of shared memory.
#include <algorithm>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/constant.hpp>
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/kernels/cuda_staged_rows.cuh>
#include <seidel/kernels/cuda_streamed.cuh>
#include <seidel/kernels/spmv/nodes.hpp>
#include <seidel/kernels/spmv/row.hpp>

namespace seidel::spmv_detail {

using namespace seidel::cuda;

namespace {

// Measured on an H200; docs/notes/products.md has the tables.
constexpr int threads = 128, warps = threads / warp_size;
constexpr int min_blocks = 8;  // per multiprocessor: 64 registers

/// For nodes of b rows.
template <int b>
struct Tuning {
  static constexpr int long_batch = b == 6 ? 1 : 3;  // columns of A under way per lane, for b rows
  static constexpr int max_long_nodes = 15 / b;      // of a warp: the warps of a block read what lies together
  static constexpr int max_nodes = warp_size / b;    // of a warp, whose lanes have a short row each
  static constexpr int factor_room =
      (b == 3 || b == 4 ? 480 : 640) / (b + 1);  // elements of x in shared memory per warp
  static constexpr int room = b * factor_room;   // and values
  static_assert(room >= b * short_sum, "a node of short rows fits");
};

/// What the rows of A tell.
struct Found {
  Index unfit, longest;
};

constexpr int found_per_warp = 16;  // nodes: so that few warps read and write what is found

/// The first node that this warp looks at.
__device__ inline std::int64_t first_looked_at() {
  return (std::int64_t(blockIdx.x) * threads + threadIdx.x) / warp_size * found_per_warp;
}

/// Whether all of A are full blocks of b x b.
template <class Offset>
__global__ void __launch_bounds__(threads)
    prove_blocks(const Span<const Offset, Device> row_ptrs, const Index* col_idx, int b, Found* found) {
  volatile Found* const so_far = found;
  if (so_far->unfit) return;
  const std::int64_t first_node = first_looked_at(), nodes = (row_ptrs.size() - 1) / b;
  bool fits = true;
  Index longest = 0;
  for (std::int64_t node = first_node; node < min(first_node + found_per_warp, nodes); ++node) {
    const Offset* const row_ptr = row_ptrs.data() + node * b;
    const Offset first = row_ptr[0], length = row_ptr[1] - first;
    fits &= length % b == 0 && length <= sum_block;
    for (int r = 1; r < b; ++r) fits &= row_ptr[r + 1] - row_ptr[r] == length;
    if (!fits) break;
    for (int k = lane() * b; k < length; k += warp_size * b) {
      const Index* const of_block = col_idx + first + k;
      const Index column = of_block[0];
      fits &= column % b == 0;
      for (int r = 0; r < b; ++r)
        for (int c = 0; c < b; ++c) fits &= of_block[r * length + c] == column + c;
    }
    longest = max(longest, Index(length));
  }
  if (!fits) so_far->unfit = 1;
  if (lane() == 0) atomicMax(&found->longest, longest);
}

template <class Offset>
__global__ void __launch_bounds__(threads) write_blocks(const Span<const Offset, Device> row_ptrs, const Index* col_idx,
                                                        int b, Index* first_block, Index* columns) {
  const std::int64_t first_node = first_looked_at(), nodes = (row_ptrs.size() - 1) / b;
  for (std::int64_t node = first_node; node < min(first_node + found_per_warp, nodes); ++node) {
    const Offset first = row_ptrs[node * b], length = row_ptrs[node * b + 1] - first;
    const Index block = Index(first / (b * b)), count = Index(length / b);
    for (Index k = lane(); k < count; k += warp_size) columns[block + k] = col_idx[first + k * b] / b;
    if (lane() == 0) first_block[node] = block;
    if (lane() == 0 && node + 1 == nodes) first_block[nodes] = block + count;
  }
}

template <class Real, class Store>
struct Product {
  Index count;               // of nodes
  const Index* first_block;  // of each
  const Index* columns;      // of blocks
  const Real* values;
  const Real* x;
  Store store;
};

/// The sums of N rows over the lanes: that of row r in the lane whose five bits are those of r in reverse.
template <int width = warp_size / 2, class Real, int N>
__device__ Real sums_over_lanes(const Real (&s)[N]) {
  const auto from = [](Real value) { return __shfl_xor_sync(whole_warp, value, width); };
  const bool is_upper = lane() & width;
  Real halves[(N + 1) / 2];
#pragma unroll
  for (int r = 0; r + 1 < N; r += 2) halves[r / 2] = (is_upper ? s[r + 1] : s[r]) + from(is_upper ? s[r] : s[r + 1]);
  if constexpr (N % 2 == 1) halves[N / 2] = s[N - 1] + from(s[N - 1]);
  if constexpr (width > 1)
    return sums_over_lanes<width / 2>(halves);
  else
    return halves[0];
}

/// A node whose rows have `length` entries each.
template <class Real>
struct Node {
  const Real* values;
  const Index* columns;
  int length;
};

template <int b, class Real>
__device__ __forceinline__ void ask_for_columns(const Node<Real>& node, int begin,
                                                Index (&column)[Tuning<b>::long_batch]) {
#pragma unroll
  for (int j = 0; j < Tuning<b>::long_batch; ++j)
    column[j] = streamed(node.columns + unsigned(min(begin + j * warp_size + lane(), node.length - 1)) / b);
}
/// Adds the terms begin ... of the rows to a lane's sums, as many as are under way at once. `column`: of the blocks of the lane's
/// terms.
template <int b, class Real>
__device__ __forceinline__ void add_terms(const Node<Real>& node, int begin,
                                          const Index (&column)[Tuning<b>::long_batch], const Real* x, Real (&s)[b],
                                          const auto& meanwhile) {
  constexpr int batch = Tuning<b>::long_batch;
  Real value[batch][b], factor[batch];
  const auto place = [&](int j) { return min(begin + j * warp_size + lane(), node.length - 1); };
#pragma unroll
  for (int j = 0; j < batch; ++j) factor[j] = __ldg(x + (column[j] * b + unsigned(place(j)) % b));
#pragma unroll
  for (int r = 0; r < b; ++r)
#pragma unroll
    for (int j = 0; j < batch; ++j) value[j][r] = streamed(node.values + r * node.length + place(j));
  meanwhile();
#pragma unroll
  for (int j = 0; j < batch; ++j)
    if (begin + j * warp_size + lane() < node.length)
#pragma unroll
      for (int r = 0; r < b; ++r) s[r] = std::fma(value[j][r], factor[j], s[r]);
}

/// The nodes first_node, first_node + warps, ... whose rows are long, one after another. The columns of the next one are under way
/// while one is added.
template <int b, class Real, class Store>
__device__ void long_rows(const Product<Real, Store>& of, std::int64_t first_node, int count) {
  constexpr int batch = Tuning<b>::long_batch;
  const std::int64_t mine = first_node + lane() * warps;
  const bool is_node = lane() < count && mine < of.count;
  const Index* const first_block = of.first_block + (is_node ? mine : 0);
  const Index my_first = __ldg(first_block);
  const int my_length = is_node ? (__ldg(first_block + 1) - my_first) * b : 0;
  unsigned left = __ballot_sync(whole_warp, my_length > short_sum);
  if (!left) return;
  int who;
  Node<Real> next;
  Index column[batch];
  const auto go_to_next = [&] {
    who = __ffs(int(left)) - 1;
    left &= left - 1;
    const Index first = __shfl_sync(whole_warp, my_first, who);
    next = {of.values + first * std::int64_t(b * b), of.columns + first, __shfl_sync(whole_warp, my_length, who)};
    ask_for_columns<b>(next, 0, column);
  };
  go_to_next();
  for (bool is_more = true; is_more;) {
    const Index row = Index(first_node + who * warps) * b;
    const Node<Real> node = next;
    is_more = left != 0;
    Real s[b] = {};
    add_terms<b>(node, 0, column, of.x, s, [&] {
      if (is_more) go_to_next();
    });
#pragma unroll 1
    for (int begin = batch * warp_size; begin < node.length; begin += batch * warp_size) {
      Index further[batch];
      ask_for_columns<b>(node, begin, further);
      add_terms<b>(node, begin, further, of.x, s, [] {});
    }
    const Real sum = sums_over_lanes(s);
    if (const int r = int(__brev(unsigned(lane())) >> 27); r < b) of.store(row + r, sum);
  }
}

/// To shared memory, without a detour through registers, what stays in the caches.
template <class T>
__device__ void stage_factor(T* to, const T* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
               :
               : "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from), "n"(int(sizeof(T)))
               : "memory");
#else
  *to = __ldg(from);
#endif
}

/// Where stage_rows() puts the values of whole nodes of a warp, and the elements of x that they need.
template <int b, class Real>
struct NodeStage {
  Real *values, *factors;
  const Index* columns;  // of the warp's first block
  const Real* x;
  static constexpr int room = Tuning<b>::room, granule = 1;

  __device__ void copy(const CsrView<Real, int, Device>& A, int base, int count, int place) const {
    constexpr int batch = 4;
    stage(values + place, A.values.data() + base, count);
    const Index* const from = columns + base / (b * b);
    Real* const to = factors + place / b;
    const int n = count / b;
    for (int k = lane(); k < n; k += batch * warp_size) {
      Index column[batch];
#pragma unroll
      for (int j = 0; j < batch; ++j) column[j] = __ldg(from + unsigned(min(k + j * warp_size, n - 1)) / b);
#pragma unroll
      for (int j = 0; j < batch; ++j)
        if (const int at = k + j * warp_size; at < n) stage_factor(to + at, x + (column[j] * b + unsigned(at) % b));
    }
  }
};

/// The sum of a row of up to 64 entries, from left to right.
template <int b, class Real>
__device__ Real short_row_sum(const Real* values, const Real* factors, int length) {
  Real s = 0;
#pragma unroll 2
  for (int k = 0; k < length; k += b)
#pragma unroll
    for (int j = k; j < k + b; ++j) s = std::fma(values[j], factors[j], s);
  return s;
}

template <int b, class Real, class Store>
__global__ void __launch_bounds__(threads, min_blocks)
    sum_nodes(const __grid_constant__ Product<Real, Store> of, int nodes_per_warp) {
  __shared__ Real values[warps][Tuning<b>::room], factors[warps][Tuning<b>::factor_room];
  const int warp = threadIdx.x / warp_size;
  const std::int64_t first_of_all = std::int64_t(blockIdx.x) * warps * nodes_per_warp;
  long_rows<b>(of, first_of_all + warp, nodes_per_warp);

  // Each lane knows a node, and then the row of another.
  const std::int64_t first_node = first_of_all + warp * nodes_per_warp;
  if (first_node >= of.count) return;
  const int nodes = int(min(std::int64_t(nodes_per_warp), of.count - first_node));
  const Index* const first_block = of.first_block + first_node + min(lane(), nodes);
  const Index block = __ldg(first_block), before = __shfl_sync(whole_warp, block, 0);
  const int blocks = lane() < nodes ? __ldg(first_block + 1) - block : 0;
  const bool is_long = blocks * b > short_sum;
  if (__all_sync(whole_warp, is_long || lane() >= nodes)) return;
  // Among the values of this warp's nodes, whose rows have at most 2048 each.
  const int first = (block - before) * (b * b), length = __shfl_sync(whole_warp, blocks, lane() / b) * b;
  CsrView<Real, int, Device> of_warp;
  of_warp.values = {of.values + before * std::int64_t(b * b), 0};
  const NodeStage<b, Real> to{values[warp], factors[warp], of.columns + before, of.x};
  for (int begin = 0; begin < nodes;) {
    const Staged staged = stage_rows<1>(of_warp, to, begin, first, first + blocks * (b * b), is_long);
    const int place = __shfl_sync(whole_warp, staged.place, lane() / b);
    wait_for_staged();
    if (place >= 0 && lane() < nodes * b)
      of.store(Index(first_node) * b + lane(),
               short_row_sum<b>(to.values + place + lane() % b * length, to.factors + place / b, length));
    begin = staged.next;
    __syncwarp();
  }
}

}  // namespace

template <class Offset>
std::optional<Nodes> find_nodes(const Cuda& on, Span<const Offset, Device> row_ptr, Span<const Index, Device> col_idx) {
  const std::int64_t nrows = row_ptr.size() - 1, nnz = col_idx.size();
  if (nrows == 0) return {};
  Array<Found, Device> found(on, 1);
  Nodes nodes;
  const auto blocks_of_threads = [&](int b) { return blocks_for(nrows / b, warps * found_per_warp); };
  const auto are_nodes = [&](int b) {
    if (!Nodes::may_be(b, nrows, nnz)) return false;
    set_bytes(on, found.span(), 0);
    launch(on, prove_blocks<Offset>, blocks_of_threads(b), threads, "looking for blocks", row_ptr, col_idx.data(), b,
           found.data());
    const Found all = value_of(on, found.data());
    if (all.unfit) return false;
    nodes.rows = b;
    nodes.longest = all.longest;
    return true;
  };
  // Nodes of 4 rows are nodes of 2 rows as well, those of 6 also of 3.
  const bool twos = are_nodes(2), threes = are_nodes(3);
  if (!(twos && threes && are_nodes(6)) && twos) are_nodes(4);
  if (nodes.rows == 0) return {};
  nodes.first_block = Array<Index, Device>(on, nrows / nodes.rows + 1);
  nodes.columns = Array<Index, Device>(on, nnz / (nodes.rows * nodes.rows));
  launch(on, write_blocks<Offset>, blocks_of_threads(nodes.rows), threads, "copying the columns of blocks", row_ptr,
         col_idx.data(), nodes.rows, nodes.first_block.data(), nodes.columns.data());
  return nodes;
}

template <class Real, class Store>
void nodes_product(const Cuda& on, const Nodes& nodes, const Real* values, const Real* x, const Store& store) {
  const Product<Real, Store> of{nodes.count(), nodes.first_block.data(), nodes.columns.data(), values, x, store};
  with_constant<2, 3, 4, 6>(nodes.rows, [&](auto b) {
    // Few nodes are shared among as many warps as the GPU holds; otherwise a warp has as many as fill its shared memory some times.
    using Tuned = Tuning<b>;
    const std::int64_t resident_warps = std::int64_t(min_blocks) * warps * on.multiprocessors(),
                       blocks = nodes.columns.size(), count = of.count,
                       fit = std::clamp<std::int64_t>(Tuned::room * count / std::max<std::int64_t>(b * b * blocks, 1),
                                                      1, Tuned::max_nodes),
                       most = blocks * b > short_sum * count ? Tuned::max_long_nodes : Tuned::max_nodes / fit * fit;
    const int nodes_per_warp = int(std::clamp<std::int64_t>(count / resident_warps, 1, most));
    launch(on, sum_nodes<b, Real, Store>, blocks_for(count, warps * nodes_per_warp), threads,
           "a product with a sparse matrix", of, nodes_per_warp);
  });
}

/// Never called: names every function, so that its code is emitted here.
void instances(const Cuda& on, const Nodes& nodes) {
  with_each_real([&]<class Real>(Real* x) {
    nodes_product(on, nodes, x, x, StoreProduct<Real>{x});
    nodes_product(on, nodes, x, x, StoreResidual<Real>{x, x});
  });
  with_each_offset<Device>([&](const auto& row_ptr) { find_nodes(on, row_ptr, {}); });
}

}  // namespace seidel::spmv_detail
