// What a build without CUDA answers to those who ask for the device.
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/memory.hpp>

namespace seidel {

struct Cuda::State {};

std::string cuda_unavailable_because() {
  return "this seidel was built without CUDA\n"
         "  install the CUDA Toolkit (nvcc on the PATH) and build again: cmake --preset cuda && cmake --build --preset "
         "cuda";
}

namespace {
[[noreturn]] void refuse() { throw BackendError(cuda_unavailable_because()); }
}  // namespace

Cuda::Cuda() { refuse(); }
Cuda::Cuda(CUstream_st*) { refuse(); }
CUstream_st* Cuda::stream() const { refuse(); }
void Cuda::synchronize() const { refuse(); }
Span<std::byte, Device> Cuda::workspace(std::int64_t) const { refuse(); }
double* Cuda::staging() const { refuse(); }
int Cuda::multiprocessors() const { refuse(); }
std::string cuda_device_name() { refuse(); }

void* allocate(Device, std::int64_t) { refuse(); }
void release(Device, void*) noexcept {}
void copy_bytes(Device, void*, Host, const void*, std::int64_t) { refuse(); }
void copy_bytes(Host, void*, Device, const void*, std::int64_t) { refuse(); }
void copy_bytes(Device, void*, Device, const void*, std::int64_t) { refuse(); }
std::int64_t available_bytes(Device) { refuse(); }

}  // namespace seidel
