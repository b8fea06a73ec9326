// Stream capture of the CUDA runtime.
#include <seidel/drivers/bench/cuda_graph.hpp>

#include <memory>

#include <seidel/formats/runtime/cuda_check.hpp>

namespace seidel::drivers {

std::function<void()> as_graph(const Cuda& on, const std::function<void()>& run) {
  cudaGraph_t graph = nullptr;
  cuda_check(cudaStreamBeginCapture(on.stream(), cudaStreamCaptureModeThreadLocal), "a capture");
  run();
  cuda_check(cudaStreamEndCapture(on.stream(), &graph), "a capture");
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  cuda_check(status, "a graph");
  const std::shared_ptr<CUgraphExec_st> kept(executable, [](cudaGraphExec_t e) { cudaGraphExecDestroy(e); });
  return [on, kept] { cuda_check(cudaGraphLaunch(kept.get(), on.stream()), "a graph"); };
}

}  // namespace seidel::drivers
