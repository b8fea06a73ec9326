// Repeated measurements of one thing: seconds of each trial, and what tables say of them.
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>

namespace seidel::drivers {

/// Seconds of each trial, in the order they were run.
class Sample {
 public:
  void add(double seconds) { trials_.push_back(seconds); }
  const std::vector<double>& trials() const { return trials_; }
  bool empty() const { return trials_.empty(); }
  double min() const { return *std::min_element(trials_.begin(), trials_.end()); }
  double max() const { return *std::max_element(trials_.begin(), trials_.end()); }
  double median() const { return quantile(0.5); }
  /// Half of the distance between the quartiles over the median: how far a figure can be trusted.
  double spread() const {
    return trials_.size() < 4 ? (max() - min()) / 2 / median() : (quantile(0.75) - quantile(0.25)) / 2 / median();
  }
  /// Linear between neighbours, as most statistics programs do it.
  double quantile(double q) const {
    std::vector<double> sorted = trials_;
    std::sort(sorted.begin(), sorted.end());
    const double place = q * double(sorted.size() - 1);
    const std::size_t below = std::size_t(place), above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - double(below)) * (sorted[above] - sorted[below]);
  }

 private:
  std::vector<double> trials_;
};

/// Seconds that run() takes.
double seconds_of(const auto& run) {
  const Stopwatch watch;
  run();
  return watch.seconds();
}

/// Seconds that the work run() gives to on.stream() takes there. Synchronises.
/// Errors  BackendError, also for faults of the kernels.
double cuda_seconds_of(const Cuda& on, const std::function<void()>& run);

/// One run to warm up, then `trials` timed ones.
inline Sample sampled(const Cuda& on, int trials, const std::function<void()>& run) {
  Sample sample;
  cuda_seconds_of(on, run);
  for (int t = 0; t < trials; ++t) sample.add(cuda_seconds_of(on, run));
  return sample;
}

/// Overwrites more than the L2 cache of the GPU, so that the next run finds nothing of ours there.
void flush_device_cache(const Cuda& on);
std::int64_t device_cache_bytes();

/// A ceiling of the machine, as measured now: larger is better unless `unit` is a time.
struct Ceiling {
  std::string name;         // "triad"
  std::string unit;         // "GB/s"
  double value, low, high;  // the median, and the extremes over the trials
  int trials;
  std::string what;  // one line on what was done
};

/// From times of runs that each do `amount` units of work.
inline Ceiling rate_of(std::string name, std::string unit, const Sample& sample, double amount, std::string what) {
  return {std::move(name),       std::move(unit),       amount / sample.median(),
          amount / sample.max(), amount / sample.min(), int(sample.trials().size()),
          std::move(what)};
}
/// From times of runs that each repeat a step `steps` times: microseconds per step.
inline Ceiling latency_of(std::string name, const Sample& sample, double steps, std::string what) {
  const double us = 1e6 / steps;
  return {
      std::move(name), "us", sample.median() * us, sample.min() * us, sample.max() * us, int(sample.trials().size()),
      std::move(what)};
}

}  // namespace seidel::drivers
