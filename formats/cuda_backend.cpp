// The CUDA back end's stream and scratch memory, and the memory of the device.
#include <cuda_runtime.h>

#include <seidel/formats/backend.hpp>
#include <seidel/formats/errors.hpp>
#include <seidel/formats/memory.hpp>

namespace seidel {

namespace {

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw BackendError(std::string("CUDA: ") + what + " failed: " + cudaGetErrorString(status));
}

}  // namespace

struct Cuda::State {
  CUstream_st* stream = nullptr;
  bool owns_stream = false;
  int multiprocessors = 0;
  void* scratch = nullptr;
  std::int64_t scratch_bytes = 0;
  double* staging = nullptr;

  ~State() {
    if (scratch) cudaFree(scratch);
    if (staging) cudaFreeHost(staging);
    if (owns_stream) cudaStreamDestroy(stream);
  }
};

std::string cuda_unavailable_because() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return "";
  cudaGetLastError();
  if (status == cudaErrorInsufficientDriver) return "the NVIDIA driver is missing or older than this CUDA Toolkit needs\n  install or update the driver (nvidia-smi must work)";
  if (status == cudaSuccess || status == cudaErrorNoDevice) return "no NVIDIA GPU was found\n  check with nvidia-smi, and CUDA_VISIBLE_DEVICES if it is set; or take --backend openmp";
  return std::string("CUDA says: ") + cudaGetErrorString(status);
}

Cuda::Cuda() : Cuda(nullptr) {
  check(cudaStreamCreateWithFlags(&state_->stream, cudaStreamNonBlocking), "creating a stream");
  state_->owns_stream = true;
}

Cuda::Cuda(CUstream_st* stream) : state_(std::make_shared<State>()) {
  if (const std::string reason = cuda_unavailable_because(); !reason.empty()) throw BackendError(reason);
  state_->stream = stream;
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaDeviceGetAttribute(&state_->multiprocessors, cudaDevAttrMultiProcessorCount, device), "asking for the device's size");
  check(cudaHostAlloc(reinterpret_cast<void**>(&state_->staging), 64 * sizeof(double), cudaHostAllocDefault), "taking page-locked memory");
}

CUstream_st* Cuda::stream() const { return state_->stream; }
double* Cuda::staging() const { return state_->staging; }
int Cuda::multiprocessors() const { return state_->multiprocessors; }
void Cuda::synchronize() const { check(cudaStreamSynchronize(state_->stream), "work on the device"); }

Span<std::byte, Device> Cuda::workspace(std::int64_t bytes) const {
  if (bytes > state_->scratch_bytes) {
    synchronize();
    release(Device{}, std::exchange(state_->scratch, nullptr));
    state_->scratch_bytes = 0;
    state_->scratch = allocate(Device{}, bytes);
    state_->scratch_bytes = bytes;
  }
  return {static_cast<std::byte*>(state_->scratch), state_->scratch_bytes};
}

std::string cuda_device_name() {
  int device = 0;
  cudaDeviceProp properties;
  check(cudaGetDevice(&device), "asking for the device");
  check(cudaGetDeviceProperties(&properties, device), "asking for the device's name");
  return properties.name;
}

void* allocate(Device, std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  void* p = nullptr;
  const cudaError_t status = cudaMalloc(&p, std::size_t(bytes));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw ResourceError("out of memory: " + std::to_string(bytes) + " bytes of device memory were needed, " +
                        std::to_string(available_bytes(Device{})) + " are free");
  }
  if (status != cudaSuccess) throw BackendError("CUDA: " + std::string(cudaGetErrorString(status)) + "\n" + cuda_unavailable_because());
  return p;
}
void release(Device, void* p) noexcept {
  if (p) cudaFree(p);
}
void copy_bytes(Device, void* to, Host, const void* from, std::int64_t bytes) {
  if (bytes > 0) check(cudaMemcpy(to, from, std::size_t(bytes), cudaMemcpyHostToDevice), "a copy to the device");
}
void copy_bytes(Host, void* to, Device, const void* from, std::int64_t bytes) {
  if (bytes > 0) check(cudaMemcpy(to, from, std::size_t(bytes), cudaMemcpyDeviceToHost), "a copy from the device");
}
void copy_bytes(Device, void* to, Device, const void* from, std::int64_t bytes) {
  if (bytes > 0) check(cudaMemcpy(to, from, std::size_t(bytes), cudaMemcpyDeviceToDevice), "a copy on the device");
}
std::int64_t available_bytes(Device) {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for the free memory");
  return std::int64_t(free);
}

}  // namespace seidel
