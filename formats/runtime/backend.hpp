// Back ends: small values that say where work runs. Each knows its memory space.
#pragma once
#include <memory>
#include <string>

#include <seidel/config.hpp>
#include <seidel/formats/runtime/span.hpp>

struct CUstream_st;  // cudaStream_t is a pointer to it; so the CPU build needs no CUDA header

namespace seidel {

/// One core.
struct Serial {
  using Space = Host;
  static constexpr int threads = 1;
};

/// Cores the process may use: what the affinity mask, the container's quota and OMP_NUM_THREADS leave.
int available_threads();

/// `threads` cores.
struct OpenMP {
  using Space = Host;
  int threads = available_threads();
};

/// One stream of one GPU. Copies share the stream and the scratch memory, so use one of them at a time.
class Cuda {
 public:
  using Space = Device;

  /// A stream of its own on the current device. Copies between spaces (formats/array.hpp) wait for its work.
  /// Errors  BackendError saying what is missing: the build without CUDA, no driver, no device, none supported.
  Cuda();
  /// Runs on a caller's stream, which must outlive this. If it was made with cudaStreamNonBlocking, copies between spaces
  /// do not wait for its work: call synchronize() before them.
  explicit Cuda(CUstream_st* stream);

  CUstream_st* stream() const;
  /// Blocks until everything given to the stream is done. Errors  BackendError naming a fault of an earlier kernel.
  void synchronize() const;
  /// Device memory for temporaries, the same at each call. Grows (allocates, synchronises) only when more is asked for
  /// than ever before: solvers ask before their loop.
  Span<std::byte, Device> workspace(std::int64_t bytes) const;
  /// Page-locked host memory for scalars that come back from the device: 64 of 8 bytes.
  double* staging() const;
  int multiprocessors() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Why Cuda{} would throw here, or an empty string when it would not. Starts the driver, so it may take 0.1 s and more.
std::string cuda_unavailable_because();
/// The name of the current GPU, as its driver says it.
std::string cuda_device_name();

template <class B>
concept Backend = requires { typename B::Space; } && MemorySpace<typename B::Space>;
template <class B>
concept HostBackend = Backend<B> && std::is_same_v<typename B::Space, Host>;

}  // namespace seidel
