// Memory of the device: pools, scratch, and copies in the order of a stream.
#include <algorithm>

#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/cuda_state.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/scratch.hpp>

namespace seidel {

namespace {

/// Errors  ResourceError if `status` says that there is not so much memory.
void check_taken(cudaError_t status, std::int64_t bytes, const DeviceAllocator& from) {
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw ResourceError("out of memory: " + std::to_string(bytes) + " bytes of device memory were needed, " +
                        std::to_string(from.available()) +
                        " are free\n  end what else uses the GPU (nvidia-smi lists it), or compute on the host");
  }
  cuda_check(status, "taking device memory");
}

/// Source  NVIDIA, CUDA C++ Programming Guide, "Stream Ordered Memory Allocator".
class DevicePool final : public DeviceAllocator {
 public:
  explicit DevicePool(int device) {
    cudaMemPoolProps wanted{};
    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.location.type = cudaMemLocationTypeDevice;
    wanted.location.id = device;
    cuda_check(cudaMemPoolCreate(&pool_, &wanted), "creating a pool of device memory");
    std::uint64_t keep_all = UINT64_MAX;
    cuda_check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep_all), "setting up a pool");
  }
  DevicePool(const DevicePool&) = delete;
  ~DevicePool() override {
    cudaMemPoolDestroy(pool_);
    cudaGetLastError();
  }

  void* allocate(std::int64_t bytes, CUstream_st* stream) override {
    void* p = nullptr;
    check_taken(cudaMallocFromPoolAsync(&p, std::size_t(bytes), pool_, stream), bytes, *this);
    return p;
  }
  void release(void* p, std::int64_t, CUstream_st* stream) noexcept override {
    if (cudaFreeAsync(p, stream) != cudaSuccess) cudaGetLastError();
  }
  std::int64_t available() const override {
    std::uint64_t reserved = 0, used = 0;
    cuda_check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved), "asking a pool");
    cuda_check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used), "asking a pool");
    return available_bytes(Device{}) + std::int64_t(reserved - used);
  }

 private:
  cudaMemPool_t pool_ = nullptr;
};

/// For GPUs that know no stream-ordered memory.
class PlainMemory final : public DeviceAllocator {
 public:
  void* allocate(std::int64_t bytes, CUstream_st*) override {
    void* p = nullptr;
    check_taken(cudaMalloc(&p, std::size_t(bytes)), bytes, *this);
    return p;
  }
  void release(void* p, std::int64_t, CUstream_st*) noexcept override {
    if (cudaFree(p) != cudaSuccess) cudaGetLastError();
  }
  std::int64_t available() const override { return available_bytes(Device{}); }
};

}  // namespace

std::shared_ptr<DeviceAllocator> make_device_pool(int device) {
  int has_pools = 0;
  cuda_check(cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, device), "asking for pools");
  if (has_pools) return std::make_shared<DevicePool>(device);
  return std::make_shared<PlainMemory>();
}

void* allocate(const Origin<Device>& from, std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  return from.state->memory->allocate(bytes, from.state->stream);
}
void release(const Origin<Device>& to, void* p, std::int64_t bytes) noexcept {
  if (p) to.state->memory->release(p, bytes, to.state->stream);
}

std::int64_t available_bytes(Device) {
  std::size_t free = 0, total = 0;
  cuda_check(cudaMemGetInfo(&free, &total), "asking for the free memory");
  return std::int64_t(free);
}

std::int64_t available_bytes(const Cuda& on) { return on.state()->memory->available(); }

Scratch<Cuda>::Scratch(const Cuda& on)
    : state_(on.state()), chunk_(state_->scratch.chunk), used_(state_->scratch.used) {}

Scratch<Cuda>::~Scratch() {
  state_->scratch.chunk = chunk_;
  state_->scratch.used = used_;
}

void* Scratch<Cuda>::take_bytes(std::int64_t bytes) {
  constexpr std::int64_t alignment = 256, min_chunk = 1 << 20;
  if (bytes == 0) return nullptr;
  if (bytes > INT64_MAX - alignment) throw ResourceError("scratch memory: its bytes overflow 64 bits");
  bytes = (bytes + alignment - 1) / alignment * alignment;
  auto& [chunks, chunk, used] = state_->scratch;
  while (chunk < std::int64_t(chunks.size()) && used + bytes > chunks[std::size_t(chunk)].bytes) ++chunk, used = 0;
  if (chunk == std::int64_t(chunks.size())) {
    const std::int64_t size = std::max({bytes, min_chunk, chunks.empty() ? 0 : 2 * chunks.back().bytes});
    chunks.push_back({state_->memory->allocate(size, state_->stream), size});
  }
  void* const p = static_cast<std::byte*>(chunks[std::size_t(chunk)].data) + used;
  used += bytes;
  return p;
}

Index* zero_counters(const Cuda& on, std::int64_t count) {
  CudaState& state = *on.state();
  const std::int64_t bytes = count * std::int64_t(sizeof(Index));
  if (state.counters.empty() || bytes > state.counters.back().bytes) {
    state.counters.push_back({state.memory->allocate(2 * bytes, state.stream), 2 * bytes});
    cuda_check(cudaMemsetAsync(state.counters.back().data, 0, std::size_t(2 * bytes), state.stream),
               "clearing counters");
  }
  return static_cast<Index*>(state.counters.back().data);
}

void release_scratch(const Cuda& on) {
  CudaState& state = *on.state();
  auto& [chunks, chunk, used] = state.scratch;
  if (chunk != 0 || used != 0) return;
  for (const auto& c : chunks) state.memory->release(c.data, c.bytes, state.stream);
  chunks.clear();
}

namespace {

/// From here on buffers pay: they cost some microseconds for each 8 MB, and what is not page-locked travels at half speed.
constexpr std::int64_t worth_buffers = 4 << 20;

constexpr const char *to_device = "a copy to the device", *from_device = "a copy from the device";

CopyBuffers& buffers_of(CudaState& state) {
  CopyBuffers& buffers = state.buffers;
  for (int i = 0; i < CopyBuffers::count; ++i) {
    if (!buffers.data[i])
      cuda_check(cudaHostAlloc(&buffers.data[i], CopyBuffers::bytes, cudaHostAllocDefault),
                 "taking page-locked memory");
    if (!buffers.done[i])
      cuda_check(cudaEventCreateWithFlags(&buffers.done[i], cudaEventDisableTiming), "creating an event");
  }
  return buffers;
}

/// Piece k of a copy in pieces of one buffer each.
struct Piece {
  std::int64_t first, bytes;
  int buffer;
};
Piece piece(std::int64_t k, std::int64_t bytes) {
  const std::int64_t first = k * CopyBuffers::bytes;
  return {first, std::min(CopyBuffers::bytes, bytes - first), int(k % CopyBuffers::count)};
}
std::int64_t pieces(std::int64_t bytes) { return (bytes + CopyBuffers::bytes - 1) / CopyBuffers::bytes; }

}  // namespace

void copy_bytes(const Cuda& on, Device, void* to, Host, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  if (bytes < worth_buffers) {
    cuda_check(cudaMemcpyAsync(to, from, std::size_t(bytes), cudaMemcpyHostToDevice, on.stream()), to_device);
    return;  // what is not page-locked has been read by now
  }
  CopyBuffers& buffers = buffers_of(*on.state());
  for (std::int64_t k = 0; k < pieces(bytes); ++k) {
    const auto [first, size, i] = piece(k, bytes);
    cuda_check(cudaEventSynchronize(buffers.done[i]), to_device);  // until the buffer has travelled, now or last time
    copy_bytes(on.host(), Host{}, buffers.data[i], Host{}, static_cast<const std::byte*>(from) + first, size);
    cuda_check(cudaMemcpyAsync(static_cast<std::byte*>(to) + first, buffers.data[i], std::size_t(size),
                               cudaMemcpyHostToDevice, on.stream()),
               to_device);
    cuda_check(cudaEventRecord(buffers.done[i], on.stream()), to_device);
  }
}

void copy_bytes(const Cuda& on, Host, void* to, Device, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  if (bytes < worth_buffers) {
    cuda_check(cudaMemcpyAsync(to, from, std::size_t(bytes), cudaMemcpyDeviceToHost, on.stream()), from_device);
    return on.synchronize();
  }
  CopyBuffers& buffers = buffers_of(*on.state());
  const std::int64_t count = pieces(bytes);
  for (std::int64_t k = 0; k < count + CopyBuffers::count - 1; ++k) {
    if (k < count) {
      const auto [first, size, i] = piece(k, bytes);
      cuda_check(cudaMemcpyAsync(buffers.data[i], static_cast<const std::byte*>(from) + first, std::size_t(size),
                                 cudaMemcpyDeviceToHost, on.stream()),
                 from_device);
      cuda_check(cudaEventRecord(buffers.done[i], on.stream()), from_device);
    }
    const std::int64_t arrived = k - (CopyBuffers::count - 1);  // the others travel while it is emptied
    if (arrived < 0 || arrived >= count) continue;
    const auto [first, size, i] = piece(arrived, bytes);
    cuda_check(cudaEventSynchronize(buffers.done[i]), from_device);
    copy_bytes(on.host(), Host{}, static_cast<std::byte*>(to) + first, Host{}, buffers.data[i], size);
  }
}

void copy_bytes(const Cuda& on, Device, void* to, Device, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  cuda_check(cudaMemcpyAsync(to, from, std::size_t(bytes), cudaMemcpyDeviceToDevice, on.stream()),
             "a copy on the device");
}
void copy_bytes(const Cuda& on, Host, void* to, Host, const void* from, std::int64_t bytes) {
  copy_bytes(on.host(), Host{}, to, Host{}, from, bytes);
}

}  // namespace seidel
