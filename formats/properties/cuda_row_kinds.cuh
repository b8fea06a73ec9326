// Kinds of rows: rows of one kind are alike but for a shift, as those inside a lattice are. Found at the speed of memory.
#pragma once
#include <cstdint>

#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/cuda_warp.cuh>

namespace seidel::properties_detail {

using namespace seidel::cuda;

/// The kinds that rows have been found to be of. A kind is the number of its place here.
struct KindsMet {
  static constexpr int places = 256, max_kinds = 255;
  static constexpr std::int64_t max_length = 64;  // of a row
  static constexpr unsigned long long free = 0;

  unsigned long long place[places];  // hash << 32 | 1 + a row of this kind, which alone says what it is; or free
  int count;                         // of kinds
  int unfit;                         // not 0: too many kinds, or a longer row; the rest means nothing then

  SEIDEL_HD static Index row(unsigned long long place) { return Index(unsigned(place)) - 1; }
};

/// A matrix in CSR, whose rows are of one kind if their columns relative to the row are the same, in the same order, and their
/// values bit for bit. Value: void (columns alone), or an unsigned integer of the size of a value.
template <class Value, class Offset>
struct ComparedRows {
  Index nrows;
  const Offset* row_ptr;
  const Index* col_idx;
  const Value* values = nullptr;

  /// Entry k and entry `other` of a row `shift` rows above.
  __device__ bool alike(Offset k, Offset other, Index shift) const {
    bool same = col_idx[k] - col_idx[other] == shift;
    if constexpr (!std::is_void_v<Value>) same &= values[k] == values[other];
    return same;
  }
  __device__ unsigned hash(Offset k, Index row) const {
    unsigned h = unsigned(col_idx[k] - row);
    if constexpr (!std::is_void_v<Value>) {
      const std::uint64_t bits = values[k];
      h = (h * 0x9e3779b1u) ^ unsigned(bits) ^ (unsigned(bits >> 32) * 0x85ebca6bu);
    }
    return h;
  }
};

__device__ inline unsigned mixed(unsigned h) {  // the end of MurmurHash3 (Appleby)
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

/// The kind of a row that begins at `begin`, new or met before; -1 if A is unfit. By a warp. Which row is kept for a kind depends
/// on chance, what is told of any two rows does not: a hash only says where to look.
template <class Value, class Offset>
__device__ int kind_of_row(const ComparedRows<Value, Offset>& A, KindsMet* met, Index row, Offset begin, Index length) {
  unsigned hash = 0;
  for (Index k = lane(); k < length; k += warp_size) hash += mixed(A.hash(begin + k, row) + unsigned(k) * 0x9e3779b1u);
  for (int other = warp_size / 2; other > 0; other /= 2) hash += __shfl_xor_sync(whole_warp, hash, other);
  hash = mixed(hash + unsigned(length));
  const auto is_like = [&](Index first) {
    const Offset there = A.row_ptr[first];
    bool same = A.row_ptr[first + 1] - there == length;
    for (Index k = lane(); same && k < length; k += warp_size) same = A.alike(begin + k, there + k, row - first);
    return __all_sync(whole_warp, same);
  };
  for (int tried = 0; tried < KindsMet::places; tried += warp_size) {
    const auto place = [&](int of_lane) { return int((hash + tried + of_lane) % KindsMet::places); };
    const unsigned long long seen =
        met->place[place(lane())];  // what is not free stays: an old copy in a cache will do
    unsigned candidates = __ballot_sync(whole_warp, seen == KindsMet::free || seen >> 32 == hash);
    for (; candidates != 0; candidates &= candidates - 1) {
      const int at = __ffs(candidates) - 1;
      unsigned long long there = __shfl_sync(whole_warp, seen, at);
      if (there == KindsMet::free) {
        if (lane() == 0)
          there = atomicCAS(&met->place[place(at)], KindsMet::free, (unsigned long long)hash << 32 | unsigned(row + 1));
        there = __shfl_sync(whole_warp, there, 0);
        if (there == KindsMet::free) {
          if (lane() == 0 && atomicAdd(&met->count, 1) >= KindsMet::max_kinds) met->unfit = 1;
          return place(at);
        }
      }
      if (there >> 32 == hash && is_like(KindsMet::row(there))) return place(at);
    }
  }
  met->unfit = 1;
  return -1;
}

inline constexpr int kinds_threads = 256;
inline constexpr int rows_per_piece = 64;  // of a warp, which looks its first row up

/// One row of every `step`, so that a matrix without kinds is left early.
template <class Value, class Offset>
__global__ void __launch_bounds__(kinds_threads)
    meet_some_rows(const __grid_constant__ ComparedRows<Value, Offset> A, Index step, KindsMet* met) {
  const std::int64_t row = (std::int64_t(blockIdx.x) * kinds_threads + threadIdx.x) / warp_size * step;
  if (row >= A.nrows) return;
  const Offset begin = A.row_ptr[row], length = A.row_ptr[row + 1] - begin;
  if (length > KindsMet::max_length)
    met->unfit = 1;
  else
    kind_of_row(A, met, Index(row), begin, Index(length));
}

/// visit.entry(k, column) for `entries` entries from `first` on, of rows of `size` entries. Whether those from number `compared` on
/// are like the entries of the row above.
template <int batch, class Value, class Offset, class Visit>
__device__ bool like_those_above(const ComparedRows<Value, Offset>& A, Offset first, int compared, int entries,
                                 int size, const Visit& visit) {
  bool same = true;
  for (int e = lane(); e < compared; e += warp_size) visit.entry(first + e, A.col_idx[first + e]);
  const auto step = [&](int begin, auto is_whole) {
    Index column[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const int e = begin + lane() + j * warp_size;
      const Offset k = first + (is_whole ? e : min(e, entries - 1));
      column[j] = A.col_idx[k];
      same &= A.alike(k, k - size, 1);
    }
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (const int e = begin + lane() + j * warp_size; is_whole || e < entries) visit.entry(first + e, column[j]);
  };
  int e = compared;
  for (; e + batch * warp_size <= entries; e += batch * warp_size) step(e, std::true_type{});
  if (e < entries) step(e, std::false_type{});
  return same;
}

/// The kind of each row. visit.row(row, its first entry) for all rows, visit.entry(number of the entry, its column) for all entries.
/// Rows follow each other in runs of one kind: each entry is compared with that of the row above, which lies as many entries
/// before it as the row is long. Only the first row of a run is looked up.
template <class Value, class Offset, class Visit>
__global__ void __launch_bounds__(kinds_threads, std::is_void_v<Value> ? 6 : 4)
    find_kinds_of_rows(const __grid_constant__ ComparedRows<Value, Offset> A, KindsMet* met, std::uint8_t* kinds,
                       const __grid_constant__ Visit visit) {
  constexpr int batch = std::is_void_v<Value> ? 7 : 8;  // entries of a lane under way: what registers hold
  const std::int64_t piece = (std::int64_t(blockIdx.x) * kinds_threads + threadIdx.x) / warp_size;
  const std::int64_t end_row = min(std::int64_t(A.nrows), (piece + 1) * rows_per_piece);
  if (__any_sync(whole_warp, *static_cast<volatile int*>(&met->unfit) != 0)) return;
  int kind = -1;            // of the row above
  Index length_above = -1;  // none: a piece begins with a run
  for (std::int64_t first = piece * rows_per_piece; first < end_row; first += warp_size) {
    const std::int64_t row = first + lane();
    const int nrows = int(min(std::int64_t(warp_size), end_row - first));
    const Offset begin = A.row_ptr[min(row, end_row)], end = A.row_ptr[min(row + 1, end_row)];
    if (__any_sync(whole_warp, end - begin > KindsMet::max_length)) {
      met->unfit = 1;
      return;
    }
    const Index length = Index(end - begin);
    const Index above = __shfl_up_sync(whole_warp, length, 1);
    const unsigned differs =
        __ballot_sync(whole_warp, lane() < nrows && length != (lane() == 0 ? length_above : above));
    unsigned runs = differs;                         // a bit for each row that begins a run
    for (unsigned left = differs | 1; left != 0;) {  // rows of one length that follow each other
      const int top = __ffs(left) - 1;
      left &= left - 1;
      const int bottom = left != 0 ? __ffs(left) - 1 : nrows;
      const int size = __shfl_sync(whole_warp, length, top), entries = (bottom - top) * size;
      const int compared = differs >> top & 1 ? size : 0;
      const Offset from = __shfl_sync(whole_warp, begin, top);
      if (__all_sync(whole_warp, like_those_above<batch>(A, from, compared, entries, size, visit))) continue;
      for (int i = compared / size; i < bottom - top; ++i) {
        bool same = true;
        for (int e = lane(); e < size; e += warp_size)
          same &= A.alike(from + i * size + e, from + (i - 1) * size + e, 1);
        if (!__all_sync(whole_warp, same)) runs |= 1u << (top + i);
      }
    }
    int mine = kind;
    for (unsigned left = runs; left != 0; left &= left - 1) {
      const int top = __ffs(left) - 1;
      const int found = kind_of_row(A, met, Index(first + top), __shfl_sync(whole_warp, begin, top),
                                    __shfl_sync(whole_warp, length, top));
      if (found < 0) return;
      if (lane() >= top) mine = found;
    }
    if (lane() < nrows) {
      kinds[row] = std::uint8_t(mine);
      visit.row(Index(row), begin);
    }
    kind = __shfl_sync(whole_warp, mine, warp_size - 1);
    length_above = __shfl_sync(whole_warp, length, warp_size - 1);
  }
}

/// Sets *met and the kind of each row of A, or met->unfit; nrows > 0. Does not wait.
/// Cost    reads A once; three launches. An unfit matrix is left after a few of its rows.
template <class Value, class Offset, class Visit>
void find_kinds(const Cuda& on, const ComparedRows<Value, Offset>& A, KindsMet* met, std::uint8_t* kinds,
                const Visit& visit) {
  constexpr Index samples = 1024;
  set_bytes(on, DeviceSpan<KindsMet>(met, 1), 0);
  const Index step = A.nrows / samples + 1;
  const auto blocks = [](std::int64_t warps) { return blocks_for(warps * warp_size, kinds_threads); };
  meet_some_rows<<<blocks((A.nrows - 1) / step + std::int64_t(1)), kinds_threads, 0, on.stream()>>>(A, step, met);
  find_kinds_of_rows<<<blocks((A.nrows - 1) / rows_per_piece + std::int64_t(1)), kinds_threads, 0, on.stream()>>>(
      A, met, kinds, visit);
  check_launch("finding kinds of rows");
}

}  // namespace seidel::properties_detail
