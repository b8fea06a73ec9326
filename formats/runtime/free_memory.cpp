// How much host memory there is to be had.
#include <seidel/formats/runtime/free_memory.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <seidel/formats/runtime/memory.hpp>

namespace seidel {

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
