// How often memory was taken in this program, and what happens when there is none.
#pragma once
#include <malloc.h>

#include <doctest/doctest.h>

#include <cstdint>
#include <new>

#include <seidel/formats/runtime/errors.hpp>

namespace seidel::tests {

/// Calls of operator new and of allocate(Host, ...) so far, on all threads.
std::int64_t allocations();

/// The n-th allocation from here on fails; none for n = 0.
void fail_allocation(std::int64_t n);
/// Whether that one was asked for.
bool allocation_failed();

/// Bytes that are allocated now; 0 where a sanitizer stands in for the C library, which then looks for leaks itself.
inline std::int64_t bytes_in_use() {
  const struct mallinfo2 now = mallinfo2();
  return std::int64_t(now.uordblks + now.hblkhd);
}

/// work() with each of its allocations failing once. `leak`: bytes that the smallest array of it has.
template <class Work>
void check_every_allocation(std::int64_t leak, const Work& work) {
  const auto failing = [&](std::int64_t allocation) {  // whether it was asked for
    CAPTURE(allocation);
    fail_allocation(allocation);
    bool thrown = false;
    try {
      work();
    } catch (const ResourceError&) {
      thrown = true;
    } catch (const std::bad_alloc&) {  // a few words of bookkeeping; the program treats both alike
      thrown = true;
    }
    const bool failed = allocation_failed();
    fail_allocation(0);
    CHECK(thrown == failed);
    return failed;
  };
  const auto fail_each = [&] {
    std::int64_t failures = 1;
    while (failing(failures)) ++failures;
    CHECK(failures > 3);
  };
  work(), fail_each();  // what is taken once and kept, also by the first exception from a place
  std::int64_t growth = leak;
  for (int round = 0; round < 4 && growth >= leak; ++round) {  // the heap keeps small pieces, but not each time more of them
    const std::int64_t before = bytes_in_use();
    fail_each();
    growth = bytes_in_use() - before;
  }
  CHECK(growth < leak);
}

}  // namespace seidel::tests
