// Ceilings of the host.
#include <seidel/drivers/bench/machine.hpp>

#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <set>

#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::drivers {

namespace {

constexpr int trials = 7;

Sample sampled(const auto& run) {
  run();
  Sample sample;
  for (int t = 0; t < trials; ++t) sample.add(seconds_of(run));
  return sample;
}

/// Seconds of the fastest run: of as many as fit into 0.2 s (beside a cache of 300 MB one takes longer), of 3 at least.
double fastest(const auto& run) {
  double best = INFINITY, used = 0;
  for (int t = 0; t < 3 || (t <= trials && used < 0.2); ++t) {
    const double seconds = seconds_of(run);
    best = std::min(best, seconds), used += seconds;
  }
  return best;
}

/// Three vectors that no cache holds, touched first by the threads that will use them.
struct Vectors {
  Vectors(const OpenMP& on, std::int64_t min_bytes)
      : n(std::max<std::int64_t>(4 * last_level_cache_bytes(), min_bytes) / 8), a(n), b(n), c(n) {
    parallel_for(on, n, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) a[i] = 1, b[i] = 2, c[i] = 3;
    });
  }
  std::int64_t n;
  Array<double> a, b, c;
};

auto copy_of(const OpenMP& on, Vectors& v) {
  return [&] {
    parallel_for(on, v.n, [a = v.a.data(), b = v.b.data()](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) a[i] = b[i];
    });
  };
}

auto triad_of(const OpenMP& on, Vectors& v) {
  return [&] {
    parallel_for(on, v.n, [a = v.a.data(), b = v.b.data(), c = v.c.data()](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) a[i] = std::fma(0.5, c[i], b[i]);
    });
  };
}

/// Keeps a result alive, so that the loop that made it is not removed.
std::atomic<double> sink;

Sample read_sample(const OpenMP& on, const Vectors& v) {
  return sampled([&] {
    parallel_for(on, v.n, [b = v.b.data()](std::int64_t first, std::int64_t last) {
      double lane[32] = {};
      for (std::int64_t i = first; i + 32 <= last; i += 32)
        for (int l = 0; l < 32; ++l) lane[l] += b[i + l];
      for (int l = 1; l < 32; ++l) lane[0] += lane[l];
      sink.store(lane[0], std::memory_order_relaxed);
    });
  });
}

/// Reads at places that a cheap hash computes, so that no index is read beside them.
Sample gather_sample(const OpenMP& on, const Vectors& v, std::int64_t table, std::int64_t reads) {
  return sampled([&] {
    parallel_for(on, reads, [b = v.b.data(), mask = std::uint64_t(table - 1)](std::int64_t first, std::int64_t last) {
      double lane[8] = {};
      for (std::int64_t i = first; i + 8 <= last; i += 8)
        for (int l = 0; l < 8; ++l) lane[l] += b[(std::uint64_t(i + l) * 0x9e3779b97f4a7c15u >> 20) & mask];
      for (int l = 1; l < 8; ++l) lane[0] += lane[l];
      sink.store(lane[0], std::memory_order_relaxed);
    });
  });
}

/// As many chains as two units of 4 steps want, in registers.
template <class Real, int width>
Sample fma_sample(const OpenMP& on, std::int64_t rounds) {
  return sampled([&] {
    parallel_parts(on, [&](int, int) {
      with_simd([&] {
        Real lane[width];
        for (int l = 0; l < width; ++l) lane[l] = Real(l);
        for (std::int64_t r = 0; r < rounds; ++r)
          for (int l = 0; l < width; ++l) lane[l] = std::fma(lane[l], Real(0.999), Real(0.001));
        for (int l = 1; l < width; ++l) lane[0] += lane[l];
        sink.store(double(lane[0]), std::memory_order_relaxed);
      });
    });
  });
}

constexpr int steps = 20000;

Sample barrier_sample(const OpenMP& on) {
  return sampled([&] {
#pragma omp parallel num_threads(on.threads)
    for (int s = 0; s < steps; ++s) {
#pragma omp barrier
    }
  });
}

Sample wake_sample(const OpenMP& on) {
  return sampled([&] {
    for (int s = 0; s < steps; ++s)
      parallel_parts(on, [](int part, int) { sink.store(part, std::memory_order_relaxed); });
  });
}

/// Two threads hand a number to and fro.
Sample hand_over_sample() {
  return sampled([] {
    alignas(64) std::atomic<int> value{0};
#pragma omp parallel num_threads(2)
    {
      const int me = omp_get_thread_num();
      if (omp_get_num_threads() == 2)
        for (int s = me; s < steps; s += 2) {
          while (value.load(std::memory_order_acquire) != s) {}
          value.store(s + 1, std::memory_order_release);
        }
    }
  });
}

}  // namespace

std::int64_t last_level_cache_bytes() {
  // The kernel knows which cores share a cache; what the C library says may be a whole socket's of which we see a few
  // cores (320 MB for 32 seen).
  static const std::int64_t shared = [] {
    std::set<std::string> counted;
    std::int64_t bytes = 0;
    for (int cpu = 0;; ++cpu) {
      const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index3/";
      std::ifstream size(folder + "size"), sharers(folder + "shared_cpu_list");
      std::int64_t kib = 0;
      std::string cores;
      if (!(size >> kib) || !(sharers >> cores)) return bytes;
      if (counted.insert(cores).second) bytes += kib * 1024;
    }
  }();
  if (shared > 0) return shared;
  const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE), l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return l3 > 0 ? l3 : l2 > 0 ? l2 : 32 << 20;
}

Streams host_streams(const OpenMP& on) {
  Vectors v(on, 64 << 20);
  const double g = 1e-9 * double(v.n);
  return {16 * g / fastest(copy_of(on, v)), 24 * g / fastest(triad_of(on, v))};
}

std::vector<Ceiling> host_ceilings(const OpenMP& on) {
  std::vector<Ceiling> found;
  {
    Vectors v(on, 256 << 20);
    const double gb = 1e-9 * double(v.n);
    found.push_back(rate_of("copy", "GB/s", sampled(copy_of(on, v)), 16 * gb,
                            "a = b, read + write counted; a store reads its line first"));
    found.push_back(
        rate_of("triad", "GB/s", sampled(triad_of(on, v)), 24 * gb, "a = b + s c, two reads + one write counted"));
    found.push_back(rate_of("read", "GB/s", read_sample(on, v), 8 * gb, "sum of a vector"));
    for (const std::int64_t kib : {256, 16384, 262144}) {
      const std::int64_t table = kib * 1024 / 8, reads = 4 << 20;
      if (table > v.n) continue;
      found.push_back(
          rate_of("gather " + std::to_string(kib >= 1024 ? kib / 1024 : kib) + (kib >= 1024 ? " MiB" : " KiB"), "G/s",
                  gather_sample(on, v, table, reads), 1e-9 * double(reads),
                  "random reads of 8 bytes from a table of that size"));
    }
  }
  constexpr std::int64_t rounds = 1 << 21;
  found.push_back(rate_of("fma fp64", "GFLOP/s", fma_sample<double, 64>(on, rounds),
                          2e-9 * 64 * double(rounds) * on.threads, "independent fused multiply-adds in registers"));
  found.push_back(rate_of("fma fp32", "GFLOP/s", fma_sample<float, 128>(on, rounds),
                          2e-9 * 128 * double(rounds) * on.threads, "independent fused multiply-adds in registers"));
  found.push_back(latency_of("wake threads", wake_sample(on), steps, "an empty parallel region"));
  if (on.threads > 1) {
    found.push_back(latency_of("barrier", barrier_sample(on), steps, "all threads"));
    found.push_back(
        latency_of("hand-over", hand_over_sample(), steps, "a value from one thread to another, store to load"));
  }
  return found;
}

}  // namespace seidel::drivers
