// What a build without CUDA answers to those who ask for the device.
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/scratch.hpp>

namespace seidel {

struct CudaState {};

std::string cuda_unavailable_because() {
  return "this seidel was built without CUDA\n"
         "  install the CUDA Toolkit (nvcc on the PATH) and build again: cmake --preset cuda && cmake --build --preset "
         "cuda";
}

namespace {
[[noreturn]] void refuse() { throw BackendError(cuda_unavailable_because()); }
}  // namespace

Cuda::Cuda(const CudaSettings&) { refuse(); }
int Cuda::device() const { refuse(); }
CUstream_st* Cuda::stream() const { refuse(); }
const OpenMP& Cuda::host() const { refuse(); }
void Cuda::synchronize() const { refuse(); }
std::int64_t Cuda::waits() const { refuse(); }
double* Cuda::staging() const { refuse(); }
int Cuda::multiprocessors() const { refuse(); }
int cuda_device_count() { refuse(); }
std::string cuda_device_name() { refuse(); }

Scratch<Cuda>::Scratch(const Cuda&) { refuse(); }
Scratch<Cuda>::~Scratch() = default;
void* Scratch<Cuda>::take_bytes(std::int64_t) { refuse(); }

void* allocate(const Origin<Device>&, std::int64_t) { refuse(); }
void release(const Origin<Device>&, void*, std::int64_t) noexcept {}
void copy_bytes(const Cuda&, Device, void*, Host, const void*, std::int64_t) { refuse(); }
void copy_bytes(const Cuda&, Host, void*, Device, const void*, std::int64_t) { refuse(); }
void copy_bytes(const Cuda&, Device, void*, Device, const void*, std::int64_t) { refuse(); }
void copy_bytes(const Cuda&, Host, void*, Host, const void*, std::int64_t) { refuse(); }
std::int64_t available_bytes(Device) { refuse(); }
std::int64_t available_bytes(const Cuda&) { refuse(); }

}  // namespace seidel
