// Counters of kernels whose blocks wait for nothing, but act when they are the last of several.
#pragma once
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// `count` counters in device memory that are 0. A kernel that changes some leaves them at 0 for the next one on the stream,
/// which may use the same.
/// Cost  allocates where more are asked for than ever before. Errors  ResourceError with the bytes asked for.
Index* zero_counters(const Cuda& on, std::int64_t count);

}  // namespace seidel
