// What the handles of one Cuda share. For the sources of the CUDA back end only: without a CUDA Toolkit it holds nothing.
#pragma once
#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>

#include <array>
#include <vector>

#include <seidel/formats/runtime/memory.hpp>

namespace seidel {

/// Page-locked buffers through which large copies go, taken when the first one comes.
struct CopyBuffers {
  static constexpr std::int64_t bytes = 8 << 20;  // 0.15 ms on the bus: a thousand times what a copy costs to begin
  static constexpr int count = 3;                 // one that travels, one that is filled, one to spare
  std::array<void*, count> data = {};
  std::array<cudaEvent_t, count> done = {};
};

/// Memory of Scratch: chunks that are used up one after another.
struct ScratchMemory {
  struct Chunk {
    void* data;
    std::int64_t bytes;
  };
  std::vector<Chunk> chunks;
  std::int64_t chunk = 0, used = 0;  // chunks before `chunk` are in use, and `used` bytes of it
};

struct CudaState {
  int device = 0, multiprocessors = 0;
  CUstream_st* stream = nullptr;
  bool owns_stream = false;
  OpenMP host;
  std::int64_t waits = 0;
  std::shared_ptr<DeviceAllocator> memory;
  ScratchMemory scratch;
  CopyBuffers buffers;
  double* staging = nullptr;
  cudaEvent_t mark = nullptr;  // a point of the stream that the host waits for while work behind it goes on
  std::shared_ptr<void> dense_library;  // of kernels/gemm/cublas.cpp, which knows its type; taken at its first product
  std::vector<ScratchMemory::Chunk> counters;  // of zero_counters(); all are kept, since graphs may know them

  explicit CudaState(const CudaSettings& settings);
  CudaState(const CudaState&) = delete;
  ~CudaState();
};

/// A stream-ordered pool on `device` that keeps what is given back until it ends.
std::shared_ptr<DeviceAllocator> make_device_pool(int device);

}  // namespace seidel
#endif
