// Transposition by kinds of rows. The pass that finds the kinds copies the pattern, which is that of A', and a second one
// fetches the values: no column is read to prove a place.
#include <seidel/formats/convert/cuda_mirror_kinds.hpp>

#include <seidel/formats/properties/cuda_row_kinds.cuh>
#include <seidel/formats/runtime/scratch.hpp>

namespace seidel::convert_detail {

using namespace seidel::cuda;
using properties_detail::KindsMet;

namespace {

/// Where entries of rows of each kind are mirrored.
struct Images {
  static constexpr int max_entries = 2048, max_offsets = 256;  // of all kinds
  static constexpr std::uint8_t none = 255;
  struct Entry {
    Index offset;  // column - row
    int opposite;  // the number of -offset among the offsets
  };

  int first[KindsMet::places];                         // of each kind in `entries`
  int length[KindsMet::places];                        // of its rows
  Entry entries[max_entries];                          // kind by kind
  std::uint8_t place[max_offsets * KindsMet::places];  // of [offset][kind]: which entry of its rows that is, or none
};

template <class Offset>
struct CopyPattern {
  Offset* to_ptr;
  Index* to_idx;
  __device__ void row(Index r, Offset begin) const { to_ptr[r] = begin; }
  __device__ void entry(Offset k, Index c) const { __stcs(to_idx + k, c); }
};

/// The offsets of all kinds, numbered in any order. In shared memory.
struct Offsets {
  static constexpr int places = 4 * Images::max_offsets;
  static constexpr Index free = std::numeric_limits<Index>::min();
  Index offset[places];
  int number[places], count;

  /// Where an offset stands; if it is new, where it is put, and -1 if there are too many.
  __device__ int put(Index wanted) {
    for (unsigned at = hash(wanted);; ++at) {
      Index& there = offset[at % places];
      const Index found = atomicCAS(&there, free, wanted);
      if (found == free) number[at % places] = atomicAdd(&count, 1);
      if (found == free || found == wanted) return int(at % places);
      if (*static_cast<volatile int*>(&count) > Images::max_offsets) return -1;
    }
  }
  /// The number of an offset, or -1 if no row has it.
  __device__ int number_of(Index wanted) const {
    for (unsigned at = hash(wanted); offset[at % places] != free; ++at)
      if (offset[at % places] == wanted) return number[at % places];
    return -1;
  }

 private:
  static __device__ unsigned hash(Index wanted) { return unsigned(wanted) * 0x9e3779b1u >> 16; }
};

constexpr int images_threads = 1024;

/// By one block. A becomes unfit if there is more than *to has room for, a row longer than `max_length`, columns that do not ascend
/// or an offset whose opposite no row has.
template <class Value, class Offset>
__global__ void __launch_bounds__(images_threads)
    find_images(const __grid_constant__ Transposing<Value, Offset> of, KindsMet* met, Images* to, int max_length) {
  constexpr int kinds = KindsMet::places;
  __shared__ Offsets offsets;
  __shared__ int ends[kinds];  // of each kind in `entries`
  __shared__ Index rows[kinds];
  __shared__ Offset begins[kinds];
  __shared__ int unfit;
  const int thread = threadIdx.x;
  if (met->unfit) return;
  if (thread == 0) {
    unfit = offsets.count = 0;
    of.to_ptr[of.nrows] = of.row_ptr[of.nrows];
  }
  for (int i = thread; i < Offsets::places; i += images_threads) offsets.offset[i] = Offsets::free;
  int length = 0;
  if (thread < kinds) {
    rows[thread] = KindsMet::row(met->place[thread]);
    begins[thread] = of.row_ptr[max(rows[thread], 0)];
    ends[thread] = length = rows[thread] < 0 ? 0 : int(of.row_ptr[rows[thread] + 1] - begins[thread]);
  }
  __syncthreads();
  for (int step = 1; step < kinds; step *= 2) {
    const int before = thread < kinds && thread >= step ? ends[thread - step] : 0;
    __syncthreads();
    if (thread < kinds) ends[thread] += before;
    __syncthreads();
  }
  if (thread < kinds) {
    to->first[thread] = ends[thread] - length;
    to->length[thread] = length;
    if (length > max_length || ends[kinds - 1] > Images::max_entries) unfit = 1;
  }
  __syncthreads();
  const auto for_each_entry = [&](const auto& body) {  // a warp per kind
    for (int kind = thread / warp_size; kind < kinds; kind += images_threads / warp_size) {
      const int first = kind > 0 ? ends[kind - 1] : 0;
      for (int k = lane(); k < ends[kind] - first; k += warp_size)
        body(kind, k, first + k, of.col_idx + (begins[kind] + k));
    }
  };
  if (unfit == 0)
    for_each_entry([&](int kind, int k, int, const Index* column) {
      if (offsets.put(*column - rows[kind]) < 0 || (k > 0 && column[-1] >= *column)) unfit = 1;
    });
  __syncthreads();
  if (thread == 0 && offsets.count > Images::max_offsets) unfit = 1;
  __syncthreads();
  if (unfit == 0)
    for (int i = thread; i < offsets.count * kinds; i += images_threads) to->place[i] = Images::none;
  __syncthreads();
  if (unfit == 0)
    for_each_entry([&](int kind, int k, int at, const Index* column) {
      const Index offset = *column - rows[kind];
      const int opposite = offsets.number_of(-offset);
      to->place[offsets.number_of(offset) * kinds + kind] = std::uint8_t(k);
      to->entries[at] = {offset, max(opposite, 0)};
      if (opposite < 0) unfit = 1;
    });
  __syncthreads();
  if (thread == 0 && unfit != 0) met->unfit = 1;
}

constexpr int fetch_threads = 128, fetch_warps = fetch_threads / warp_size;

/// The values of A'. A warp takes 32 / parts rows, `parts` lanes to each, so that neighbouring entries of a row and of the rows
/// above and below it, whose images lie side by side, are fetched at once; `batch` entries of a lane are under way. Results pass
/// through shared memory, `room` values for each warp. A becomes unfit where an entry has no image.
template <int parts, int batch, class Value, class Offset>
__global__ void __launch_bounds__(fetch_threads)
    fetch_values(const __grid_constant__ Transposing<Value, Offset> of, const std::uint8_t* kinds, KindsMet* met,
                 const Images* __restrict__ images, int room) {
  constexpr int rows = warp_size / parts;
  extern __shared__ double shared[];
  Value* const results = reinterpret_cast<Value*>(shared) + threadIdx.x / warp_size * room;
  const std::int64_t first = (std::int64_t(blockIdx.x) * fetch_warps + threadIdx.x / warp_size) * rows;
  if (first >= of.nrows || __any_sync(whole_warp, *static_cast<volatile int*>(&met->unfit) != 0)) return;
  const std::int64_t end = min(first + rows, std::int64_t(of.nrows));
  const int mine = lane() / parts, part = lane() % parts;
  const Index r = Index(min(first + mine, end - 1));
  const int kind = kinds[r], length = mine < rows && first + mine < end ? images->length[kind] : 0;
  const Images::Entry* const entries = images->entries + images->first[kind];
  const Offset from = of.row_ptr[first];
  Value* const to = results + (of.row_ptr[r] - from);
  bool whole = true;
  for (int k = part; k < length; k += parts * batch) {
    Images::Entry entry[batch];
    int kind_there[batch], place[batch];
    Offset begin_there[batch];
    Value value[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j) entry[j] = entries[min(k + j * parts, length - 1)];
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const Index c = r + entry[j].offset;
      kind_there[j] = __ldg(kinds + c);
      begin_there[j] = __ldg(of.row_ptr + c);
    }
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      place[j] = images->place[entry[j].opposite * KindsMet::places + kind_there[j]];
      whole &= place[j] != Images::none;
    }
    if (!of.values) continue;
#pragma unroll
    for (int j = 0; j < batch; ++j)  // without an image, anything of A
      value[j] = __ldg(of.values + min(std::int64_t(begin_there[j]) + place[j], of.nnz - 1));
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (k + j * parts < length) to[k + j * parts] = value[j];
  }
  if (!whole) met->unfit = 1;
  if (!of.values) return;
  __syncwarp();
  const int count = int(of.row_ptr[end] - from);
  for (int i = lane(); i < count; i += warp_size) __stcs(of.to_values + from + i, results[i]);
}

template <int parts, int batch, class Value, class Offset>
void fetch(const Cuda& on, const Transposing<Value, Offset>& of, const std::uint8_t* kinds, KindsMet* met,
           const Images* images, int max_length) {
  constexpr int rows = warp_size / parts;
  const int room = rows * max_length;
  fetch_values<parts, batch>
      <<<blocks_for(of.nrows, rows * fetch_warps), fetch_threads, std::size_t(fetch_warps * room) * sizeof(Value),
         on.stream()>>>(of, kinds, met, images, room);
  check_launch("fetching mirrored values by kinds of rows");
}

}  // namespace

template <class Value, class Offset>
std::optional<std::int64_t> transpose_by_kinds(const Cuda& on, const Transposing<Value, Offset>& of, int max_length) {
  constexpr int max_short = 12;  // entries per row which one lane fetches: 32 rows of them fit into shared memory
  Scratch scratch(on);
  KindsMet* const met = scratch.take<KindsMet>(1).data();
  Images* const images = scratch.take<Images>(1).data();
  std::uint8_t* const kinds = scratch.take<std::uint8_t>(of.nrows).data();
  properties_detail::find_kinds(
      on,
      properties_detail::ComparedRows<void, Offset>{.nrows = of.nrows, .row_ptr = of.row_ptr, .col_idx = of.col_idx},
      met, kinds, CopyPattern<Offset>{of.to_ptr, of.to_idx});
  find_images<<<1, images_threads, 0, on.stream()>>>(of, met, images, max_length);
  check_launch("finding images of kinds of rows");
  if (max_length <= max_short)
    fetch<1, 7>(on, of, kinds, met, images, max_length);
  else
    fetch<3, 5>(on, of, kinds, met, images, max_length);
  if (value_of(on, &met->unfit) != 0) return {};
  return std::int64_t(sizeof(KindsMet) + sizeof(Images)) + of.nrows;
}

template std::optional<std::int64_t> transpose_by_kinds(const Cuda&, const Transposing<std::uint64_t, std::int32_t>&,
                                                        int);
template std::optional<std::int64_t> transpose_by_kinds(const Cuda&, const Transposing<std::uint64_t, std::int64_t>&,
                                                        int);
template std::optional<std::int64_t> transpose_by_kinds(const Cuda&, const Transposing<std::uint32_t, std::int32_t>&,
                                                        int);
template std::optional<std::int64_t> transpose_by_kinds(const Cuda&, const Transposing<std::uint32_t, std::int64_t>&,
                                                        int);

}  // namespace seidel::convert_detail
