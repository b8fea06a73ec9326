// Pointers and indices, sorted segments and their merges, on the GPU.
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/kernels/primitives/merge.hpp>
#include <seidel/kernels/primitives/scan.hpp>
#include <seidel/kernels/primitives/segments.hpp>

namespace seidel {

namespace primitives_detail {

namespace {

constexpr int merge_threads = 256;
constexpr int tile = 2048;              // of a merge, in shared memory: 16 KB
constexpr int splitter_distance = 128;  // best of the study: parts of at most 256 entries

/// A thread per pair, a block per segment: its place is the number of smaller keys, and of equal ones before it.
__global__ void sort_segment(std::int64_t n, std::int64_t length, KeyedNumbers<Device> pairs) {
  __shared__ Index keys[max_sorted_segment];
  const std::int64_t begin = std::int64_t(blockIdx.x) * length;
  const int size = int(min(length, n - begin)), mine = int(threadIdx.x);
  Index key = 0, number = 0;
  if (mine < size) {
    key = keys[mine] = pairs.keys[begin + mine];
    number = pairs.numbers[begin + mine];
  }
  __syncthreads();
  if (mine >= size) return;
  int place = 0;
  for (int i = 0; i < size; ++i) place += keys[i] < key || (keys[i] == key && i < mine);
  pairs.keys[begin + place] = key;
  pairs.numbers[begin + place] = number;
}

/// Merges what lies between two cuts in shared memory: each thread finds its entries' ranks in the other part. The
/// parts have at most `tile` entries together.
__device__ void merge_between(const Segments& both, Cut first, Cut last, KeyedNumbers<Device> from, std::int64_t left,
                              std::int64_t right, KeyedNumbers<Device> to, std::int64_t begin) {
  __shared__ Index keys[tile], merged_keys[tile], merged_numbers[tile];
  const int nleft = int(last.left - first.left), nright = int(last.right - first.right), size = nleft + nright;
  for (int i = int(threadIdx.x); i < size; i += int(blockDim.x))
    keys[i] = i < nleft ? both.left[first.left + i] : both.right[first.right + i - nleft];
  __syncthreads();
  for (int i = int(threadIdx.x); i < size; i += int(blockDim.x)) {
    const bool is_left = i < nleft;
    const auto place = is_left ? i + count_below(keys + nleft, nright, keys[i])
                               : i - nleft + count_below(keys, nleft, keys[i] + std::int64_t(1));
    merged_keys[place] = keys[i];
    merged_numbers[place] = from.numbers[is_left ? left + first.left + i : right + first.right + i - nleft];
  }
  __syncthreads();
  const std::int64_t at = begin + first.left + first.right;
  for (int i = int(threadIdx.x); i < size; i += int(blockDim.x)) {
    to.keys[at + i] = merged_keys[i];
    to.numbers[at + i] = merged_numbers[i];
  }
}

/// A block for each part of each pair of segments.
template <MergeBy by>
__global__ void __launch_bounds__(merge_threads) merge_part(std::int64_t n, std::int64_t length, std::int64_t parts,
                                                            KeyedNumbers<Device> from, KeyedNumbers<Device> to) {
  __shared__ Cut cuts[2];
  const std::int64_t begin = std::int64_t(blockIdx.x) / parts * 2 * length, part = std::int64_t(blockIdx.x) % parts;
  const std::int64_t middle = min(begin + length, n), end = min(begin + 2 * length, n);
  const Segments both{from.keys.data() + begin, middle - begin, from.keys.data() + middle, end - middle};
  if (threadIdx.x < 2) {
    const std::int64_t which = part + threadIdx.x;
    cuts[threadIdx.x] = by == MergeBy::path ? cut_on_path(both, min(which * tile, end - begin))
                                            : cut_at_splitter(both, splitter_distance, which);
  }
  __syncthreads();
  merge_between(both, cuts[0], cuts[1], from, begin, middle, to, begin);
}

}  // namespace

void sort_segments(const Cuda& on, std::int64_t length, KeyedNumbers<Device> pairs) {
  const std::int64_t n = pairs.size();
  cuda::launch(on, sort_segment, blocks_for(n, int(length)), int((length + 31) / 32 * 32), "sorting segments", n,
               length, pairs);
}

void merge_segments(const Cuda& on, MergeBy by, std::int64_t length, KeyedNumbers<Device> from,
                    KeyedNumbers<Device> to) {
  const std::int64_t n = from.size(), npairs = (n + 2 * length - 1) / (2 * length);
  const std::int64_t longest = std::min(2 * length, n);
  const bool is_small = longest <= tile;  // a part of its own, cut by the path
  const bool by_path = is_small || by == MergeBy::path;
  const std::int64_t parts =
      by_path ? (longest + tile - 1) / tile : 2 * ((std::min(length, n) + splitter_distance - 1) / splitter_distance);
  const auto kernel = by_path ? merge_part<MergeBy::path> : merge_part<MergeBy::splitters>;
  cuda::launch(on, kernel, npairs * parts, by_path ? merge_threads : merge_threads / 2, "merging segments", n, length,
               parts, from, to);
}

}  // namespace primitives_detail

void pointers_to_indices(const Cuda& on, DeviceSpan<const std::int32_t> pointers, DeviceSpan<Index> indices) {
  constexpr int group = 16;  // threads per pointer
  cuda::for_each(on, (pointers.size() - 1) * group, "expanding pointers", [=] __device__(std::int64_t thread) {
    const std::int64_t i = thread / group;
    for (std::int32_t k = pointers[i] + std::int32_t(thread % group); k < pointers[i + 1]; k += group)
      indices[k] = Index(i);
  });
}

void indices_to_pointers(const Cuda& on, DeviceSpan<const Index> indices, DeviceSpan<std::int32_t> pointers) {
  const std::int64_t n = indices.size();
  cuda_check(cudaMemsetAsync(pointers.data(), 0, std::size_t(pointers.size()) * sizeof(std::int32_t), on.stream()),
             "clearing counters");
  // A run of equal indices adds its end where it ends and takes its begin off where it begins: a warp of equal ones
  // costs two atomics, not 32.
  constexpr int warp = 32;
  cuda::for_each(on, n, "counting indices", [=] __device__(std::int64_t k) {
    const Index index = indices[k];
    const bool begins = k % warp == 0 || indices[k - 1] != index;
    const bool ends = k % warp == warp - 1 || k + 1 == n || indices[k + 1] != index;
    if (begins || ends) atomicAdd(pointers.data() + index, int(ends ? k % warp + 1 : 0) - int(begins ? k % warp : 0));
  });
  exclusive_scan(on, DeviceSpan<const std::int32_t>(pointers), pointers);
}

}  // namespace seidel
