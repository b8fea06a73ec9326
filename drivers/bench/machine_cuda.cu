// Ceilings of the GPU.
#include <cooperative_groups.h>

#include <memory>

#include <seidel/drivers/bench/machine.hpp>
#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/kernels/cuda_waiting.cuh>

namespace seidel::drivers {

namespace {

constexpr int trials = 15;
constexpr int threads = 512;
constexpr int unroll = 4;  // 16-byte accesses in flight per thread

void check(cudaError_t status) { cuda_check(status, "measuring the machine"); }

struct CopyElement {
  const double2* a;
  double2* b;
  __device__ void operator()(std::int64_t i) const { __stcs(b + i, __ldcs(a + i)); }
};
struct TriadElement {
  const double2 *a, *b;
  double2* c;
  __device__ void operator()(std::int64_t i) const {
    const double2 x = __ldcs(a + i), y = __ldcs(b + i);
    __stcs(c + i, make_double2(fma(0.5, y.x, x.x), fma(0.5, y.y, x.y)));
  }
};
struct WriteElement {
  double2* b;
  __device__ void operator()(std::int64_t i) const { __stcs(b + i, make_double2(1, 2)); }
};

template <class Element>
__global__ void stream_kernel(Element element) {
  const std::int64_t first = std::int64_t(blockIdx.x) * threads * unroll + threadIdx.x;
#pragma unroll
  for (int u = 0; u < unroll; ++u) element(first + u * threads);
}

__global__ void read_kernel(const double2* a, double* out) {
  const std::int64_t first = std::int64_t(blockIdx.x) * threads * unroll + threadIdx.x;
  double2 v[unroll];
#pragma unroll
  for (int u = 0; u < unroll; ++u) v[u] = __ldcs(a + first + u * threads);
  double sum = 0;
#pragma unroll
  for (int u = 0; u < unroll; ++u) sum += v[u].x + v[u].y;
  if (sum == 1e300) *out = sum;  // never: keeps the loads
}

/// Sixteen random reads per thread, at places a hash computes.
__global__ void gather_kernel(const double* table, unsigned mask, double* out) {
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  double v[16], sum = 0;
#pragma unroll
  for (unsigned u = 0; u < 16; ++u) {
    unsigned h = me * 16 + u;
    h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
    v[u] = __ldg(table + (h & mask));
  }
#pragma unroll
  for (double each : v) sum += each;
  if (sum == 1e300) *out = sum;
}

template <class Real>
__global__ void fma_kernel(int rounds, Real* out) {
  Real lane[16];
#pragma unroll
  for (int l = 0; l < 16; ++l) lane[l] = Real(threadIdx.x + l);
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int l = 0; l < 16; ++l) lane[l] = fma(lane[l], Real(0.999), Real(0.001));
  Real sum = 0;
#pragma unroll
  for (Real each : lane) sum += each;
  if (sum == Real(1e30)) *out = sum;
}

__global__ void empty_kernel() {}

__global__ void barrier_kernel(int steps) {
  const auto grid = cooperative_groups::this_grid();
  for (int s = 0; s < steps; ++s) grid.sync();
}

/// Block b waits for the value of block b - 1 (block 0 for the last), adds one, passes it on: a ring of
/// multiprocessors.
__global__ void ring_kernel(double* slot, int rounds) {
  const int me = blockIdx.x, from = me == 0 ? gridDim.x - 1 : me - 1;
  for (int r = 0; r < rounds; ++r) {
    const double awaited = me == 0 ? r : r + 1;
    while (cuda::peek(slot + 16 * from) != awaited) {}
    cuda::put(slot + 16 * me, double(r + 1));
  }
}

constexpr std::int64_t stream_bytes = std::int64_t(1) << 30;
constexpr std::int64_t stream_elements = stream_bytes / 16;
constexpr unsigned stream_blocks = unsigned(stream_elements / (threads * unroll));
constexpr double gb = 1e-9 * double(stream_bytes);

Sample stream_sample(const Cuda& on, const auto& element) {
  return sampled(on, trials, [&] { stream_kernel<<<stream_blocks, threads, 0, on.stream()>>>(element); });
}

/// Three vectors that no cache holds.
struct Vectors {
  explicit Vectors(const Cuda& on) : on(on) {
    for (auto* v : {&a, &b, &c}) check(cudaMemsetAsync(v->data(), 1, stream_bytes, on.stream()));
  }
  Sample copy() { return stream_sample(on, CopyElement{a.data(), b.data()}); }
  Sample triad() { return stream_sample(on, TriadElement{a.data(), b.data(), c.data()}); }

  const Cuda& on;
  Array<double2, Device> a{on, stream_elements}, b{on, stream_elements}, c{on, stream_elements};
};

/// Records the work that run() gives to on.stream(), which must not wait for it, and returns what gives it again as one
/// launch.
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

using Ceilings = std::vector<Ceiling>;

void add_streams(Ceilings& found, const Cuda& on, Vectors& v) {
  found.push_back(rate_of("copy", "GB/s", v.copy(), 2 * gb, "b = a, read + write counted"));
  found.push_back(rate_of("triad", "GB/s", v.triad(), 3 * gb, "c = a + s b, two reads + one write counted"));
  const Sample read = sampled(on, trials, [&] {
    read_kernel<<<stream_blocks, threads, 0, on.stream()>>>(v.a.data(), reinterpret_cast<double*>(v.c.data()));
  });
  found.push_back(rate_of("read", "GB/s", read, gb, "sum of a vector"));
  found.push_back(rate_of("write", "GB/s", stream_sample(on, WriteElement{v.b.data()}), gb, "a constant"));
}

void add_gathers(Ceilings& found, const Cuda& on, Vectors& v) {
  constexpr unsigned blocks = 1 << 14;
  for (const std::int64_t mib : {16, 128, 1024}) {
    const unsigned mask = unsigned(mib * 131072 - 1);
    const Sample sample = sampled(on, trials, [&] {
      gather_kernel<<<blocks, 256, 0, on.stream()>>>(reinterpret_cast<const double*>(v.a.data()), mask,
                                                     reinterpret_cast<double*>(v.c.data()));
    });
    found.push_back(rate_of("gather " + std::to_string(mib) + " MiB", "G/s", sample, 1e-9 * blocks * 256 * 16,
                            "random reads of 8 bytes from a table of that size"));
  }
}

template <class Real>
Ceiling fma_ceiling(const char* name, const Cuda& on, Vectors& v) {
  constexpr int rounds = 2048;
  const unsigned blocks = unsigned(on.multiprocessors()) * 8;
  const Sample sample = sampled(
      on, trials, [&] { fma_kernel<<<blocks, 256, 0, on.stream()>>>(rounds, reinterpret_cast<Real*>(v.c.data())); });
  return rate_of(name, "GFLOP/s", sample, 2e-9 * 16 * rounds * double(blocks) * 256,
                 "independent fused multiply-adds in registers");
}

void add_launches(Ceilings& found, const Cuda& on) {
  constexpr int launches = 1000;
  const auto launch_all = [&] {
    for (int i = 0; i < launches; ++i) empty_kernel<<<1, 32, 0, on.stream()>>>();
  };
  found.push_back(
      latency_of("launch", sampled(on, trials, launch_all), launches, "an empty kernel after another on a stream"));
  found.push_back(latency_of("graph node", sampled(on, trials, as_graph(on, launch_all)), launches,
                             "an empty kernel after another in a graph"));
}

/// Of all multiprocessors, and from one to the next.
void add_waits(Ceilings& found, const Cuda& on, Vectors& v) {
  int steps = 1000;
  void* arguments[] = {&steps};
  const Sample barrier = sampled(on, trials, [&] {
    check(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(barrier_kernel), dim3(on.multiprocessors()), dim3(256),
                                      arguments, 0, on.stream()));
  });
  found.push_back(latency_of("grid barrier", barrier, steps, "all multiprocessors, cooperative groups"));
  constexpr int rounds = 200;
  const int ring = on.multiprocessors() - 1;
  double* const slots = reinterpret_cast<double*>(v.b.data());
  const Sample hand_over = sampled(on, trials, [&] {
    check(cudaMemsetAsync(slots, 0, std::size_t(ring) * 128, on.stream()));
    ring_kernel<<<unsigned(ring), 1, 0, on.stream()>>>(slots, rounds);
  });
  found.push_back(latency_of("hand-over", hand_over, double(rounds) * ring,
                             "a value from one multiprocessor to the next, store to load"));
}

}  // namespace

Streams device_streams(const Cuda& on) {
  Vectors v(on);
  return {2 * gb / v.copy().min(), 3 * gb / v.triad().min()};
}

std::vector<Ceiling> device_ceilings(const Cuda& on) {
  Ceilings found;
  Vectors v(on);
  add_streams(found, on, v);
  add_gathers(found, on, v);
  found.push_back(fma_ceiling<double>("fma fp64", on, v));
  found.push_back(fma_ceiling<float>("fma fp32", on, v));
  add_launches(found, on);
  add_waits(found, on, v);
  on.synchronize();
  return found;
}

}  // namespace seidel::drivers
