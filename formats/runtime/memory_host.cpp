// Host memory: taken, copied, and how much of it there is to be had.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/memory.hpp>
#include <seidel/formats/runtime/parallel.hpp>

namespace seidel {

void* allocate(Origin<Host>, std::int64_t bytes) {
  // Large arrays lie on large pages where the system has them: fewer faults at first touch, fewer misses of address
  // translation in gathers ever after. There they begin at different places: some processors hold a load back while a
  // store to the same place of another small page is under way, which is each one where two arrays are walked together.
  // Not smaller ones: where a virtual machine gave idle memory back, a large page takes several times as long as small ones.
  constexpr std::int64_t page = 1 << 21, line = 64, apart = 65 * line, places = 30;
  if (bytes == 0) return nullptr;
  const bool is_large = bytes >= 8 * page;
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

namespace {

/// The first number in a file of /proc or /sys, after `name` if that is given; or -1.
std::int64_t number_in(const std::string& path, const std::string& name = "") {
  std::ifstream file(path);
  std::string word;
  while (!name.empty() && word != name)
    if (!(file >> word)) return -1;
  std::int64_t value = -1;
  return file >> value ? value : -1;
}

}  // namespace

std::int64_t free_in_group(const std::string& folder) {
  const std::int64_t limit = number_in(folder + "/memory.max"), used = number_in(folder + "/memory.current");
  if (limit < 0 || used < 0) return INT64_MAX;
  // Files that were read lately count as used, but go when memory is wanted.
  std::int64_t cached = 0;
  for (const char* kind : {"inactive_file", "active_file"})
    cached += std::max<std::int64_t>(0, number_in(folder + "/memory.stat", kind));
  return std::max<std::int64_t>(0, limit - std::max<std::int64_t>(0, used - cached));
}

std::int64_t available_bytes(Host) {
  const std::int64_t kib = number_in("/proc/meminfo", "MemAvailable:");
  // In a container the group's limit counts, not the machine's.
  std::int64_t available = std::min(kib < 0 ? INT64_MAX : kib * 1024, free_in_group("/sys/fs/cgroup"));
  rlimit space{};  // ulimit -v
  const std::int64_t pages = number_in("/proc/self/statm");
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur < INT64_MAX && pages >= 0)
    available =
        std::min(available, std::max<std::int64_t>(0, std::int64_t(space.rlim_cur) - pages * ::sysconf(_SC_PAGESIZE)));
  return available;
}

}  // namespace seidel
