// Where rivals are checked on a task, then timed; and how reports name that place.
#pragma once
#include <algorithm>
#include <atomic>
#include <functional>

#include <seidel/drivers/bench/rival.hpp>
#include <seidel/drivers/bench/sample.hpp>
#include <seidel/drivers/report/json.hpp>

namespace seidel::drivers {

enum class Verdict { right, wrong, refused };  // refused: the rival cannot take this operand and says why
std::string_view to_string(Verdict);

/// What the last cache has to do with the times: the operands would fit, so it is overwritten before each trial (cold)
/// or was asked to be left as it is (warm); or they would not fit (large).
enum class Cache { cold, warm, large };
std::string_view to_string(Cache);

/// One rival on one task.
struct Measurement {
  std::string operand, description;   // its name, and what it is
  std::optional<RowStatistics> rows;  // of a matrix
  std::string order = {};             // of sweeps where it was asked for: "natural", "colours"
  TaskOptions options;
  const Rival* rival = nullptr;
  int threads = 1;  // of the host; 1 for a rival on the GPU
  Verdict verdict = Verdict::right;
  std::string reason = {};  // why it is wrong or refused
  double error = 0;         // the largest over its bound
  Sample sample = {};       // empty if only checked, or not right
  Cache cache = Cache::large;
  double setup_seconds = 0;
  std::int64_t workspace_bytes = 0;
  double flops = 0, bytes = 0;  // of the task
  std::string bytes_model;
};

/// Who is asked for.
struct Selection {
  std::string only = "*";  // shell patterns for names, between commas
  std::vector<BackendName> backends = {BackendName::serial, BackendName::openmp, BackendName::cuda};
  bool wants(BackendName backend) const { return std::ranges::find(backends, backend) != backends.end(); }
  bool wants(BackendName backend, std::string_view name) const { return wants(backend) && matches(only, name); }
  bool wants(const Rival& rival) const { return wants(rival.backend, rival.name()); }
};

/// The numbers of threads on which something is measured that runs on `backend`: those asked for, or one.
std::vector<int> threads_for(BackendName backend, const std::vector<int>& asked);

/// Where, and how often.
struct Plan {
  Selection selection;
  std::vector<int> threads;                 // of OpenMP rivals
  std::optional<Cuda> cuda = {};            // a GPU, if it may be used and is there
  int trials = 15;                          // 0: check only
  bool warm = false;                        // caches are left as they are
  const std::atomic<bool>* stop = nullptr;  // asked between trials; true ends with what was measured
  std::function<void(int done, int all, const std::string& what)> progress = [](int, int, const std::string&) {};
};

/// A plan for the back ends that --backend asks for, and a GPU if it may be used and is there.
/// Errors  BackendError for a back end that was asked for by name and is not there.
Plan plan_for(const CommonOptions& options, std::vector<int> thread_counts = {});

/// What the machine is: one line, and for JSON.
std::string machine_text(const Plan& plan);
Json machine_json(const Plan& plan);

/// Every selected rival of `kernel` on the operand, in the order of the registry: poisoned, run, judged (or, where it
/// promises the serial default's bits, compared with them), and then, if right, timed. Where serial rivals are not
/// selected, the OpenMP default stands in for the serial one: it promises the same bits, and is judged.
/// The operand is one that kernel.require() has taken.
/// Cost    at most 3 seconds of trials of one rival beyond the third.
std::vector<Measurement> measure(const Kernel& kernel, Operand& operand, const TaskOptions& options, const Plan& plan,
                                 std::span<const Rival> among = rivals());

}  // namespace seidel::drivers
