// The CUDA back end's stream and scratch memory, and the memory of the device.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/memory.hpp>

namespace seidel {

namespace {

/// The path from the project's root: the compiler knows the place of the machine that built it, which helps nobody.
std::string_view from_root(std::string_view path) {
  for (const char* folder : {"/tests/", "/formats/", "/kernels/", "/solvers/", "/drivers/"})
    if (const auto at = path.rfind(folder); at != path.npos) return path.substr(at + 1);
  return path;
}

/// After these nothing works until the process ends: CUDA gives the same error at every call.
bool is_lost(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable: return true;
    default: return false;
  }
}

}  // namespace

void throw_cuda_error(cudaError_t status, const char* what, const char* file, int line) {
  cudaGetLastError();  // a failed call must not look like a failed launch later
  std::string message(from_root(file));
  message += ":" + std::to_string(line) + ": CUDA: " + what + " failed: " + cudaGetErrorString(status) + " (" +
             cudaGetErrorName(status) + ")";
  if (is_lost(status))
    message +=
        "\n  an earlier kernel did this, and the GPU serves this process no more: start the program again, under\n"
        "  compute-sanitizer to see which; or take --backend openmp";
  else if (const std::string reason = cuda_unavailable_because(); !reason.empty())
    message += "\n  " + reason;
  throw BackendError(message);
}

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
    cudaGetLastError();  // a destructor has nobody to tell
  }
};

std::string cuda_unavailable_because() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return "";
  cudaGetLastError();
  if (status == cudaErrorInsufficientDriver)
    return "the NVIDIA driver is missing or older than this CUDA Toolkit needs\n"
           "  install or update the driver (nvidia-smi must work)";
  if (status == cudaSuccess || status == cudaErrorNoDevice)
    return "no NVIDIA GPU was found\n"
           "  check with nvidia-smi, and CUDA_VISIBLE_DEVICES if it is set; or take --backend openmp";
  return std::string("CUDA says: ") + cudaGetErrorString(status);
}

Cuda::Cuda() : Cuda(nullptr) {
  // Not cudaStreamNonBlocking: copies between spaces go through the default stream, and this one keeps in step with it.
  cuda_check(cudaStreamCreate(&state_->stream), "creating a stream");
  state_->owns_stream = true;
}

Cuda::Cuda(CUstream_st* stream) : state_(std::make_shared<State>()) {
  if (const std::string reason = cuda_unavailable_because(); !reason.empty()) throw BackendError(reason);
  state_->stream = stream;
  int device = 0;
  cuda_check(cudaGetDevice(&device), "asking for the device");
  cuda_check(cudaDeviceGetAttribute(&state_->multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "asking for the device's size");
  cuda_check(cudaHostAlloc(reinterpret_cast<void**>(&state_->staging), 64 * sizeof(double), cudaHostAllocDefault),
             "taking page-locked memory");
}

CUstream_st* Cuda::stream() const { return state_->stream; }
double* Cuda::staging() const { return state_->staging; }
int Cuda::multiprocessors() const { return state_->multiprocessors; }
void Cuda::synchronize() const { cuda_check(cudaStreamSynchronize(state_->stream), "work on the device"); }

Span<std::byte, Device> Cuda::workspace(std::int64_t bytes) const {
  if (bytes > state_->scratch_bytes) {
    synchronize();  // earlier kernels may still use what is given back now
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
  cuda_check(cudaGetDevice(&device), "asking for the device");
  cuda_check(cudaGetDeviceProperties(&properties, device), "asking for the device's name");
  return properties.name;
}

void* allocate(Device, std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  void* p = nullptr;
  const cudaError_t status = cudaMalloc(&p, std::size_t(bytes));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw ResourceError("out of memory: " + std::to_string(bytes) + " bytes of device memory were needed, " +
                        std::to_string(available_bytes(Device{})) +
                        " are free\n  end what else uses the GPU (nvidia-smi lists it), or take --backend openmp");
  }
  cuda_check(status, "taking device memory");
  return p;
}
void release(Device, void* p) noexcept {
  if (p && cudaFree(p) != cudaSuccess) cudaGetLastError();
}

namespace {

/// cudaMemcpy alone may return while the last part of the copy is still under way.
void copy_and_wait(void* to, const void* from, std::int64_t bytes, cudaMemcpyKind kind, const char* what) {
  if (bytes == 0) return;
  cuda_check(cudaMemcpy(to, from, std::size_t(bytes), kind), what);
  cuda_check(cudaStreamSynchronize(cudaStreamLegacy), what);
}

}  // namespace

void copy_bytes(Device, void* to, Host, const void* from, std::int64_t bytes) {
  copy_and_wait(to, from, bytes, cudaMemcpyHostToDevice, "a copy to the device");
}
void copy_bytes(Host, void* to, Device, const void* from, std::int64_t bytes) {
  copy_and_wait(to, from, bytes, cudaMemcpyDeviceToHost, "a copy from the device");
}
void copy_bytes(Device, void* to, Device, const void* from, std::int64_t bytes) {
  copy_and_wait(to, from, bytes, cudaMemcpyDeviceToDevice, "a copy on the device");
}
std::int64_t available_bytes(Device) {
  std::size_t free = 0, total = 0;
  cuda_check(cudaMemGetInfo(&free, &total), "asking for the free memory");
  return std::int64_t(free);
}

}  // namespace seidel
