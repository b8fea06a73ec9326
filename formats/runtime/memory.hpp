// Bytes of each memory space: taken, given back, copied.
#pragma once
#include <cstdint>

#include <seidel/formats/runtime/types.hpp>

namespace seidel {

/// `bytes` bytes, 64-byte aligned on the host and 256-byte aligned on the device, uninitialised. 0 bytes gives nullptr.
/// Errors  ResourceError with the bytes asked for; BackendError for Device where there is no GPU.
void* allocate(Host, std::int64_t bytes);
void* allocate(Device, std::int64_t bytes);
void release(Host, void* p) noexcept;
void release(Device, void* p) noexcept;

/// Copies `bytes` bytes. Those that touch the device go through its default stream and return when the copy is whole.
void copy_bytes(Host, void* to, Host, const void* from, std::int64_t bytes);
void copy_bytes(Device, void* to, Host, const void* from, std::int64_t bytes);
void copy_bytes(Host, void* to, Device, const void* from, std::int64_t bytes);
void copy_bytes(Device, void* to, Device, const void* from, std::int64_t bytes);

/// Bytes that can still be taken from this space, as the system says now.
std::int64_t available_bytes(Host);
std::int64_t available_bytes(Device);

}  // namespace seidel
