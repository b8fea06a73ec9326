// Counts allocations by standing in for the functions through which C++ code and allocate() (formats/runtime/memory.hpp) take
// memory.
#include "allocations.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::int64_t> taken = 0, failing = 0;

/// Counts one; whether it must fail.
bool fails() { return ++taken == failing; }
}  // namespace

namespace seidel::tests {
std::int64_t allocations() { return taken; }
void fail_allocation(std::int64_t n) { failing = n > 0 ? taken + n : 0; }
bool allocation_failed() { return failing > 0 && taken >= failing; }
}  // namespace seidel::tests

void* operator new(std::size_t bytes) {
  void* p = fails() ? nullptr : std::malloc(bytes ? bytes : 1);
  if (p) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {  // std::stable_sort; a sanitizer has its own
  ++taken;
  return std::malloc(bytes ? bytes : 1);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

/// In front of the C library's (or a sanitizer's) own.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  static const auto own = reinterpret_cast<void* (*)(std::size_t, std::size_t)>(dlsym(RTLD_NEXT, "aligned_alloc"));
  return fails() ? nullptr : own(alignment, bytes);
}
