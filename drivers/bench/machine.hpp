// What this machine can do at best: the roofs that kernels are measured against.
#pragma once
#include <algorithm>
#include <vector>

#include <seidel/drivers/bench/sample.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel::drivers {

/// Bandwidths (copy, triad, read), random gathers, fused multiply-adds, waking the threads, a barrier, handing a value
/// from one thread to another.
/// Cost    about 3 seconds, and 4 times the last cache, at least 768 MB, of memory.
std::vector<Ceiling> host_ceilings(const OpenMP& on);

/// The same of the GPU: copy, triad, read, write, gathers, FMA, launch on a stream and as a graph node, a barrier of
/// the grid, a hand-over between multiprocessors.
/// Cost    about 2 seconds, and 3 GB of device memory.
/// Errors  BackendError without CUDA.
std::vector<Ceiling> device_ceilings(const Cuda& on);

/// Copy (a = b) and triad (a = b + s c) alone, GB/s, each array once, the fastest trial of each: what "of roof" is of.
struct Streams {
  double copy = 0, triad = 0;  // 0: not measured
  double roof() const { return std::max(copy, triad); }
};
Streams host_streams(const OpenMP& on);
Streams device_streams(const Cuda& on);

/// Bytes of the largest caches of the host's cores, together; 32 MiB if the system does not say.
std::int64_t last_level_cache_bytes();

}  // namespace seidel::drivers
