// Host memory.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include <seidel/formats/errors.hpp>
#include <seidel/formats/memory.hpp>

namespace seidel {

void* allocate(Host, std::int64_t bytes) {
  // Large arrays lie on large pages where the system has them: fewer faults at first touch, fewer misses of address
  // translation in gathers ever after.
  constexpr std::int64_t page = 1 << 21;
  const std::int64_t alignment = bytes >= 4 * page ? page : 64;
  if (bytes == 0) return nullptr;
  const std::int64_t rounded = bytes > INT64_MAX - page ? -1 : (bytes + alignment - 1) / alignment * alignment;
  void* p = rounded < 0 ? nullptr : std::aligned_alloc(std::size_t(alignment), std::size_t(rounded));
#ifdef MADV_HUGEPAGE
  if (p && alignment == page) ::madvise(p, std::size_t(rounded), MADV_HUGEPAGE);
#endif
  if (!p)
    throw ResourceError("out of memory: " + std::to_string(bytes) + " bytes of host memory were needed, " +
                        std::to_string(available_bytes(Host{})) + " are free");
  return p;
}

void release(Host, void* p) noexcept { std::free(p); }

void copy_bytes(Host, void* to, Host, const void* from, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace seidel
