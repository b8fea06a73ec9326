// Transposition on the device, and copies with other row pointers.
#include <seidel/formats/convert.hpp>

#include <algorithm>
#include <climits>
#include <numeric>
#include <optional>

#include <seidel/formats/convert/cuda_buckets.hpp>
#include <seidel/formats/convert/cuda_device.cuh>
#include <seidel/formats/convert/cuda_mirror.cuh>
#include <seidel/formats/convert/cuda_mirror_kinds.hpp>
#include <seidel/formats/convert/cuda_note.cuh>
#include <seidel/formats/convert/instances.hpp>
#include <seidel/formats/runtime/constant.hpp>
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/scratch.hpp>

namespace seidel {

using namespace convert_detail;

namespace {

/// What some rows of A say: whether an entry has no image, with how many unknowns per node some row is not made of nodes, how
/// many more entries are scattered than are not, whether most rows are of the same kind as the next one, how long the longest
/// is, and how many entries stand in each of some equal ranges of columns.
struct Sample {
  static constexpr int nranges = 64;
  static constexpr int max_unknowns = 6;  // of a node
  int broken = 0;                         // 0 or 1
  int not_nodes = 0;                      // a bit for each number of unknowns
  int scattered = 0;
  int alike = 0;    // how many rows are like the next one, less three times those which are not
  int longest = 0;  // entries
  int in_range[nranges] = {};

  /// How many times more entries than the average the fullest range has.
  double crowding() const {
    const int all = std::accumulate(in_range, in_range + nranges, 0);
    return all > 0 ? double(*std::max_element(in_range, in_range + nranges)) * nranges / all : 1;
  }
};

/// How the looks of blocks are added up.
struct Looked {
  Sample sample;
  unsigned ndone;  // blocks
};
constexpr int sample_numbers = sizeof(Sample) / sizeof(int);

__device__ void add(Sample& to, int i, int number) {
  int* const sum = reinterpret_cast<int*>(&to) + i;
  if (number == 0) return;
  if (sum == &to.longest)
    atomicMax(sum, number);
  else if (sum == &to.broken || sum == &to.not_nodes)
    atomicOr(sum, number);
  else
    atomicAdd(sum, number);
}

/// The first entries of one row of every `step`: not always the same one, or all could lie on one side of a lattice. A
/// lane for each entry. It is scattered if its image is not where it was looked for first, and the image of the entry
/// below it, in the next row, lies far from it: neighbours then share no line of a cache. all: 0 before and after.
template <class Value, class Offset>
__global__ void __launch_bounds__(mirror_threads)
    look_for_images(Transposing<Value, Offset> of, Index step, Looked* all, Note<Sample>* for_host, int number) {
  constexpr Index near_rows = 1024;
  __shared__ Sample of_block;
  __shared__ bool is_last;
  let_next_begin();
  for (int i = threadIdx.x; i < sample_numbers; i += mirror_threads) reinterpret_cast<int*>(&of_block)[i] = 0;
  __syncthreads();
  const std::int64_t i = (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp_size;
  const std::int64_t r = i * step + unsigned(i) * 2654435761u % unsigned(step);
  if (r < of.nrows) {
    const Offset begin = of.row_ptr[r], end = of.row_ptr[r + 1], k = begin + lane();
    bool is_broken = false, is_scattered = false, is_alike = r + 1 < of.nrows && of.row_ptr[r + 2] - end == end - begin;
    if (k < end) {
      const Index c = of.col_idx[k], below = of.col_idx[min(std::int64_t(k) + (end - begin), of.nnz - 1)];
      const Image<Offset> row = image_of(of, c, Offset(lane()));
      const Offset at = partition_point(row.first, row.last, [&](Offset m) { return __ldg(of.col_idx + m) < r; });
      is_broken = at == row.last || __ldg(of.col_idx + at) != r;
      is_scattered = at != row.guess && abs(below - c) > near_rows;
      is_alike &= below - c == 1;
    }
    const int nbroken = __popc(__ballot_sync(whole_warp, is_broken)),
              nscattered = __popc(__ballot_sync(whole_warp, is_scattered)),
              nentries = __popc(__ballot_sync(whole_warp, k < end));
    if (const Offset length = end - begin; lane() < length) {  // not the first ones alone, whose columns are low
      const Index c = of.col_idx[begin + (length > warp_size ? lane() * (length / warp_size) : lane())];
      atomicAdd(&of_block.in_range[std::int64_t(c) * Sample::nranges / of.ncols], 1);
    }
    const Index own = k < end ? of.col_idx[k] : -1;
    for (int size = 2; size <= Sample::max_unknowns; ++size) {
      const int part = lane() % size;
      const Index first = __shfl_sync(whole_warp, own, lane() - part);
      const bool fits = (end - begin) % size == 0 && (k >= end || (own == first + part && first % size == 0));
      if (!__all_sync(whole_warp, fits) && lane() == 0) atomicOr(&of_block.not_nodes, 1 << size);
    }
    const bool all_alike = __all_sync(whole_warp, is_alike);
    if (lane() == 0) {
      if (nbroken > 0) of_block.broken = 1;
      atomicAdd(&of_block.alike, all_alike ? 1 : -3);
      atomicMax(&of_block.longest, int(min(std::int64_t(end - begin), std::int64_t(INT_MAX))));
      atomicAdd(&of_block.scattered, 2 * nscattered - nentries);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < sample_numbers; i += mirror_threads)
    add(all->sample, i, reinterpret_cast<const int*>(&of_block)[i]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&all->ndone, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  for (int i = threadIdx.x; i < sample_numbers; i += mirror_threads) {
    int* const sum = reinterpret_cast<int*>(&all->sample) + i;
    reinterpret_cast<int*>(&for_host->value)[i] = __ldcg(sum);
    *sum = 0;
  }
  if (threadIdx.x == 0) all->ndone = 0;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) sign(for_host, number);
}

/// Looks at some rows, for read(). Does not wait.
template <class Value, class Offset>
int look(const Cuda& on, const Transposing<Value, Offset>& of, Note<Sample>* for_host) {
  constexpr Index nsamples = 1024;
  const Index step = std::max<Index>(of.nrows / nsamples, 1);
  auto* const all = reinterpret_cast<Looked*>(zero_counters(on, sizeof(Looked) / sizeof(Index)));
  const int number = next_note();
  look_for_images<<<blocks_for((of.nrows / step + std::int64_t(1)) * warp_size, mirror_threads), mirror_threads, 0,
                    on.stream()>>>(of, step, all, for_host, number);
  check_launch("looking at some rows");
  return number;
}

/// Fills the result and returns the bytes of scratch memory taken. Or returns nothing, with anything in the result, where the
/// pattern of A is not symmetric, or a sort takes less time: scattered images are fetched one by one. Waits, up to three times.
template <class Value, class Offset>
std::optional<std::int64_t> mirrored(const Cuda& on, const Transposing<Value, Offset>& of, const Sample& found) {
  if (found.broken > 0 || found.scattered > 0) return {};
  const bool kinds_pay =
      of.nnz >= (found.longest > 12 ? 1 << 24 : 1 << 25);  // or five short kernels take longer than one
  if (kinds_pay && found.alike > 0 && found.longest <= max_kind_length)
    if (const auto taken = transpose_by_kinds(on, of, found.longest)) return taken;
  Scratch scratch(on);
  int* const broken = scratch.take<int>(1).data();
  const auto launch = [&](auto kernel, int rows_per_block) {
    cuda_check(cudaMemsetAsync(broken, 0, sizeof(int), on.stream()), "clearing a flag");
    kernel<<<blocks_for(of.nrows, rows_per_block), mirror_threads, 0, on.stream()>>>(of, broken);
    check_launch("fetching mirrored entries");
    return value_of(on, broken) == 0;
  };
  const auto fits = [&](int size) { return of.nrows % size == 0 && !(found.not_nodes >> size & 1); };
  int size = Sample::max_unknowns;
  while (size > 1 && !fits(size)) --size;
  if (size > 1) {
    bool is_whole = false;
    with_constant<2, 3, 4, 5, 6>(size, [&](auto rows) {
      is_whole = launch(mirror_nodes<rows, Value, Offset>, rows * (mirror_threads / warp_size));
    });
    if (is_whole) return 0;  // else there may be other rows
  }
  const std::int64_t n = of.nnz, rows = of.nrows;  // just enough threads: the others would wait for their warp
  const bool is_whole = n <= 10 * rows   ? launch(mirror<8, Value, Offset>, mirror_threads / 8 * mirror_rounds)
                        : n <= 18 * rows ? launch(mirror<16, Value, Offset>, mirror_threads / 16 * mirror_rounds)
                                         : launch(mirror<32, Value, Offset>, mirror_threads / 32 * mirror_rounds);
  if (!is_whole) return {};
  return 0;
}

}  // namespace

template <class Real, class Offset>
void transpose(const Cuda& on, const CsrView<Real, Offset, Device>& A, Csr<Real, Offset, Device>& T,
               TransposeReport* report) {
  require_transposed(A, T);
  using Value = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  const Transposing<Value, Offset> of{.nrows = A.nrows,
                                      .ncols = A.ncols,
                                      .nnz = A.col_idx.size(),
                                      .row_ptr = A.row_ptr.data(),
                                      .col_idx = A.col_idx.data(),
                                      .values = reinterpret_cast<const Value*>(A.values.data()),
                                      .to_ptr = T.row_ptr.data(),
                                      .to_idx = T.col_idx.data(),
                                      .to_values = reinterpret_cast<Value*>(T.values.data())};
  const auto for_host = reinterpret_cast<Note<Sample>*>(on.staging());
  static_assert(sizeof(*for_host) <= staging_of_counts * sizeof(double));
  std::optional<std::int64_t> taken;
  std::function<Known()> known;
  if (of.nrows == of.ncols && of.nrows > 0)
    known = [&, number = look(on, of, for_host)] {
      const Sample found = read(on, for_host, number);
      taken = mirrored(on, of, found);
      return Known{taken.has_value(), found.crowding()};
    };
  const std::int64_t bytes = transpose_by_buckets(on, of, known) + taken.value_or(0);
  if (report) *report = {.is_mirrored = taken.has_value(), .workspace_bytes = bytes};
}

template <class From, class To>
void convert_detail::copy_offsets(const Cuda& on, DeviceSpan<const From> from, DeviceSpan<To> to) {
  for_each(on, from.size(), "copying row pointers", [=] __device__(std::int64_t i) { to[i] = To(from[i]); });
}

template void convert_detail::instances_of_transpose(const Cuda&);

}  // namespace seidel
