// Reads of what is read once.
#pragma once
#include <cstdint>

namespace seidel::cuda {

/// An entry of a matrix: it leaves the caches first, so that x stays there.
template <class T>
__device__ T streamed(const T* p) {
#if __CUDA_ARCH__ >= 800
  std::uint64_t leaves_first;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(leaves_first));
  T value;
  if constexpr (sizeof(T) == 8)
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.b64 %0, [%1], %2;"
                 : "=l"(reinterpret_cast<std::uint64_t&>(value))
                 : "l"(p), "l"(leaves_first));
  else
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.b32 %0, [%1], %2;"
                 : "=r"(reinterpret_cast<std::uint32_t&>(value))
                 : "l"(p), "l"(leaves_first));
  return value;
#else
  return __ldcs(p);
#endif
}

}  // namespace seidel::cuda
