// Entries of up to 32 rows that lie one after another, by a warp: neighbouring lanes take neighbouring entries, however
// short or long the rows are.
#pragma once
#include <seidel/formats/runtime/cuda_warp.cuh>

namespace seidel::cuda {

/// The rows of a warp, one per lane. All lanes take part in every call.
class EntriesOfWarp {
 public:
  /// `length` of this lane's row, 0 where it has none.
  __device__ explicit EntriesOfWarp(Index length)
      : end_(warp_inclusive_sum(length)), total_(__shfl_sync(whole_warp, end_, warp_size - 1)) {}

  struct Place {
    int row;      // the lane whose row it is in
    Index entry;  // of that row
  };
  /// Calls use(place) for all entries, each on one lane.
  __device__ void for_each(const auto& use) const {
    for (Index base = 0; base < total_; base += warp_size) {
      const Index at = base + lane();
      int row = 0;  // rows that end at `at` or before
      for (int by = warp_size / 2; by; by /= 2)
        if (__shfl_sync(whole_warp, end_, row + by - 1) <= at) row += by;
      const Index before = __shfl_sync(whole_warp, end_, row > 0 ? row - 1 : 0);
      if (at < total_) use(Place{row, row > 0 ? at - before : at});
    }
  }

 private:
  Index end_, total_;
};

}  // namespace seidel::cuda
