// What a kernel tells the host while work behind it on the stream goes on.
#pragma once
#include <atomic>

#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/cuda_state.hpp>

namespace seidel::convert_detail {

/// In page-locked memory. No event of the stream stands between kernels, which may then overlap.
template <class T>
struct Note {
  T value;
  int number;  // of the note, written after the value
};

/// A number that no earlier note has, which a kernel that was given up may still write.
inline int next_note() {
  static std::atomic<int> last = 0;
  return ++last;
}

/// By one thread, after others wrote the value and a barrier.
template <class T>
__device__ void sign(Note<T>* note, int number) {
  __threadfence_system();
  *const_cast<volatile int*>(&note->number) = number;
}

/// Waits until the note has that number.
template <class T>
T read(const Cuda& on, const Note<T>* note, int number) {
  ++on.state()->waits;
  while (std::atomic_ref(const_cast<int&>(note->number)).load(std::memory_order_acquire) != number) {
    const cudaError_t status = cudaStreamQuery(on.stream());
    if (status == cudaErrorNotReady) continue;
    cuda_check(status, "work on the device");
    break;
  }
  cudaGetLastError();  // that work was not ready is no error
  return note->value;
}

}  // namespace seidel::convert_detail
