// Rows of CSR by way of shared memory: a warp copies the entries of neighbouring rows there, whatever their lengths; then its
// threads read them from there as they need them.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/kernels/cuda_sum.cuh>

namespace seidel::cuda {

/// A warp's part of the shared memory: places for `room` entries.
template <class Real>
struct Stage {
  Real* values;
  Index* col_idx;
  int room;
};

/// Copies to shared memory without a detour through registers; neighbouring lanes copy neighbouring elements. They leave the
/// second cache first, so that x stays there: 0.59 ms for 0.66 on random:4000000x4000000:64000000. Copies of 16 bytes are
/// slower: 0.73 ms for 0.66 on hpcg:192.
template <class T>
__device__ void stage(T* to, const T* from, int count) {
#if __CUDA_ARCH__ >= 800
  std::uint64_t leaves_first;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(leaves_first));
  for (int k = threadIdx.x % warp_size; k < count; k += warp_size)
    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %2, %3;"
                 :
                 : "r"(unsigned(__cvta_generic_to_shared(to + k))), "l"(from + k), "n"(int(sizeof(T))),
                   "l"(leaves_first)
                 : "memory");
#else
  for (int k = threadIdx.x % warp_size; k < count; k += warp_size) to[k] = __ldcs(from + k);
#endif
}
__device__ inline void wait_for_staged() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  __syncwarp();
}

/// What has been copied for the rows of a warp.
struct Staged {
  int place = -1;  // where the row of this thread begins; -1: it is not there
  int next;        // the first row that did not fit; past the last when all are done
};

/// Copies the entries of rows begin, begin + 1, ... of a warp while they fit. G threads hold a row each: [first, last) are
/// its entries. Rows that are `apart` are left out; every other fits by itself. The copies are under way afterwards:
/// wait_for_staged().
template <int G, class Real, class Offset>
__device__ Staged stage_rows(const CsrView<Real, Offset, Device>& A, const Stage<Real>& to, int begin, Offset first,
                             Offset last, bool apart) {
  constexpr int rows = warp_size / G;
  const int mine = int(threadIdx.x) % warp_size / G;
  const unsigned all_apart = __ballot_sync(whole_warp, apart);
  Staged staged;
  int row = begin, used = 0;
  while (row < rows) {
    if (all_apart >> (row * G) & 1) {
      ++row;
      continue;
    }
    const Offset base = __shfl_sync(whole_warp, first, row * G);
    const unsigned fit = __ballot_sync(whole_warp, !apart && last - base <= Offset(to.room - used)) >> (row * G);
    const int fitting = (fit == whole_warp ? warp_size : __ffs(int(~fit)) - 1) / G;
    const int count = fitting < rows - row ? fitting : rows - row;
    if (count == 0) break;
    const int entries = int(__shfl_sync(whole_warp, last, (row + count - 1) * G) - base);
    stage(to.col_idx + used, A.col_idx.data() + base, entries);
    stage(to.values + used, A.values.data() + base, entries);
    if (mine >= row && mine < row + count) staged.place = used + int(first - base);
    used += entries;
    row += count;
  }
  staged.next = row;
  return staged;
}

}  // namespace seidel::cuda
