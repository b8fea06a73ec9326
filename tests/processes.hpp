// Processes as threads of one test, which tell each other what they must through the memory that they share.
#pragma once
#include <barrier>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <seidel/formats/runtime/processes.hpp>

namespace seidel::tests {

class ThreadProcesses final : public Processes {
 public:
  /// What they share.
  struct World {
    explicit World(int n) : size(n), barrier(n), numbers(std::size_t(n)), out(std::size_t(n)) {}
    int size;
    std::barrier<> barrier;
    std::vector<HostSpan<const double>> numbers;
    std::vector<std::vector<HostSpan<const std::byte>>> out;
  };
  ThreadProcesses(World& world, int rank) : world_(world), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return world_.size; }
  void gather(HostSpan<const double> mine, const std::vector<int>& counts, double* all) const override {
    world_.numbers[std::size_t(rank_)] = mine;
    world_.barrier.arrive_and_wait();
    for (std::size_t p = 0; p < counts.size(); ++p) {
      if (world_.numbers[p].size() != counts[p]) std::terminate();  // they disagree
      all = std::copy(world_.numbers[p].begin(), world_.numbers[p].end(), all);
    }
    world_.barrier.arrive_and_wait();
  }
  void exchange(const std::vector<HostSpan<const std::byte>>& out,
                const std::vector<HostSpan<std::byte>>& in) const override {
    world_.out[std::size_t(rank_)] = out;
    world_.barrier.arrive_and_wait();
    for (std::size_t p = 0; p < in.size(); ++p) {
      const auto& from = world_.out[p][std::size_t(rank_)];
      if (from.size() != in[p].size()) std::terminate();
      if (from.size() > 0) std::memcpy(in[p].data(), from.data(), std::size_t(from.size()));
    }
    world_.barrier.arrive_and_wait();
  }

 private:
  World& world_;
  int rank_;
};

/// Runs work(all) on so many processes; what one throws, which all must, is thrown here.
inline void on_processes(int count, const std::function<void(const Processes& all)>& work) {
  ThreadProcesses::World world(count);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int p = 0; p < count; ++p)
    threads.emplace_back([&, p] {
      try {
        work(ThreadProcesses(world, p));
      } catch (...) {
        errors[std::size_t(p)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace seidel::tests
