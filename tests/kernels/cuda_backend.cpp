// What holds on the GPU alone: streams, scratch memory, faults.
#include "../backends.hpp"
#include "../files.hpp"
#include "../matrices.hpp"

#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/kernels/certificate/certificate.hpp>
#include <seidel/kernels/spmm/spmm.hpp>
#include <seidel/kernels/symgs/symgs.hpp>
#include <seidel/kernels/vector_block.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {}  // namespace

TEST_CASE("a CUDA call that fails says where, what and why") {
  const std::string said = refusal<BackendError>([] { cuda_check(cudaErrorInvalidValue, "a call"); });
  CHECK(contains(said, "tests/kernels/cuda_backend.cpp:"));
  CHECK(said.find("tests/") == 0);  // not the path on the machine that built it
  CHECK(contains(said, "a call failed: invalid argument (cudaErrorInvalidValue)"));
  CHECK_NOTHROW(cuda_check(cudaSuccess, "a call"));
}

/// Memory of the device that counts how often it is asked for.
struct CountingMemory : DeviceAllocator {
  int taken = 0;
  void* allocate(std::int64_t bytes, CUstream_st*) override {
    ++taken;
    void* p = nullptr;
    cuda_check(cudaMalloc(&p, std::size_t(bytes)), "taking memory in a test");
    return p;
  }
  void release(void* p, std::int64_t, CUstream_st*) noexcept override { cudaFree(p); }
  std::int64_t available() const override { return std::int64_t(1) << 30; }
};

TEST_CASE("[cuda] a group of sums waits once, and allocates nothing once its vectors are there") {
  const auto memory = std::make_shared<CountingMemory>();
  const Cuda on(CudaSettings{.memory = memory});
  Vector<double, Cuda> x(on, 5000000), y(on, 5000000), z(on, 5000000);
  auto v = block_like(x, 100);
  fill(x, 1), fill(y, 2);
  double h[101];
  const auto waits_of = [&](const auto& work) {
    const auto before = on.waits();
    work();
    return on.waits() - before;
  };
  const int taken = memory->taken;
  CHECK(waits_of([&] { sums(dot_of(x, y), norm2_of(y), norm2_of(x)); }) == 1);
  CHECK(waits_of([&] { axpy_norm2_dot(1, x, y, x); }) == 1);
  CHECK(waits_of([&] { axpy_multiply_norm2_dot(1, x, y, x, z); }) == 1);
  CHECK(waits_of([&] { project(v, 10, x, h); }) == 1);
  CHECK(waits_of([&] { project(v, 100, x, h); }) == 1);
  CHECK(waits_of([&] { add_combination(v, 100, h, x), move_and_turn(1, x, y, 2, z), max_abs(x); }) == 1);
  CHECK(memory->taken == taken);
}

TEST_CASE("[cuda] a failed allocation is a ResourceError that leaves no trace") {
  const Cuda on;
  CHECK_THROWS_AS((Array<std::byte, Device>(on, std::int64_t(1) << 50)), ResourceError);
  CHECK_THROWS_AS(Scratch(on).take<std::byte>(std::int64_t(1) << 50), ResourceError);
  Vector<double, Cuda> x(on, 100);
  fill(x, 2);
  CHECK(dot(x, x) == 400);
}

TEST_CASE("[cuda] copies between spaces wait for the back end's own stream") {
  const Cuda on;
  const std::int64_t n = 1 << 25;
  Vector<double, Cuda> x(on, n);
  for (int value = 1; value <= 20; ++value) fill(x, value);
  const auto back = copied_to<Host>(on, Span<const double, Device>(x.span()));
  CHECK(back[0] == 20);
  CHECK(back[n - 1] == 20);
}

TEST_CASE("[cuda] work goes to the caller's stream, allocates nothing and waits for nothing") {
  const Index n = 5000;
  const auto A = as<double, std::int32_t>(tridiagonal(n, 4, -1));
  const auto x = ramp(n);
  cudaStream_t stream;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  {
    const Cuda on(stream);
    const auto A_there = copied_to<Device>(on, A.view());
    Array<double, Device> x_there(on, x), y(on, n), z(on, n), r(on, n);
    Array<double, Device> Y(on, n * 3), X(on, n * 3);
    fill<Cuda, double>(on, X, 1);
    const GaussSeidel<double, std::int32_t, Cuda> symgs(on, A_there.view());
    const auto work = [&] {
      spmv(on, A_there.view(), Span<const double, Device>(x_there), Span<double, Device>(y));
      axpy<Cuda, double>(on, 2, x_there, y);
      symgs.symmetric_from_zero(y, z);
      symgs.symmetric(y, z, 1.25);
      certified_residual(on, A_there.view(), z, y, r);
      spmm(on, A_there.view(), {n, 3, 3, Layout::row_major, X.data()}, {n, 3, 3, Layout::row_major, Y.data()});
    };
    work();  // once before, for CUDA loads a kernel when it is first launched
    on.synchronize();
    // A stream that is being captured refuses what is not work for it: waiting, allocating, other streams.
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    work();
    cudaGraph_t graph;
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    cudaGraphExec_t again;
    REQUIRE(cudaGraphInstantiate(&again, graph, 0) == cudaSuccess);
    for (auto* result : {&y, &z, &r}) fill<Cuda, double>(on, *result, -1);
    REQUIRE(cudaGraphLaunch(again, stream) == cudaSuccess);
    on.synchronize();

    const OpenMP here{1};
    Array<double> y_here(n), z_here(n), r_here(n);
    const Array<double> x_here(x);
    spmv(here, A.view(), Span<const double, Host>(x_here), Span<double, Host>(y_here));
    axpy<OpenMP, double>(here, 2, x_here, y_here);
    const GaussSeidel<double, std::int32_t, OpenMP> symgs_here(here, A.view());
    symgs_here.symmetric_from_zero(y_here, z_here);
    symgs_here.symmetric(y_here, z_here, 1.25);
    certified_residual(here, A.view(), z_here, y_here, r_here);
    CHECK(moved_back(on, y) == moved_back(on, y_here));
    CHECK(moved_back(on, z) == moved_back(on, z_here));
    CHECK(moved_back(on, r) == moved_back(on, r_here));
    CHECK(moved_back(on, Y)[4] == 2);
    CHECK(cudaGraphExecDestroy(again) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  }
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

// A fault ends the process's use of the GPU, so a child commits it.
TEST_CASE("[cuda] in the child: a fault on the device" * doctest::skip()) {
  const Cuda on;
  Array<double, Device> x(on, 10);
  fill<Cuda, double>(on, Span<double, Device>(reinterpret_cast<double*>(8), 10), 1);
  const std::string said = refusal<BackendError>([&] { on.synchronize(); });
  CHECK(contains(said, "formats/runtime/cuda_backend.cpp:"));
  CHECK(contains(said, "start the program again"));
  CHECK(contains(refusal<BackendError>([&] { fill<Cuda, double>(on, x, 1), on.synchronize(); }), "CUDA: "));
  CHECK(contains(refusal<BackendError>([&] { dot<Cuda, double>(on, x, x); }), "CUDA: "));
}
TEST_CASE("[cuda] a fault on the device is a BackendError, then and later") {
  char program[4096] = {};
  REQUIRE(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
  const int status = std::system(
      ("'" + std::string(program) + "' --no-skip --minimal -tc='*in the child: a fault on the device' >&2").c_str());
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
