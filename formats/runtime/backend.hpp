// Back ends: small values that say where work runs. Each knows its memory space.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include <seidel/config.hpp>
#include <seidel/formats/runtime/span.hpp>

struct CUstream_st;  // cudaStream_t is a pointer to it; so the CPU build needs no CUDA header

namespace seidel {

/// Cores the process may use: what the affinity mask, the container's quota and OMP_NUM_THREADS leave.
int available_threads();

/// `threads` cores of the host; OpenMP{1} is the serial back end.
struct OpenMP {
  using Space = Host;
  int threads = available_threads();

  void synchronize() const {}  ///< as Cuda::synchronize(): all work is done already
};

/// Takes and gives back memory of a GPU, in the order of a stream. Derive from it to let seidel share the pool of a
/// program (CuPy, PyTorch, RMM) instead of keeping one of its own.
class DeviceAllocator {
 public:
  virtual ~DeviceAllocator() = default;
  /// `bytes` > 0 bytes, 256-byte aligned, for work that `stream` is given from now on. Errors  ResourceError.
  virtual void* allocate(std::int64_t bytes, CUstream_st* stream) = 0;
  /// Takes them back as soon as `stream` has done the work that it was given before.
  virtual void release(void* p, std::int64_t bytes, CUstream_st* stream) noexcept = 0;
  /// Bytes that could be taken now.
  virtual std::int64_t available() const = 0;
};

struct CudaSettings {
  int device = -1;                               // -1: the current one of this thread
  std::optional<CUstream_st*> stream = {};       // a caller's, which must outlive all that uses it; else one of its own
  std::shared_ptr<DeviceAllocator> memory = {};  // a caller's; else a stream-ordered pool of its own
  OpenMP host = {};                              // for the work that a GPU leaves to the host
};

struct CudaState;  // cuda_state.hpp

/// One stream of one GPU, and the memory that goes with it. Copies share both: use one of them at a time.
/// All work is given to the stream in order. A function that returns a value to the host waits for the stream, and says so.
class Cuda {
 public:
  using Space = Device;

  /// A stream of its own on the current device.
  /// Errors  BackendError saying what is missing: the build without CUDA, no driver, no device, none supported.
  Cuda() : Cuda(CudaSettings{}) {}
  /// Runs on a caller's stream of the current device.
  explicit Cuda(CUstream_st* stream) : Cuda(CudaSettings{.stream = stream}) {}
  /// Makes settings.device the current one of this thread: that of the Cuda in use must always be.
  explicit Cuda(const CudaSettings& settings);

  int device() const;
  CUstream_st* stream() const;
  const OpenMP& host() const;
  int multiprocessors() const;
  /// Blocks until everything given to the stream is done. Errors  BackendError naming a fault of an earlier kernel.
  void synchronize() const;
  /// How often the host has waited for the stream so far.
  std::int64_t waits() const;
  /// Page-locked host memory for scalars that come back from the device: 64 of 8 bytes.
  double* staging() const;

  const std::shared_ptr<CudaState>& state() const { return state_; }

 private:
  std::shared_ptr<CudaState> state_;
};

/// The threads of the host that work beside a back end.
inline OpenMP host_of(const OpenMP& on) { return on; }
inline OpenMP host_of(const Cuda& on) { return on.host(); }

/// Why Cuda{} would throw here, or an empty string when it would not. Starts the driver, so it may take 0.1 s and more.
std::string cuda_unavailable_because();
/// How many GPUs there are, at least 1. Errors  BackendError.
int cuda_device_count();
/// The name of the current GPU, as its driver says it.
std::string cuda_device_name();

template <class B>
concept Backend = requires { typename B::Space; } && MemorySpace<typename B::Space>;
template <class B>
concept HostBackend = Backend<B> && std::is_same_v<typename B::Space, Host>;

}  // namespace seidel
