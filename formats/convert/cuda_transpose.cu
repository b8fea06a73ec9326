// Transposition on the device, and copies with other row pointers.
#include <seidel/formats/convert.hpp>

#include <numeric>

#include <seidel/formats/convert/cuda_buckets.hpp>
#include <seidel/formats/convert/cuda_device.cuh>
#include <seidel/formats/convert/cuda_distribution.hpp>
#include <seidel/formats/convert/refusals.hpp>
#include <seidel/formats/convert/transposed.hpp>
#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/formats/runtime/search.hpp>

namespace seidel {

using namespace convert_detail;

namespace {

/// Where row c of A begins and ends, and the place that entry (c, r) is likely to have in it: the one that it has if row
/// c is row r mirrored. Rows of a lattice are, but at its boundaries.
template <class Offset>
struct Image {
  Offset first, last, guess;
};
template <class Value, class Offset>
__device__ Image<Offset> image_of(const Transposing<Value, Offset>& of, Index c, Offset from_begin) {
  const Offset first = __ldg(of.row_ptr + c), last = __ldg(of.row_ptr + c + 1);
  return {first, last, last - first > from_begin ? last - 1 - from_begin : first};
}

/// The place of column r in row c of A, or -1. found is the column at the guess.
template <class Value, class Offset>
__device__ std::int64_t place_of(const Transposing<Value, Offset>& of, const Image<Offset>& row, Index r, Index found) {
  constexpr int max_walk = 8;
  const auto [first, last, guess] = row;
  if (first == last) return -1;
  Offset at = guess;
  for (int step = 0; step < max_walk && found < r && at + 1 < last; ++step) found = __ldg(of.col_idx + ++at);
  for (int step = 0; step < max_walk && found > r && at > first; ++step) found = __ldg(of.col_idx + --at);
  if (found == r) return at;
  at = partition_point(first, last, [&](Offset k) { return __ldg(of.col_idx + k) < r; });
  return at < last && __ldg(of.col_idx + at) == r ? std::int64_t(at) : -1;
}

constexpr int mirror_threads = 256;
constexpr int mirror_rounds = 4;  // of a block, whose rows follow each other and share lines of the first cache

/// A' where the pattern of A is symmetric, by `group` threads per row: each value is fetched from its mirrored place,
/// beside the column that proves the place to be right. broken becomes 1 where an entry has no image or columns do not
/// ascend: else distinct entries have distinct images, and all of them are found.
template <int group, class Value, class Offset>
__global__ void __launch_bounds__(mirror_threads, 2048 / mirror_threads)
    mirror(Transposing<Value, Offset> of, int* broken) {
  constexpr int rows_at_once = mirror_threads / group;
  const std::int64_t begin_row = std::int64_t(blockIdx.x) * rows_at_once * mirror_rounds;
  const Index end_row = Index(min(std::int64_t(of.nrows), begin_row + rows_at_once * mirror_rounds));
  if (blockIdx.x == 0 && threadIdx.x == 0) of.to_ptr[of.nrows] = of.row_ptr[of.nrows];
  bool whole = true;
  for (std::int64_t r = begin_row + threadIdx.x / group; r < end_row; r += rows_at_once) {
    const Offset begin = of.row_ptr[r], end = of.row_ptr[r + 1];
    const int mine = threadIdx.x % group;
    if (mine == 0) of.to_ptr[r] = begin;
    for (Offset k = begin + mine; k < end; k += group) {
      const Index c = __ldg(of.col_idx + k);
      const Image<Offset> row = image_of(of, c, Offset(k - begin));
      const Offset guess = min(row.guess, Offset(of.nnz - 1));  // an empty last row has none
      const Index found = __ldg(of.col_idx + guess);
      Value value = of.values ? __ldg(of.values + guess) : 0;
      const std::int64_t at = place_of(of, row, Index(r), found);
      whole &= at >= 0 && (k == begin || __ldg(of.col_idx + k - 1) < c);
      __stcs(of.to_idx + k, c);
      if (!of.values || at < 0) continue;
      if (at != guess) value = __ldg(of.values + at);
      __stcs(of.to_values + k, value);
    }
  }
  if (!whole) *broken = 1;
}

/// What some entries of A say: whether one has no image, how many more are scattered than are not, and how many stand in
/// each of some equal ranges of columns.
struct Sample {
  static constexpr int nranges = 64;
  int broken = 0;  // 0 or 1
  int scattered = 0;
  int in_range[nranges] = {};

  /// How many times more entries than the average the fullest range has.
  double crowding() const {
    const int all = std::accumulate(in_range, in_range + nranges, 0);
    return all > 0 ? double(*std::max_element(in_range, in_range + nranges)) * nranges / all : 1;
  }
};

/// The first entries of one row of every `step`: not always the same one, or all could lie on one side of a lattice. A
/// lane for each entry. It is scattered if its image is not where it was looked for first, and the image of the entry
/// below it, in the next row, lies far from it: neighbours then share no line of a cache.
template <class Value, class Offset>
__global__ void look_for_images(Transposing<Value, Offset> of, Index step, Sample* sample) {
  constexpr Index near_rows = 1024;
  const std::int64_t i = (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp_size;
  const std::int64_t r = i * step + unsigned(i) * 2654435761u % unsigned(step);
  if (r >= of.nrows) return;
  const Offset begin = of.row_ptr[r], end = of.row_ptr[r + 1], k = begin + lane();
  bool is_broken = false, is_scattered = false;
  if (k < end) {
    const Index c = of.col_idx[k], below = of.col_idx[min(std::int64_t(k) + (end - begin), of.nnz - 1)];
    const Image<Offset> row = image_of(of, c, Offset(lane()));
    const Offset at = partition_point(row.first, row.last, [&](Offset m) { return __ldg(of.col_idx + m) < r; });
    is_broken = at == row.last || __ldg(of.col_idx + at) != r;
    is_scattered = at != row.guess && abs(below - c) > near_rows;
  }
  const int nbroken = __popc(__ballot_sync(whole_warp, is_broken)),
            nscattered = __popc(__ballot_sync(whole_warp, is_scattered)),
            nentries = __popc(__ballot_sync(whole_warp, k < end));
  if (const Offset length = end - begin; lane() < length) {  // not the first ones alone, whose columns are low
    const Index c = of.col_idx[begin + (length > warp_size ? lane() * (length / warp_size) : lane())];
    atomicAdd(&sample->in_range[std::int64_t(c) * Sample::nranges / of.ncols], 1);
  }
  if (lane() != 0) return;
  if (nbroken > 0) sample->broken = 1;
  atomicAdd(&sample->scattered, 2 * nscattered - nentries);
}

/// False, with anything in the result, where the pattern of A is not symmetric, or a sort takes less time: scattered images
/// are fetched one by one. crowding: as far as it was found, as Sample has it. Waits, once or twice.
template <class Value, class Offset>
bool is_mirrored(const Cuda& on, const Transposing<Value, Offset>& of, double& crowding) {
  constexpr Index nsamples = 1024;
  if (of.nrows != of.ncols || of.nrows == 0) return false;
  Array<Sample, Device> sample = one_of<Sample>(on, {});
  const Index step = std::max<Index>(of.nrows / nsamples, 1);
  look_for_images<<<blocks_for((of.nrows / step + std::int64_t(1)) * warp_size, mirror_threads), mirror_threads, 0,
                    on.stream()>>>(of, step, sample.data());
  check_launch("looking at some rows");
  const Sample found = value_of(on, sample.data());
  crowding = found.crowding();
  if (found.broken > 0 || found.scattered > 0) return false;
  int* const broken = &sample.data()->broken;
  const auto launch = [&](auto kernel, int group) {
    kernel<<<blocks_for(of.nrows, mirror_threads / group * mirror_rounds), mirror_threads, 0, on.stream()>>>(of,
                                                                                                             broken);
    check_launch("fetching mirrored entries");
  };
  const std::int64_t n = of.nnz, rows = of.nrows;  // just enough threads: the others would wait for their warp
  if (n <= 10 * rows)
    launch(mirror<8, Value, Offset>, 8);
  else if (n <= 18 * rows)
    launch(mirror<16, Value, Offset>, 16);
  else
    launch(mirror<32, Value, Offset>, 32);
  return value_of(on, broken) == 0;
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
  double crowding = 1;
  TransposeReport how{.is_mirrored = is_mirrored(on, of, crowding)};
  if (!how.is_mirrored) {
    const std::optional<std::int64_t> by_buckets = transpose_by_buckets(on, of, crowding);
    how.workspace_bytes = by_buckets ? *by_buckets : transpose_by_distribution(on, of);
  }
  if (report) *report = how;
}

template <class Real, class Offset>
Csr<Real, Offset, Device> transpose(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  auto T = room_for_transpose(on, A);
  transpose(on, A, T);
  return T;
}

template <class NewOffset, class Real, class Offset>
Csr<Real, NewOffset, Device> with_offsets(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  require_offsets<NewOffset>("with_offsets", A.nnz(), "keep 64-bit row pointers");
  Csr<Real, NewOffset, Device> to{A.nrows, A.ncols, Array<NewOffset, Device>(on, A.row_ptr.size()),
                                  Array<Index, Device>(on, A.nnz()), Array<Real, Device>(on, A.nnz())};
  for_each(on, A.row_ptr.size(), "copying row pointers",
           [=, ptr = to.row_ptr.data()] __device__(std::int64_t i) { ptr[i] = NewOffset(A.row_ptr[i]); });
  for_each(on, A.nnz(), "copying entries",
           [=, col_idx = to.col_idx.data(), values = to.values.data()] __device__(std::int64_t k) {
             col_idx[k] = A.col_idx[k];
             values[k] = A.values[k];
           });
  return to;
}

template void transpose(const Cuda&, const CsrView<double, std::int32_t, Device>&, Csr<double, std::int32_t, Device>&,
                        TransposeReport*);
template void transpose(const Cuda&, const CsrView<double, std::int64_t, Device>&, Csr<double, std::int64_t, Device>&,
                        TransposeReport*);
template void transpose(const Cuda&, const CsrView<float, std::int32_t, Device>&, Csr<float, std::int32_t, Device>&,
                        TransposeReport*);
template void transpose(const Cuda&, const CsrView<float, std::int64_t, Device>&, Csr<float, std::int64_t, Device>&,
                        TransposeReport*);
template void transpose(const Cuda&, const CsrView<std::int32_t, std::int32_t, Device>&,
                        Csr<std::int32_t, std::int32_t, Device>&, TransposeReport*);
template void transpose(const Cuda&, const CsrView<std::int64_t, std::int64_t, Device>&,
                        Csr<std::int64_t, std::int64_t, Device>&, TransposeReport*);
template Csr<double, std::int32_t, Device> transpose(const Cuda&, const CsrView<double, std::int32_t, Device>&);
template Csr<double, std::int64_t, Device> transpose(const Cuda&, const CsrView<double, std::int64_t, Device>&);
template Csr<float, std::int32_t, Device> transpose(const Cuda&, const CsrView<float, std::int32_t, Device>&);
template Csr<float, std::int64_t, Device> transpose(const Cuda&, const CsrView<float, std::int64_t, Device>&);

template Csr<double, std::int32_t, Device> with_offsets<std::int32_t>(const Cuda&,
                                                                      const CsrView<double, std::int32_t, Device>&);
template Csr<double, std::int32_t, Device> with_offsets<std::int32_t>(const Cuda&,
                                                                      const CsrView<double, std::int64_t, Device>&);
template Csr<float, std::int32_t, Device> with_offsets<std::int32_t>(const Cuda&,
                                                                     const CsrView<float, std::int32_t, Device>&);
template Csr<float, std::int32_t, Device> with_offsets<std::int32_t>(const Cuda&,
                                                                     const CsrView<float, std::int64_t, Device>&);
template Csr<double, std::int64_t, Device> with_offsets<std::int64_t>(const Cuda&,
                                                                      const CsrView<double, std::int32_t, Device>&);
template Csr<double, std::int64_t, Device> with_offsets<std::int64_t>(const Cuda&,
                                                                      const CsrView<double, std::int64_t, Device>&);
template Csr<float, std::int64_t, Device> with_offsets<std::int64_t>(const Cuda&,
                                                                     const CsrView<float, std::int32_t, Device>&);
template Csr<float, std::int64_t, Device> with_offsets<std::int64_t>(const Cuda&,
                                                                     const CsrView<float, std::int64_t, Device>&);

}  // namespace seidel
