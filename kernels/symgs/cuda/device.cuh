// What the device sources of the sweeps share: what a lane has of a slice, and what is said to the caches.
#pragma once
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/kernels/cuda_waiting.cuh>
#include <seidel/kernels/symgs/cuda/layout.hpp>

namespace seidel::symgs_detail::device {

using cuda::draw_ticket, cuda::exclusive_sum, cuda::launch, cuda::launch_over, cuda::Patience, cuda::peek,
    cuda::publish, cuda::put, cuda::set_bytes, cuda::Unset, cuda::whole_warp;

/// The stride of slices that are stored with gaps.
using FullStride = std::integral_constant<int, lanes>;

/// Where the columns and the values of a slice, or of a block, begin. Real is const where nothing is written.
template <class Real>
struct Entries {
  std::conditional_t<std::is_const_v<Real>, const Index, Index>* columns;
  Real* values;
};
template <class Real, class Byte>
__device__ Entries<Real> entries_at(Byte* stream, unsigned at, unsigned units_of_columns) {
  Byte* const p = stream + std::int64_t(at) * unit_bytes;
  return {reinterpret_cast<decltype(Entries<Real>::columns)>(p),
          reinterpret_cast<Real*>(p + std::int64_t(units_of_columns) * unit_bytes)};
}

/// What one lane of a slice has: `width` columns, in runs counted from its own place, and values; after these what else
/// the slice keeps. Stride: FullStride, or int where the slice may be dense.
template <class Real, class Stride = FullStride>
struct LaneEntries {
  using Column = std::conditional_t<std::is_const_v<Real>, const Index, Index>;
  Column* columns;
  Real* values;
  Index step, base;
  Stride stride;

  template <class Byte>
  __device__ LaneEntries(Byte* stream, const Item& item, int lane, Stride stride = {}) : stride(stride) {
    Byte* const p = stream + std::int64_t(item.at) * unit_bytes;
    const bool in_runs = item.kind() == Kind::runs;
    const int run = in_runs ? __popc(item.watch & ((2u << lane) - 1)) - 1 : 0,
              lists = in_runs ? __popc(item.watch) : int(stride);
    columns = reinterpret_cast<Column*>(p) + (in_runs ? run * item.width() : lane);
    values = reinterpret_cast<Real*>(p + column_units(item.width(), lists) * unit_bytes) + lane;
    step = in_runs ? 1 : int(stride);
    base = in_runs ? item.place + lane : 0;
  }
  /// Negative where there is nothing.
  __device__ Index column(int slot) const { return __ldcs(columns + slot * step) + base; }
  __device__ Real value(int slot) const { return __ldcs(values + slot * stride); }
};

// Vectors in the matrix's own order: a wavefront takes one entry of a 32-byte sector, the next ones take the others, so
// the sector is to stay in L2 meanwhile, while the matrix streams through. Volatile: the compiler must not hoist the
// load out of the branch that says whether there is a row (memcheck saw it read before the vector).
template <class Real>
__device__ Real load_kept(const Real* p) {
#if __CUDA_ARCH__ >= 800
  Real v;
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  if constexpr (sizeof(Real) == 8)
    asm volatile("ld.global.nc.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(v) : "l"(p), "l"(policy));
  else
    asm volatile("ld.global.nc.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(p), "l"(policy));
  return v;
#else
  return __ldg(p);
#endif
}
__device__ inline void prefetch(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }
/// Starts bringing `bytes` (a multiple of 16) from p on, 16-byte aligned, into L2.
__device__ inline void bring(const void* p, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(p), "r"(bytes) : "memory");
#else
  (void)p, (void)bytes;
#endif
}

}  // namespace seidel::symgs_detail::device
