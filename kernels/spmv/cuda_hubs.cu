// y = A x where many entries are in a few columns, whose elements of x lie in shared memory: one block per multiprocessor, which
// stays; its warps take a tile after the other.
#include <algorithm>
#include <numeric>
#include <vector>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/spmv/cuda_tile.cuh>
#include <seidel/kernels/spmv/hubs.hpp>

namespace seidel::spmv_detail {

using namespace seidel::cuda;

namespace {

constexpr int warps = 28;           // 72 registers; docs/notes/products.md has the table
constexpr std::int64_t stride = 8;  // of the entries that are looked at to find hubs
constexpr int system_bytes = 2048;  // of shared memory, what the system and `taken` need at most
constexpr const char* name = "a product with a sparse matrix";

/// `columns` are those of Hubs.
template <class Real>
struct ElementOrHub {
  const Real* x;
  const Real* hubs;  // in shared memory
  __device__ Real operator()(std::int64_t column) const { return column < 0 ? hubs[~column] : __ldg(x + column); }
};

/// The shared memory of a block.
template <class Real>
struct Shared {
  Factors<Real> factors[warps][tile_room];
  Real hubs[Hubs::max_hubs<Real>];
};

template <class Real>
__device__ void fetch_hubs(const Index* hubs, int count, const Real* x, Real* to) {
  constexpr int threads = warps * warp_size, at_once = int(Hubs::max_hubs<double>) / threads + 1;
  for (int begin = int(threadIdx.x); begin < count; begin += at_once * threads) {
    Real elements[at_once];
#pragma unroll
    for (int j = 0; j < at_once; ++j) elements[j] = __ldg(x + __ldg(hubs + min(begin + j * threads, count - 1)));
#pragma unroll
    for (int j = 0; j < at_once; ++j)
      if (begin + j * threads < count) to[begin + j * threads] = elements[j];
  }
}

template <class Real, class Offset, class Store>
__global__ void __launch_bounds__(warps* warp_size, 1)
    sum_tiles_with_hubs(const __grid_constant__ TilesProduct<Real, Offset, Store> of, const Real* x, const Index* hubs,
                        int count) {
  extern __shared__ __align__(16) unsigned char bytes[];
  __shared__ Index taken;  // tiles of this block: every gridDim.x-th
  Shared<Real>& shared = *reinterpret_cast<Shared<Real>*>(bytes);
  if (threadIdx.x == 0) taken = 0;
  fetch_hubs(hubs, count, x, shared.hubs);
  __syncthreads();
  for (;;) {
    const Index turn = __shfl_sync(whole_warp, lane() == 0 ? atomicAdd(&taken, 1) : 0, 0);
    const std::int64_t tile = std::int64_t(turn) * gridDim.x + blockIdx.x;
    if (tile >= of.tiles.count) break;
    sum_tile(of, ElementOrHub<Real>{x, shared.hubs}, Index(tile), shared.factors[threadIdx.x / warp_size]);
  }
}

/// The columns met most often among every 8th entry, ascending; none if they were met too seldom.
std::vector<Index> most_met(const Cuda& on, std::int64_t ncols, DeviceSpan<const Index> col_idx, std::int64_t room,
                            double least_share) {
  const std::int64_t tried = (col_idx.size() + stride - 1) / stride, most = std::min(room, ncols);
  Pairs<Index> met(on, ncols);
  set_bytes(on, met.key[0].span(), 0);
  for_each(on, tried, "counting columns", [=, times = met.key[0].data()] __device__(std::int64_t i) {
    atomicAdd(times + col_idx.data()[i * stride], 1);
  });
  for_each(on, ncols, "numbering columns",
           [columns = met.payload[0].data()] __device__(std::int64_t c) { columns[c] = Index(c); });
  sort_pairs(on, met, ncols, tried + 1);
  const auto times = copied_to<Host>(on, std::as_const(met.key[0]).span().subspan(ncols - most, most));
  const auto columns = copied_to<Host>(on, std::as_const(met.payload[0]).span().subspan(ncols - most, most));
  if (std::accumulate(times.begin(), times.end(), 0.) < least_share * double(tried)) return {};
  std::vector<Index> hubs(columns.begin() + (std::upper_bound(times.begin(), times.end(), 0) - times.begin()),
                          columns.end());
  std::sort(hubs.begin(), hubs.end());
  return hubs;
}

}  // namespace

template <class Real>
std::optional<Hubs> find_hubs(const Cuda& on, std::int64_t ncols, DeviceSpan<const Index> col_idx, std::int64_t room,
                              double least_share) {
  int shared_bytes = 0;
  cuda_check(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, on.device()),
             "asking how much shared memory a block may have");
  if (shared_bytes < int(sizeof(Shared<Real>)) + system_bytes) return std::nullopt;
  const std::vector<Index> found = most_met(on, ncols, col_idx, room, least_share);
  if (found.empty()) return std::nullopt;
  Hubs hubs{copied_to<Device>(on, HostSpan<const Index>{found.data(), std::int64_t(found.size())}),
            Array<Index, Device>(on, col_idx.size())};
  Array<Index, Device> number(on, ncols);
  for_each(on, ncols, "numbering hubs", [number = number.data()] __device__(std::int64_t c) { number[c] = Index(c); });
  for_each(
      on, hubs.hubs.size(), "numbering hubs",
      [number = number.data(), hubs = hubs.hubs.data()] __device__(std::int64_t k) { number[hubs[k]] = ~Index(k); });
  for_each(on, col_idx.size(), "numbering hubs",
           [=, number = std::as_const(number).data(), columns = hubs.columns.data()] __device__(std::int64_t i) {
             columns[i] = __ldg(number + col_idx.data()[i]);
           });
  return hubs;
}

template <class Real, class Offset, class Store>
void hubs_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Hubs& hubs, const TilesView& tiles,
                  const Real* x, const Store& store) {
  if (A.nrows == 0) return;
  Scratch scratch(on);
  TilesProduct<Real, Offset, Store> of{A, store, tiles, scratch.take<Real>(2 * std::int64_t(tiles.narrivals)).data()};
  of.A.col_idx = hubs.columns.span();
  const auto kernel = sum_tiles_with_hubs<Real, Offset, Store>;
  constexpr int bytes = int(sizeof(Shared<Real>));
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             "dividing the first cache");
  launch_after(on, false, kernel, {on.multiprocessors(), warps * warp_size, bytes}, name, of, x, hubs.hubs.data(),
               int(hubs.hubs.size()));
}

/// Never called: names every product, so that its code is emitted here.
void instances(const Cuda& on, const Hubs& hubs, const TilesView& tiles) {
  with_each_csr<Device>([&]<class Real>(const auto& A, Real* x) {
    hubs_product(on, A, hubs, tiles, x, StoreProduct<Real>{x});
    hubs_product(on, A, hubs, tiles, x, StoreResidual<Real>{x, x});
  });
  with_each_real([&]<class Real>(Real*) { find_hubs<Real>(on, 0, {}); });
}

}  // namespace seidel::spmv_detail
