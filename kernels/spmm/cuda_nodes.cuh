// Y = A X, row-major, where A consists of full blocks of 3 x 3 or 4 x 4 (kernels/spmv/nodes.hpp). A warp takes a node: each row of X
// that its rows need is read once, while the entries of the next node are brought to shared memory.
#pragma once
#include <seidel/kernels/spmm/cuda_joined_rows.cuh>
#include <seidel/kernels/spmv/nodes.hpp>

namespace seidel::spmm_detail {

using spmv_detail::Nodes;

/// Whether products by nodes are faster than by CSR: where most rows are long, and two nodes per warp fit in shared memory.
inline bool nodes_pay(const Nodes& nodes) {
  return (nodes.rows == 3 || nodes.rows == 4) && nodes.longest <= moderate_row &&
         nodes.columns.size() * nodes.rows > short_sum * std::int64_t(nodes.count());
}

template <class Real>
struct NodeOperands {
  Index count;               // of nodes
  const Index* first_block;  // of each
  const Index* blocks;       // their columns
  const Real* values;
  Index longest;  // entries of a row
  MultiVectorView<const Real, Device> X;
  MultiVectorView<Real, Device> Y;
  int slices = 1;    // one after another
  int per_warp = 1;  // nodes

  SEIDEL_HD int room() const { return (longest + 1) / 2 * 2; }
  /// Of shared memory, per warp.
  template <class Terms>
  SEIDEL_HD int value_room() const {
    return 2 * Terms::step * room();
  }
  SEIDEL_HD int index_room() const { return 3 * room(); }
};

/// Staged terms of `rows` of the b rows of a node. Where few threads read different entries, those of the rows lie side by side, so
/// that one access finds two.
template <class Real, class D, int b, int rows = b>
struct NodeTerms {
  static constexpr bool side_by_side = D::G >= 8;
  static constexpr int step = side_by_side ? 4 : b;  // places per entry of a row
  struct alignas(16) Entries {
    Real of[4];
  };
  const Index* col_idx;
  const Real* values;
  int length;
  Slice<Real, D> slice;

  using Factor = typename Slice<Real, D>::Sum;
  using Sum = SumGroup<Factor, rows>;
  __device__ Factor factor(int k) const { return slice.load(col_idx[k]); }
  __device__ Sum add(int k, const Factor& f, Sum s) const {
    Real a[rows];
    if constexpr (side_by_side && rows == b) {
      const Entries& entries = reinterpret_cast<const Entries*>(values)[k];
#pragma unroll
      for (int r = 0; r < rows; ++r) a[r] = entries.of[r];
    } else {
#pragma unroll
      for (int r = 0; r < rows; ++r) a[r] = values[place(k, r, length)];
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) s.of[r] = slice.add(a[r], f, s.of[r]);
    return s;
  }
  /// Of entry k of row r.
  __device__ static int place(int k, int r, int length) { return side_by_side ? step * k + r : r * length + k; }
};

inline constexpr int node_threads = 128;

/// The warps of a block take its nodes in turns.
template <class D, int b, class Real>
__global__ void __launch_bounds__(node_threads, 4) sum_nodes(const __grid_constant__ NodeOperands<Real> of) {
  extern __shared__ double2 staged_nodes[];
  using Terms = NodeTerms<Real, D, b>;
  constexpr int T = warp_size / D::G, warps = node_threads / warp_size;
  const int warp = threadIdx.x / warp_size, lane = int(threadIdx.x) % warp_size;
  const unsigned blocks_per_slice = gridDim.x / unsigned(of.slices);
  const Slice<Real, D> slice(of.X, int(blockIdx.x / blocks_per_slice));
  Real* const values = reinterpret_cast<Real*>(staged_nodes) + warp * of.template value_room<Terms>();
  Index* const blocks =
      reinterpret_cast<Index*>(reinterpret_cast<Real*>(staged_nodes) + warps * of.template value_room<Terms>()) +
      warp * of.index_room();
  Index* const col_idx = blocks + 2 * of.room();

  // Each lane knows a node.
  const Index first_node = Index(blockIdx.x % blocks_per_slice) * warps * of.per_warp + warp,
              known = first_node + lane * warps;
  const bool exists = lane < of.per_warp && known < of.count;
  const Index* const first_block = of.first_block + (exists ? known : 0);
  const Index known_first = __ldg(first_block), known_blocks = __ldg(first_block + 1) - known_first;
  const int turns = __popc(__ballot_sync(whole_warp, exists));
  const auto stage_node = [&](int turn) {
    const Index first = __shfl_sync(whole_warp, known_first, turn);
    const int count = __shfl_sync(whole_warp, known_blocks, turn), length = count * b, place = turn % 2 * of.room();
    Real* const to = values + Terms::step * place;
    const Real* const from = of.values + first * std::int64_t(b * b);
    if constexpr (Terms::side_by_side) {
      const std::uint64_t policy = leaves_first();
      for (int at = lane; at < b * length; at += warp_size) {
        const int k = unsigned(at) / b, r = unsigned(at) % b;
        stage_entry(to + Terms::place(k, r, length), from + r * length + k, policy);
      }
    } else {
      stage(to, from, b * length);
    }
    stage(blocks + place, of.blocks + first, count);
  };
  if (turns > 0) stage_node(0);
  close_batch();
  for (int turn = 0; turn < turns; ++turn) {
    if (turn + 1 < turns) stage_node(turn + 1);
    close_batch();
    wait_for_batches_but_last();
    const int count = __shfl_sync(whole_warp, known_blocks, turn), length = count * b, place = turn % 2 * of.room();
    for (int k = lane; k < length; k += warp_size) col_idx[k] = blocks[place + unsigned(k) / b] * b + unsigned(k) % b;
    __syncwarp();
    const Index row = (first_node + turn * warps) * b;
    if (length > short_sum) {
      const Terms terms{col_idx, values + Terms::step * place, length, slice};
      const auto s = across_threads<T, D::G>(tree_of_pairs<T>(terms, lane / D::G, length));
#pragma unroll
      for (int r = 0; r < b; ++r)
        if (lane < D::G) slice.store(of.Y, row + r, s.of[r]);
    } else {
      constexpr int rows = (b + T - 1) / T;  // per G threads
      const int first = lane / D::G * rows;
      if (first < b) {
        const NodeTerms<Real, D, b, rows> terms{col_idx, values + Terms::step * place + Terms::place(0, first, length),
                                                length, slice};
        const auto s = sum_from_left<4>(terms, 0, length);
#pragma unroll
        for (int r = 0; r < rows; ++r)
          if (first + r < b) slice.store(of.Y, row + first + r, s.of[r]);
      }
    }
    __syncwarp();
  }
}

template <class D, int b, class Real>
void launch_nodes(const Cuda& on, NodeOperands<Real> of) {
  constexpr int max_per_warp = 8, warps = node_threads / warp_size;
  of.slices = D::slices(of.X.ncols);
  const std::int64_t resident_warps = 4 * warps * std::int64_t(on.multiprocessors());
  of.per_warp = int(std::clamp<std::int64_t>(of.count / resident_warps, 1, max_per_warp));
  const auto kernel = sum_nodes<D, b, Real>;
  const int bytes = warps * (of.template value_room<NodeTerms<Real, D, b>>() * int(sizeof(Real)) +
                             of.index_room() * int(sizeof(Index)));
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             "asking for shared memory");
  kernel<<<of.slices * blocks_for(of.count, warps * of.per_warp), node_threads, bytes, on.stream()>>>(of);
  check_launch("a product by nodes with several vectors");
}

}  // namespace seidel::spmm_detail
