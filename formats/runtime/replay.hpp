// Work that is given to a stream again and again, always the same.
#pragma once
#include <functional>
#include <memory>

#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// Remembers work that allocates nothing, waits for nothing and returns nothing to the host, with all its pointers and
/// numbers: on a GPU as a CUDA graph, so that many small launches cost one. On the host, on the legacy default stream and
/// while its caller captures the stream, the work is simply done.
///
/// Cost    the first time that of finding and instantiating a graph, about 10 us per launch. Copies share the graph.
class Replay {
 public:
  /// Does `work` on `on`: each time the same, which is not checked. Errors  BackendError.
  void run(const OpenMP&, const std::function<void()>& work) { work(); }
  void run(const Cuda& on, const std::function<void()>& work);

 private:
  std::shared_ptr<void> graph_;
};

}  // namespace seidel
