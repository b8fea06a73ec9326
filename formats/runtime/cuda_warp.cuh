// The 32 threads of a warp.
#pragma once
#include <cstring>
#include <type_traits>

#include <seidel/formats/runtime/types.hpp>

namespace seidel::cuda {

inline constexpr int warp_size = 32;
inline constexpr unsigned whole_warp = 0xffffffffu;

/// The number of this thread in its warp, in blocks of one dimension.
__device__ inline int lane() { return int(threadIdx.x % warp_size); }

/// The value of lane + `by`; any trivially copyable type of 4-byte words. All lanes take part.
template <class T>
__device__ T shuffle_down(const T& value, int by) {
  if constexpr (std::is_arithmetic_v<T>) {
    return __shfl_down_sync(whole_warp, value, by);
  } else {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % 4 == 0);
    unsigned words[sizeof(T) / 4];
    memcpy(words, &value, sizeof(T));
    for (unsigned& word : words) word = __shfl_down_sync(whole_warp, word, by);
    T other;
    memcpy(&other, words, sizeof(T));
    return other;
  }
}

/// The sum of the values of the lanes up to this one, its own included. All lanes take part.
template <class T>
__device__ T warp_inclusive_sum(T value) {
#pragma unroll
  for (int by = 1; by < warp_size; by *= 2) {
    const T before = __shfl_up_sync(whole_warp, value, by);
    if (lane() >= by) value += before;
  }
  return value;
}

}  // namespace seidel::cuda
