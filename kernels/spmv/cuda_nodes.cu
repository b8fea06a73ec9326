// y = A x where A consists of full blocks of 3 x 3 (nodes.hpp). The long rows of a node: by a warp, whose lanes are those of the
// one order of sums and take each element of x for three rows. Short rows: a thread each, their values by way of shared memory.
#include <algorithm>

#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/kernels/cuda_staged_rows.cuh>
#include <seidel/kernels/spmv/cuda_streamed.cuh>
#include <seidel/kernels/spmv/nodes.hpp>
#include <seidel/kernels/spmv/row.hpp>

namespace seidel::spmv_detail {

using namespace seidel::cuda;

namespace {

constexpr int b = Nodes::rows;
// Measured on an H200; docs/notes/products.md has the tables.
constexpr int threads = 128, warps = threads / warp_size;
constexpr int min_blocks = 8;      // per multiprocessor: 64 registers
constexpr int long_batch = 3;      // columns of A under way per lane, for three rows
constexpr int short_batch = 2;     // blocks under way per thread
constexpr int room = 480;          // values of short rows in shared memory per warp
constexpr int max_nodes = 10;      // of a warp, whose lanes have a row each
constexpr int max_long_nodes = 5;  // where rows are long: the warps of a block read what lies together
static_assert(max_nodes * b <= warp_size);

/// What the rows of A tell.
struct Found {
  Index unfit, longest;
};

template <class Real, class Offset>
__global__ void __launch_bounds__(threads)
    prove_blocks(const CsrView<Real, Offset, Device> A, Index* columns, Found* found) {
  const std::int64_t node = (std::int64_t(blockIdx.x) * threads + threadIdx.x) / warp_size;
  volatile Found* const so_far = found;
  if (node * b >= A.nrows || so_far->unfit) return;
  const Offset* const row_ptr = A.row_ptr.data() + node * b;
  const Offset first = row_ptr[0], length = row_ptr[1] - first;
  bool fits = length % b == 0 && length <= sum_block;
  for (int r = 1; r < b; ++r) fits = fits && row_ptr[r + 1] - row_ptr[r] == length;
  const Index* const of_first = A.col_idx.data() + first;
  for (int k = lane(); fits && k < length; k += warp_size) {
    const Index column = of_first[k];
    fits = column % b == k % b && column - k % b == of_first[k - k % b];
    for (int r = 1; r < b; ++r) fits = fits && of_first[r * length + k] == column;
    // Nodes before this one that do not fit may put this place anywhere below nnz / 9.
    if (k % b == 0) columns[first / (b * b) + k / b] = column / b;
  }
  if (!fits) so_far->unfit = 1;
  if (lane() == 0 && so_far->longest < length) atomicMax(&found->longest, Index(length));
}

template <class Real, class Offset, class Store>
struct Product {
  CsrView<Real, Offset, Device> A;
  const Index* columns;  // of blocks
  const Real* x;
  Store store;
};

/// The sums of three rows over the lanes: those of row 0 in lane 0, of row 1 in lane 16, of row 2 in lane 8.
template <class Real>
__device__ Real sums_of_three(const Real (&s)[b]) {
  const bool upper = lane() & 16, odd_eight = lane() & 8;
  const auto from = [](Real value, int apart) { return __shfl_xor_sync(whole_warp, value, apart); };
  const Real of_two = (upper ? s[1] : s[0]) + from(upper ? s[0] : s[1], 16), of_last = s[2] + from(s[2], 16);
  Real of_three = (odd_eight ? of_last : of_two) + from(odd_eight ? of_two : of_last, 8);
#pragma unroll
  for (int width = 4; width; width /= 2) of_three = of_three + from(of_three, width);
  return of_three;
}

/// Adds the terms begin ... of the three rows from entry `first` on, of which each has `length` entries, to a lane's sums, as many
/// as are under way at once. `column`: of the blocks of the lane's terms.
template <class Real, class Offset, class Store>
__device__ __forceinline__ void add_terms(const Product<Real, Offset, Store>& of, Offset first, int length, int begin,
                                          const Index (&column)[long_batch], Real (&s)[b], const auto& meanwhile) {
  Real value[long_batch][b], factor[long_batch];
  const auto place = [&](int j) { return min(begin + j * warp_size + lane(), length - 1); };
#pragma unroll
  for (int j = 0; j < long_batch; ++j) factor[j] = __ldg(of.x + (column[j] * b + unsigned(place(j)) % b));
#pragma unroll
  for (int r = 0; r < b; ++r)
#pragma unroll
    for (int j = 0; j < long_batch; ++j) value[j][r] = streamed(of.A.values.data() + first + r * length + place(j));
  meanwhile();
#pragma unroll
  for (int j = 0; j < long_batch; ++j)
    if (begin + j * warp_size + lane() < length)
#pragma unroll
      for (int r = 0; r < b; ++r) s[r] = std::fma(value[j][r], factor[j], s[r]);
}
template <class Real, class Offset, class Store>
__device__ __forceinline__ void ask_for_columns(const Product<Real, Offset, Store>& of, Offset first, int length,
                                                int begin, Index (&column)[long_batch]) {
#pragma unroll
  for (int j = 0; j < long_batch; ++j)
    column[j] = streamed(of.columns + first / (b * b) + unsigned(min(begin + j * warp_size + lane(), length - 1)) / b);
}

/// The nodes first_node, first_node + warps, ... whose rows are long, one after another. The columns of the next one are under way
/// while one is added.
template <class Real, class Offset, class Store>
__device__ void long_rows(const Product<Real, Offset, Store>& of, std::int64_t first_node, int count) {
  const std::int64_t mine = first_node + lane() * warps;
  const bool is_node = lane() < count && mine < of.A.nrows / b;
  const Offset* const row_ptr = of.A.row_ptr.data() + (is_node ? mine : 0) * b;
  const Offset my_first = __ldg(row_ptr);
  const int my_length = is_node ? int(__ldg(row_ptr + 1) - my_first) : 0;
  unsigned left = __ballot_sync(whole_warp, my_length > short_sum);
  int who, length;
  Offset first;
  Index column[long_batch];
  const auto go_to_next = [&] {
    who = __ffs(int(left)) - 1;
    left &= left - 1;
    first = __shfl_sync(whole_warp, my_first, who);
    length = __shfl_sync(whole_warp, my_length, who);
    ask_for_columns(of, first, length, 0, column);
  };
  if (!left) return;
  go_to_next();
  for (bool is_more = true; is_more;) {
    const Index row = Index(first_node + who * warps) * b;
    const Offset its_first = first;
    const int its_length = length;
    is_more = left != 0;
    Real s[b] = {};
    add_terms(of, its_first, its_length, 0, column, s, [&] {
      if (is_more) go_to_next();
    });
#pragma unroll 1
    for (int begin = long_batch * warp_size; begin < its_length; begin += long_batch * warp_size) {
      Index further[long_batch];
      ask_for_columns(of, its_first, its_length, begin, further);
      add_terms(of, its_first, its_length, begin, further, s, [] {});
    }
    const Real sum = sums_of_three(s);
    if (lane() % 8 == 0 && lane() < 24) of.store(row + (lane() == 16 ? 1 : lane() / 4), sum);
  }
}

/// The sum of a row of up to 64 entries, from left to right; the columns of the next blocks are under way meanwhile.
template <class Real>
__device__ Real short_row_sum(const Real* values, int blocks, const Index* columns, const Real* x) {
  Real s = 0;
  if (blocks == 0) return s;
  Index column[short_batch];
#pragma unroll
  for (int j = 0; j < short_batch; ++j) column[j] = __ldg(columns + min(j, blocks - 1));
#pragma unroll 1
  for (int k = 0; k < blocks; k += short_batch) {
    Real factors[short_batch * b];
#pragma unroll
    for (int j = 0; j < short_batch * b; ++j) factors[j] = __ldg(x + (column[j / b] * b + j % b));
#pragma unroll
    for (int j = 0; j < short_batch; ++j) column[j] = __ldg(columns + min(k + short_batch + j, blocks - 1));
#pragma unroll
    for (int j = 0; j < short_batch * b; ++j)
      if (k + j / b < blocks) s = std::fma(values[k * b + j], factors[j], s);
  }
  return s;
}

/// Where stage_rows() puts the values of rows, and no columns.
template <class Real>
struct ValuesStage {
  Real* values;
  int room;
  static constexpr int granule = 1;

  template <class Offset>
  __device__ void copy(const CsrView<Real, Offset, Device>& A, Offset base, int count, int place) const {
    stage(values + place, A.values.data() + base, count);
  }
};

template <class Real, class Offset, class Store>
__global__ void __launch_bounds__(threads, min_blocks)
    sum_nodes(const __grid_constant__ Product<Real, Offset, Store> of, int nodes_per_warp) {
  __shared__ Real values_of_warps[warps][room];
  const int warp = threadIdx.x / warp_size;
  const std::int64_t first_node = std::int64_t(blockIdx.x) * warps * nodes_per_warp;
  long_rows(of, first_node + warp, nodes_per_warp);

  const std::int64_t first_row = (first_node + warp * nodes_per_warp) * b;
  if (first_row >= of.A.nrows) return;
  const int nrows = int(min(std::int64_t(nodes_per_warp * b), of.A.nrows - first_row)), mine = min(lane(), nrows);
  const Offset* const row_ptr = of.A.row_ptr.data() + first_row + mine;
  const Offset first = __ldg(row_ptr), last = lane() < nrows ? __ldg(row_ptr + 1) : first;
  const int length = int(last - first);
  const bool is_long = length > short_sum;
  if (__all_sync(whole_warp, is_long || lane() >= nrows)) return;
  const ValuesStage<Real> to{values_of_warps[warp], room};
  const Index* const columns = of.columns + (first - Offset(lane() % b) * length) / (b * b);
  for (int begin = 0; begin < nrows;) {
    const Staged staged = stage_rows<1>(of.A, to, begin, first, last, is_long);
    wait_for_staged();
    if (staged.place >= 0 && lane() < nrows)
      of.store(Index(first_row) + lane(), short_row_sum(to.values + staged.place, length / b, columns, of.x));
    begin = staged.next;
    __syncwarp();
  }
}

}  // namespace

template <class Real, class Offset>
std::optional<Nodes> find_nodes(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  if (A.nrows == 0 || !Nodes::may_be(A.nrows, A.nnz())) return {};
  Nodes nodes{Array<Index, Device>(on, A.nnz() / (b * b))};
  Array<Found, Device> found(on, 1);
  set_bytes(on, found.span(), 0);
  launch(on, prove_blocks<Real, Offset>, blocks_for(A.nrows / b, warps), threads, "looking for blocks", A,
         nodes.columns.data(), found.data());
  const Found all = value_of(on, found.data());
  if (all.unfit) return {};
  nodes.longest = all.longest;
  return nodes;
}

template <class Real, class Offset, class Store>
void nodes_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Nodes& nodes, const Real* x,
                   const Store& store) {
  // Few nodes are shared among as many warps as the GPU holds.
  const std::int64_t resident_warps = std::int64_t(min_blocks) * warps * on.multiprocessors(),
                     most = A.nnz() > short_sum * std::int64_t(A.nrows) ? max_long_nodes : max_nodes;
  const int nodes_per_warp = int(std::clamp<std::int64_t>(A.nrows / b / resident_warps, 1, most));
  launch(on, sum_nodes<Real, Offset, Store>, blocks_for(A.nrows, warps * nodes_per_warp * b), threads,
         "a product with a sparse matrix", Product<Real, Offset, Store>{A, nodes.columns.data(), x, store},
         nodes_per_warp);
}

/// Never called: names every product, so that its code is emitted here.
template <class Real, class Offset>
void instances(const Cuda& on, const Nodes& nodes, Real* x) {
  const CsrView<Real, Offset, Device> A;
  nodes_product(on, A, nodes, x, StoreProduct<Real>{x});
  nodes_product(on, A, nodes, x, StoreResidual<Real>{x, x});
}
template void instances<double, std::int32_t>(const Cuda&, const Nodes&, double*);
template void instances<double, std::int64_t>(const Cuda&, const Nodes&, double*);
template void instances<float, std::int32_t>(const Cuda&, const Nodes&, float*);
template void instances<float, std::int64_t>(const Cuda&, const Nodes&, float*);
template std::optional<Nodes> find_nodes(const Cuda&, const CsrView<double, std::int32_t, Device>&);
template std::optional<Nodes> find_nodes(const Cuda&, const CsrView<double, std::int64_t, Device>&);
template std::optional<Nodes> find_nodes(const Cuda&, const CsrView<float, std::int32_t, Device>&);
template std::optional<Nodes> find_nodes(const Cuda&, const CsrView<float, std::int64_t, Device>&);

}  // namespace seidel::spmv_detail
