// Host memory.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/memory.hpp>
#include <seidel/formats/runtime/parallel.hpp>

namespace seidel {

void* allocate(Origin<Host>, std::int64_t bytes) {
  // Large arrays lie on large pages where the system has them: fewer faults at first touch, fewer misses of address
  // translation in gathers ever after. There they begin at different places: some processors hold a load back while a
  // store to the same place of another small page is under way, which is each one where two arrays are walked together.
  constexpr std::int64_t page = 1 << 21, line = 64, apart = 65 * line, places = 30;
  if (bytes == 0) return nullptr;
  const bool is_large = bytes >= 4 * page;
  const std::int64_t alignment = is_large ? page : line, max_before = is_large ? places * apart : line;
  const std::int64_t room =
      bytes > INT64_MAX - 2 * page ? -1 : (bytes + max_before + alignment - 1) / alignment * alignment;
  void* const taken = room < 0 ? nullptr : std::aligned_alloc(std::size_t(alignment), std::size_t(room));
  if (!taken)
    throw ResourceError("out of memory: " + std::to_string(bytes) + " bytes of host memory were needed, " +
                        std::to_string(available_bytes(Host{})) + " are free");
  const auto number_of_page = std::int64_t(reinterpret_cast<std::uintptr_t>(taken) / page);
  const std::int64_t before = is_large ? (1 + number_of_page % places) * apart : line;
#ifdef MADV_HUGEPAGE
  if (is_large) ::madvise(taken, std::size_t((before + bytes) / page * page), MADV_HUGEPAGE);  // those that it fills
#endif
  char* const p = static_cast<char*>(taken) + before;
  std::memcpy(p - sizeof taken, &taken, sizeof taken);  // for release()
  return p;
}

void release(Origin<Host>, void* p, std::int64_t) noexcept {
  if (!p) return;
  void* taken;
  std::memcpy(&taken, static_cast<char*>(p) - sizeof taken, sizeof taken);
  std::free(taken);
}

void copy_bytes(const OpenMP& on, Host, void* to, Host, const void* from, std::int64_t bytes) {
  constexpr std::int64_t worth_sharing = 1 << 19;  // one thread copies less while others wake up
  if (bytes <= 0) return;
  // All threads or one: with fewer than before the others would end, and be started anew by what comes next.
  parallel_parts(bytes < worth_sharing ? OpenMP{1} : on, [&](int part, int nparts) {
    const Range mine = even_share(bytes, part, nparts);
    std::memcpy(static_cast<char*>(to) + mine.first, static_cast<const char*>(from) + mine.first,
                std::size_t(mine.last - mine.first));
  });
}

}  // namespace seidel
