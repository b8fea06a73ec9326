// Where the thread sanitizer has the only operator new nothing is counted: tests that need counts are left out or compare zeros.
#include "allocations.hpp"

std::int64_t seidel::tests::allocations() { return 0; }
