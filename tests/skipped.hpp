// What a test says of itself; main.cpp counts and prints it. Only from the test's own thread.
#pragma once
#include <string>

namespace seidel::tests {

/// The running test cannot show here what its name promises: it is counted as skipped, not as passed. Return at once.
void skipped(const std::string& because);

/// The running test has passed on the host and would have done more on a GPU: that part is counted as skipped.
void skipped_cuda();

/// What a program did that the running test started: printed if the next check fails.
void ran(const std::string& run);

}  // namespace seidel::tests
