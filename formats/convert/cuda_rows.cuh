// The rows of consecutive entries of a matrix in CSR.
#pragma once
#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/formats/runtime/search.hpp>

namespace seidel::convert_detail {

using namespace seidel::cuda;

/// The row of entry k, one of low ... high.
template <class Offset>
__device__ Index row_of(const Offset* row_ptr, Index low, Index high, std::int64_t k) {
  return partition_point(low, high, [&](Index row) { return __ldg(row_ptr + row + 1) <= k; });
}

/// What a warp needs to find the rows of its entries: those that are not empty, and a bit for each entry that begins one.
template <int rounds>
struct RowsOfWarp {
  std::uint16_t after[rounds * warp_size];  // less the first row
  std::uint32_t begun[rounds];
};

/// Calls take(at, row) with the row of entry begin + at, for at = lane, lane + 32 ... below `count`: one of low, that of entry
/// `begin`, to high.
template <class Offset, int rounds, class Take>
__device__ void find_rows(const Offset* row_ptr, Index low, Index high, std::int64_t begin, int count,
                          RowsOfWarp<rounds>& s, Take take) {
  constexpr int at_once = 2;        // rows of a lane
  constexpr int max_listed = 1024;  // among many empty rows each entry is searched for
  if (high - low > max_listed) {
#pragma unroll 1
    for (int at = lane(); at < count; at += warp_size) take(at, row_of(row_ptr, low, high, begin + at));
    return;
  }
  for (int i = lane(); i < rounds; i += warp_size) s.begun[i] = 0;
  if (lane() == 0) s.after[0] = 0;
  __syncwarp();
  int listed = 1;
  for (Index some = low + 1; some <= high; some += at_once * warp_size) {
    Offset first[at_once], next[at_once];
#pragma unroll
    for (int j = 0; j < at_once; ++j) {
      const Index row = some + j * warp_size + lane();
      first[j] = row <= high ? __ldg(row_ptr + row) : 0;
      next[j] = row <= high ? __ldg(row_ptr + row + 1) : 0;
    }
#pragma unroll
    for (int j = 0; j < at_once; ++j) {
      const std::int64_t at = first[j] - begin;
      const bool begins = next[j] > first[j] && at < rounds * warp_size;
      const unsigned all = __ballot_sync(whole_warp, begins);
      if (begins) {
        s.after[listed + __popc(all & ((1u << lane()) - 1))] = std::uint16_t(some + j * warp_size + lane() - low);
        atomicOr(&s.begun[at / warp_size], 1u << at % warp_size);
      }
      listed += __popc(all);
    }
  }
  __syncwarp();
  const std::uint16_t* after = s.after;
#pragma unroll 8
  for (int i = 0; i < rounds; ++i) {
    const std::uint32_t begun = s.begun[i];
    if (const int at = i * warp_size + lane(); at < count)
      take(at, low + after[__popc(begun & (whole_warp >> (warp_size - 1 - lane())))]);
    after += __popc(begun);
  }
}

}  // namespace seidel::convert_detail
