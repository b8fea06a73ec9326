// How often memory was taken in this program.
#pragma once
#include <cstdint>

namespace seidel::tests {

/// Calls of operator new and of allocate(Host, ...) so far, on all threads.
std::int64_t allocations();

}  // namespace seidel::tests
