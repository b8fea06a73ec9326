// What kernels are made of whose threads wait for values of other threads: values that are their own flags, tickets,
// and an end to a wait that would have none.
#pragma once
#include <seidel/formats/runtime/types.hpp>

namespace seidel::cuda {

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

/// Of 4, 8 or 16 bytes: of two values none is torn, and each is its own flag.
template <class T>
__device__ T peek(const T* p) {
  T v;
  if constexpr (sizeof(T) == 4)
    asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(reinterpret_cast<unsigned&>(v)) : "l"(p));
  else if constexpr (sizeof(T) == 8)
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(reinterpret_cast<std::uint64_t&>(v)) : "l"(p));
  else
    asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];"
                 : "=l"(reinterpret_cast<std::uint64_t(&)[2]>(v)[0]), "=l"(reinterpret_cast<std::uint64_t(&)[2]>(v)[1])
                 : "l"(p));
  return v;
}
template <class T>
__device__ void put(T* p, std::type_identity_t<T> v) {
  if constexpr (sizeof(T) == 4)
    asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(reinterpret_cast<unsigned&>(v)) : "memory");
  else if constexpr (sizeof(T) == 8)
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(p), "l"(reinterpret_cast<std::uint64_t&>(v)) : "memory");
  else
    asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(p),
                 "l"(reinterpret_cast<std::uint64_t(&)[2]>(v)[0]), "l"(reinterpret_cast<std::uint64_t(&)[2]>(v)[1])
                 : "memory");
}

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

}  // namespace seidel::cuda
