// Barriers in shared memory at which threads and copies arrive, for stages in a ring.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace seidel::gemm_detail {

/// A barrier in shared memory at which some threads arrive and others wait (mbarrier). Its phases are numbered modulo 2.
class Barrier {
 public:
  __device__ void init(int arrivals) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals) : "memory");
#endif
  }
  __device__ void arrive() {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory");
#endif
  }
  /// Arrives, and lets nobody pass before copies that it is given have brought so many bytes.
  __device__ void arrive_expecting(int bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes)
                 : "memory");
#endif
  }
  /// Arrives twice: with what this thread stored, and as soon as the copies that it began are there.
  __device__ void arrive_with_copies() {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(address()) : "memory");
#endif
    arrive();
  }
  __device__ void wait(unsigned phase) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(address()),
        "r"(phase)
        : "memory");
#endif
  }

  /// Copies the box of a tensor map (CUtensorMap) whose first element is at (x, y) into shared memory by the copy engine, which
  /// reports its bytes here. What lies outside the matrix is 0.
  __device__ void copy_box(void* to, const void* map, int x, int y) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            unsigned(__cvta_generic_to_shared(to))),
        "l"(map), "r"(x), "r"(y), "r"(address())
        : "memory");
#endif
  }
  /// Copies whole units of 16 bytes into shared memory by the copy engine, which reports them here.
  __device__ void copy(uint4* to, const uint4* from, int count) {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     unsigned(__cvta_generic_to_shared(to))),
                 "l"(from), "r"(count * int(sizeof(uint4))), "r"(address())
                 : "memory");
#endif
  }

 private:
  __device__ unsigned address() const { return unsigned(__cvta_generic_to_shared(&state_)); }
  std::uint64_t state_;
};
/// Makes barriers that this thread has initialised known to the copy engine.
__device__ inline void barriers_are_ready() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

/// The place of a stage in a ring, and the phase of its barriers.
template <int stages>
struct RingPlace {
  int stage = 0;
  unsigned phase = 0;
  __device__ void advance() {
    if (++stage == stages) stage = 0, phase ^= 1;
  }
};

}  // namespace seidel::gemm_detail
