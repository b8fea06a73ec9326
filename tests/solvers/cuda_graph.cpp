// Applications of every preconditioner and smoother can be captured in a CUDA graph: nothing waits, nothing is allocated,
// nothing comes back to the host. A graph replayed for another r gives the bits of a direct application to it.
#include "systems.hpp"

#include <cuda_runtime_api.h>

#include <seidel/solvers/preconditioners/amg.hpp>
#include <seidel/solvers/smoothers/chebyshev.hpp>
#include <seidel/solvers/smoothers/jacobi.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

using V = Vector<double, Cuda>;

template <class M>
void check_captured(const char* name, const Cuda& on, const M& m, std::int64_t n) {
  CAPTURE(name);
  V r(on, n), z(on, n);
  std::vector<V> given, expected;
  for (const double scale : {1.0, 0x1p-300, -3.0}) {  // in single precision each needs a scale of its own
    given.emplace_back(on, moved_to(on, ramp(n)));
    axpby(0, given.back(), scale, given.back());
    expected.emplace_back(on, n);
    m.apply(given.back(), expected.back());
  }
  on.synchronize();
  const auto waits = on.waits();
  REQUIRE(cudaStreamBeginCapture(on.stream(), cudaStreamCaptureModeGlobal) == cudaSuccess);
  m.apply(r, z);
  cudaGraph_t graph;
  REQUIRE(cudaStreamEndCapture(on.stream(), &graph) == cudaSuccess);
  CHECK(on.waits() == waits);
  cudaGraphExec_t again;
  REQUIRE(cudaGraphInstantiate(&again, graph, 0) == cudaSuccess);
  for (std::size_t k = 0; k < given.size(); ++k) {
    copy(given[k], r);
    fill(z, -1);
    REQUIRE(cudaGraphLaunch(again, on.stream()) == cudaSuccess);
    axpy(-1, expected[k], z);
    CHECK(max_abs(z) == 0);
    CHECK(max_abs(expected[k]) > 0);
  }
  CHECK(cudaGraphExecDestroy(again) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

}  // namespace

TEST_CASE("[cuda] every preconditioner and smoother can be captured in a graph and replayed for another r") {
  cudaStream_t stream;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  {
    const Cuda on(stream);
    const Matrix A = random_spd(7, 20001, 5);
    const auto there = copied_to<Device>(on, A.view());
    const MatrixOperator op(on, there.view());
    const auto check = [&](const char* name, const auto& m) { check_captured(name, on, m, A.nrows); };
    check("none", IdentityPreconditioner{});
    check("jacobi", JacobiPreconditioner(on, there.view()));
    for (const Order order : {Order::natural, Order::colours}) {
      check("symgs", SymgsPreconditioner<double, std::int64_t, Cuda>(on, there.view(), order, 1.2, 2));
      check("symgs fp32", SymgsPreconditioner<double, std::int64_t, Cuda, float>(on, there.view(), order, 1.2, 2));
    }
    check("eisenstat's", SplitSymgsPreconditioner<double, std::int64_t, Cuda>(on, there.view()));
    check("amg", AmgPreconditioner<std::int64_t, Cuda>(on, there.view()));
    check("l1-jacobi", JacobiSmoother(op, l1_jacobi_weights(on, A.view())));
    check("chebyshev",
          ChebyshevSmoother(op, jacobi_weights(on, A.view(), 1), V(on, moved_to(on, ramp(A.nrows))), {.degree = 3}));
  }
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}
