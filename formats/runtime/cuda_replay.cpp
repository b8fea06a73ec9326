// Work captured once in a CUDA graph.
#include <cuda_runtime_api.h>

#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/replay.hpp>

namespace seidel {

void Replay::run(const Cuda& on, const std::function<void()>& work) {
  const auto launched = [&] {
    cuda_check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph_.get()), on.stream()), "the launch of a graph");
  };
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  if (on.stream() != nullptr && on.stream() != cudaStreamLegacy)
    cuda_check(cudaStreamIsCapturing(on.stream(), &status), "a look at a stream");
  if (status != cudaStreamCaptureStatusNone) return work();
  if (graph_) return launched();
  cudaGraph_t graph = nullptr;
  cuda_check(cudaStreamBeginCapture(on.stream(), cudaStreamCaptureModeThreadLocal), "the capture of a graph");
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(on.stream(), &graph);
    if (graph) cudaGraphDestroy(graph);
    throw;
  }
  cuda_check(cudaStreamEndCapture(on.stream(), &graph), "the capture of a graph");
  cudaGraphExec_t made = nullptr;
  const cudaError_t instantiated = cudaGraphInstantiate(&made, graph, 0);
  cudaGraphDestroy(graph);
  cuda_check(instantiated, "the making of a graph");
  graph_ = std::shared_ptr<void>(made, [](void* g) { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(g)); });
  launched();
}

}  // namespace seidel
