// The CUDA back end: its device, its stream, and how its errors are told.
#include <cuda_runtime_api.h>

#include <string_view>

#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/cuda_state.hpp>
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
  message += ':';  // g++ 12 warns of a literal put before a string that is about to go
  message += std::to_string(line) + ": CUDA: " + what + " failed: " + cudaGetErrorString(status) + " (" +
             cudaGetErrorName(status) + ")";
  if (is_lost(status))
    message +=
        "\n  an earlier kernel did this, and the GPU serves this process no more: start the program again, under\n"
        "  compute-sanitizer to see which; or compute on the host";
  else if (const std::string reason = cuda_unavailable_because(); !reason.empty())
    message += "\n  " + reason;
  throw BackendError(message);
}

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
           "  check with nvidia-smi, and CUDA_VISIBLE_DEVICES if it is set; or compute on the host";
  return std::string("CUDA says: ") + cudaGetErrorString(status);
}

CudaState::CudaState(const CudaSettings& settings) : host(settings.host), memory(settings.memory) {
  if (const std::string reason = cuda_unavailable_because(); !reason.empty()) throw BackendError(reason);
  if (settings.device >= 0) cuda_check(cudaSetDevice(settings.device), "choosing the device");
  cuda_check(cudaGetDevice(&device), "asking for the device");
  cuda_check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "asking for the device's size");
  if (!memory) memory = make_device_pool(device);
  cuda_check(cudaHostAlloc(reinterpret_cast<void**>(&staging), 64 * sizeof(double), cudaHostAllocDefault),
             "taking page-locked memory");
  cuda_check(cudaEventCreateWithFlags(&mark, cudaEventDisableTiming), "creating an event");
  if (settings.stream) {
    stream = *settings.stream;
  } else {
    cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    owns_stream = true;
  }
}

CudaState::~CudaState() {
  dense_library.reset();  // it uses the stream
  for (const auto& chunk : scratch.chunks) memory->release(chunk.data, chunk.bytes, stream);
  for (const auto& chunk : counters) memory->release(chunk.data, chunk.bytes, stream);
  for (const cudaEvent_t event : buffers.done)
    if (event) cudaEventDestroy(event);
  for (void* const buffer : buffers.data)
    if (buffer) cudaFreeHost(buffer);
  if (staging) cudaFreeHost(staging);
  if (mark) cudaEventDestroy(mark);
  if (owns_stream) cudaStreamDestroy(stream);
  cudaGetLastError();  // a destructor has nobody to tell
}

Cuda::Cuda(const CudaSettings& settings) : state_(std::make_shared<CudaState>(settings)) {}

int Cuda::device() const { return state_->device; }
CUstream_st* Cuda::stream() const { return state_->stream; }
const OpenMP& Cuda::host() const { return state_->host; }
double* Cuda::staging() const { return state_->staging; }
int Cuda::multiprocessors() const { return state_->multiprocessors; }
std::int64_t Cuda::waits() const { return state_->waits; }
void Cuda::synchronize() const {
  ++state_->waits;
  cuda_check(cudaStreamSynchronize(state_->stream), "work on the device");
}

int cuda_device_count() {
  int count = 0;
  cuda_check(cudaGetDeviceCount(&count), "counting GPUs");
  return count;
}

std::string cuda_device_name() {
  int device = 0;
  cudaDeviceProp properties;
  cuda_check(cudaGetDevice(&device), "asking for the device");
  cuda_check(cudaGetDeviceProperties(&properties, device), "asking for the device's name");
  return properties.name;
}

}  // namespace seidel
