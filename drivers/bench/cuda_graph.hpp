// Many small launches as one CUDA graph.
#pragma once
#include <functional>

#include <seidel/formats/runtime/backend.hpp>

namespace seidel::drivers {

/// Records the work that run() gives to on.stream(), which must not wait for it, and returns what gives it again as one
/// launch.
/// Errors  BackendError.
std::function<void()> as_graph(const Cuda& on, const std::function<void()>& run);

}  // namespace seidel::drivers
