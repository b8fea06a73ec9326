// Bytes of each memory space: taken, given back, copied.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// Where the memory of an array comes from, and where it goes back to.
template <MemorySpace Space>
struct Origin;
template <>
struct Origin<Host> {};
template <>
struct Origin<Device> {
  std::shared_ptr<CudaState> state = {};  // none: nothing was taken
};
inline Origin<Host> origin_of(const OpenMP&) { return {}; }
inline Origin<Device> origin_of(const Cuda& on) { return {on.state()}; }

/// `bytes` bytes, uninitialised: 64-byte aligned on the host; 256-byte aligned on the device, for work that its stream
/// is given from now on. 0 bytes gives nullptr. Errors  ResourceError with the bytes asked for.
void* allocate(Origin<Host>, std::int64_t bytes);
void* allocate(const Origin<Device>& from, std::int64_t bytes);
/// Gives them back; on the device as soon as its stream has done the work that it was given before.
void release(Origin<Host>, void* p, std::int64_t bytes) noexcept;
void release(const Origin<Device>& to, void* p, std::int64_t bytes) noexcept;

/// Copies `bytes` bytes, on several threads where that pays.
void copy_bytes(const OpenMP& on, Host, void* to, Host, const void* from, std::int64_t bytes);
/// In the order of the stream. Host memory may be read, or changed, on return; copies from the device wait for it.
/// Large ones go through page-locked buffers that the threads of on.host() fill and empty while others travel.
void copy_bytes(const Cuda& on, Device, void* to, Host, const void* from, std::int64_t bytes);
void copy_bytes(const Cuda& on, Host, void* to, Device, const void* from, std::int64_t bytes);
void copy_bytes(const Cuda& on, Device, void* to, Device, const void* from, std::int64_t bytes);
void copy_bytes(const Cuda& on, Host, void* to, Host, const void* from, std::int64_t bytes);

/// Bytes that can still be taken, as the system says now: of the host, and of the current device.
std::int64_t available_bytes(Host);
std::int64_t available_bytes(Device);
/// The same of the memory that arrays of this back end come from.
inline std::int64_t available_bytes(const OpenMP&) { return available_bytes(Host{}); }
std::int64_t available_bytes(const Cuda& on);
/// What a control group (version 2), whose files are in `folder`, leaves of host memory; INT64_MAX where it sets no limit.
std::int64_t free_in_group(const std::string& folder);

}  // namespace seidel
