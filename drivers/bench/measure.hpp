// Checks a rival on a task, then times it.
#pragma once
#include <atomic>
#include <functional>
#include <optional>

#include <seidel/drivers/bench/rival.hpp>
#include <seidel/drivers/bench/sample.hpp>
#include <seidel/formats/statistics.hpp>

namespace seidel::drivers {

enum class Verdict { right, wrong, refused };  // refused: the rival cannot take this matrix and says why
std::string_view to_string(Verdict);

/// What the last cache has to do with the times: the operands would fit, so it is overwritten before each trial (cold)
/// or was asked to be left as it is (warm); or they would not fit (large).
enum class Cache { cold, warm, large };
std::string_view to_string(Cache);

/// One rival on one task.
struct Measurement {
  std::string matrix;  // the name it was given by
  std::string order;   // of sweeps where it was asked for: "natural", "colours"
  const Rival* rival = nullptr;
  int threads = 1;  // of the host; 1 for a rival on the GPU
  Verdict verdict = Verdict::right;
  std::string reason;  // why it is wrong or refused
  double error = 0;    // the largest over its bound
  Sample sample;       // empty if only checked, or not right
  Cache cache = Cache::large;
  double setup_seconds = 0;
  std::int64_t workspace_bytes = 0;
  // of the task
  std::int64_t k = 1;
  Layout layout = Layout::row_major;
  double flops = 0, bytes = 0;
  std::string bytes_model;
  Index nrows = 0, ncols = 0;
  std::int64_t nnz = 0;
  RowStatistics rows;
};

struct Selection {
  std::string only = "*";  // shell patterns for rivals' names, between commas
  bool serial = true, openmp = true, cuda = true;
  bool wants(const Rival& rival) const;
};

struct Plan {
  Selection selection;
  std::vector<std::int64_t> k = {1};
  std::vector<Layout> layouts = {Layout::row_major};
  std::vector<int> threads;  // of OpenMP rivals
  int trials = 15;           // 0: check only
  bool warm = false;         // caches are left as they are
  std::uint64_t seed = 1;
  const std::atomic<bool>* stop = nullptr;  // asked between trials; true ends with what was measured
  std::function<void(int done, int all, const std::string& what)> progress = [](int, int, const std::string&) {};
};

/// Every selected rival of `kernel` on A, in the order of the registry: poisoned, run, judged (or, where it promises
/// the serial default's bits, compared with them), and then, if right, timed. Where serial rivals are not selected, the
/// OpenMP default stands in for the serial one: it promises the same bits, and is judged. `cuda` may be null.
/// Cost    at most 3 seconds of trials of one rival beyond the third.
/// Errors  InputError for a matrix that no rival of the kernel can take.
std::vector<Measurement> measure(std::string_view kernel, const std::string& name, const Matrix& A, const Plan& plan,
                                 const Cuda* cuda, std::span<const Rival> among = rivals());

/// Whether any measurement is wrong: the command then exits with 1.
bool any_wrong(const std::vector<Measurement>& measurements);

}  // namespace seidel::drivers
