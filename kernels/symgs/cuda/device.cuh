// What the device sources of the sweeps share: launches, and values that are their own flags.
#pragma once
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/formats/runtime/search.hpp>
#include <seidel/kernels/symgs/cuda/layout.hpp>

namespace seidel::symgs_detail::device {

using cuda::exclusive_sum;
using cuda::whole_warp;

inline constexpr int threads_per_block = 256;  // of kernels that wait for nothing

/// A row's first entry whose column is not below `column`, or its end.
template <class Offset>
__device__ Offset lower_bound(const Offset* row_ptr, const Index* col_idx, Index row, Index column) {
  return partition_point(row_ptr[row], row_ptr[row + 1], [&](Offset k) { return __ldg(col_idx + k) < column; });
}

template <class... Parameters, class... Arguments>
void launch(const Cuda& on, void (*kernel)(Parameters...), std::int64_t blocks, int threads, const char* what,
            const Arguments&... arguments) {
  if (blocks == 0) return;
  kernel<<<unsigned(blocks), threads, 0, on.stream()>>>(Parameters(arguments)...);
  check_launch(what);
}
/// `early`: the kernel may begin before the one launched before it has ended, and waits for that itself.
template <class... Parameters, class... Arguments>
void launch_after(const Cuda& on, bool early, void (*kernel)(Parameters...), std::int64_t blocks, int threads,
                  const char* what, const Arguments&... arguments) {
  if (blocks == 0) return;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = unsigned(blocks);
  config.blockDim = unsigned(threads);
  config.stream = on.stream();
  config.attrs = &attribute;
  config.numAttrs = early;
  cuda_check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), what);
}
/// A thread for each of n.
template <class... Parameters, class... Arguments>
void launch_over(const Cuda& on, std::int64_t n, void (*kernel)(Parameters...), const char* what,
                 const Arguments&... arguments) {
  launch(on, kernel, blocks_for(n, threads_per_block), threads_per_block, what, arguments...);
}

template <class T>
void set_bytes(const Cuda& on, Span<T, Device> data, int byte) {
  if (!data.empty())
    cuda_check(cudaMemsetAsync(data.data(), byte, std::size_t(data.size()) * sizeof(T), on.stream()), "filling memory");
}

/// The stride of slices that are stored with gaps.
using FullStride = std::integral_constant<int, lanes>;

/// What one lane of a slice has: `width` columns, in runs counted from its own place, and values; after these what else
/// the slice keeps. Real is const where nothing is written. Stride: FullStride, or int where the slice may be dense.
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

// A value is its own flag: what is awaited holds a NaN of all ones until it is there. One load or store of 4 or 8 bytes
// is never torn and nothing else is guarded by it, so relaxed order is enough; it goes past L1, which is not coherent.
template <class Real>
struct Unset;
template <>
struct Unset<double> {
  static __device__ double value() { return __longlong_as_double(-1); }
  static __device__ bool is(double v) { return __double2hiint(v) == -1; }  // no result is stored with such a high word
};
template <>
struct Unset<float> {
  static __device__ float value() { return __int_as_float(-1); }
  static __device__ bool is(float v) { return __float_as_int(v) == -1; }
};
template <>
struct Unset<Index> {
  static __device__ bool is(Index v) { return v < 0; }
};

__device__ inline double peek(const double* p) {
  double v;
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(v) : "l"(p));
  return v;
}
__device__ inline float peek(const float* p) {
  float v;
  asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}
__device__ inline Index peek(const Index* p) {
  Index v;
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
__device__ inline void put(double* p, double v) {
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(p), "d"(v) : "memory");
}
__device__ inline void put(float* p, float v) {
  asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory");
}
__device__ inline void put(Index* p, Index v) {
  asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

// Vectors in the matrix's own order: a wavefront takes one entry of a 32-byte sector, the next ones take the others, so
// the sector is to stay in L2 meanwhile, while the matrix streams through. Volatile: the compiler must not hoist the
// load out of the branch that says whether there is a row (memcheck saw it read before the vector).
#if __CUDA_ARCH__ >= 800
__device__ inline std::uint64_t keep_policy() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ inline double load_kept(const double* p) {
  double v;
  asm volatile("ld.global.nc.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(v) : "l"(p), "l"(keep_policy()));
  return v;
}
__device__ inline float load_kept(const float* p) {
  float v;
  asm volatile("ld.global.nc.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(p), "l"(keep_policy()));
  return v;
}
#else
template <class Real>
__device__ Real load_kept(const Real* p) {
  return __ldg(p);
}
#endif
/// A result, in place of an unset value. A NaN that looks unset becomes another NaN.
template <class Real>
__device__ Real publish(Real* p, Real v) {
  if (Unset<Real>::is(v)) v = Real(NAN);
  put(p, v);
  return v;
}

/// Ends a wait that would never end. Counts rounds of polling, not time: a process that is suspended or traced is not
/// hung.
class Patience {
 public:
  static constexpr unsigned rounds_per_look = 1u << 16, limit = 1u << 24;  // the limit takes about 5 s
  __device__ explicit Patience(unsigned* hung) : hung_(hung) {}
  /// Whether to give up, here or because another warp did.
  __device__ bool ends() {
    if (++rounds_ % rounds_per_look != 0) return false;
    if (rounds_ >= limit) *(volatile unsigned*)hung_ = 1;
    return *(volatile unsigned*)hung_ != 0;
  }

 private:
  unsigned* hung_;
  unsigned rounds_ = 0;
};

/// The number of this block in the order in which blocks began: whatever block waits for an earlier one knows that it
/// runs. The last one leaves the counter at 0 for the next launch.
__device__ inline unsigned draw_ticket(unsigned* counter) {
  __shared__ unsigned ticket;
  if (threadIdx.x == 0) {
    ticket = atomicAdd(counter, 1u);
    if (ticket == gridDim.x - 1) *counter = 0;
  }
  __syncthreads();
  return ticket;
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
