// Stream capture of the CUDA runtime.
#include <seidel/drivers/bench/cuda_graph.hpp>

#include <cuda_runtime.h>

#include <memory>

#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw BackendError(std::string("CUDA: a graph failed: ") + cudaGetErrorString(status));
}

}  // namespace

std::function<void()> as_graph(const Cuda& on, const std::function<void()>& run) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(on.stream(), cudaStreamCaptureModeThreadLocal));
  run();
  check(cudaStreamEndCapture(on.stream(), &graph));
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  check(status);
  const std::shared_ptr<CUgraphExec_st> kept(executable, [](cudaGraphExec_t e) { cudaGraphExecDestroy(e); });
  return [on, kept] { check(cudaGraphLaunch(kept.get(), on.stream())); };
}

}  // namespace seidel::drivers
