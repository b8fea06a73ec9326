// Rivals: ways to do what a kernel asks for.
#pragma once
#include <concepts>
#include <functional>

#include <seidel/drivers/bench/kernel.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel::drivers {

/// Where rivals run. Cuda is there if it was asked for and found.
struct Where {
  OpenMP openmp;
  const Cuda* cuda = nullptr;
};

/// A rival made ready for a task, which outlives it. What else it points to lives as long as its functions do.
struct Prepared {
  std::function<void()> run;         // once; on the GPU it only enqueues
  std::function<void()> poison;      // sets the output to NaN, or to the guess
  std::function<Answer()> answer;    // what the last run left
  double setup_seconds = 0;          // conversion or analysis, of this task's operand alone
  std::int64_t workspace_bytes = 0;  // beyond the operands, a matrix in CSR
};

/// prepare(task, where) of a rival, which takes the tasks of its kernel.
class Prepare {
 public:
  template <std::derived_from<Task> Its>
  Prepare(Prepared (*prepare)(const Its&, const Where&))
      : prepare_([prepare](const Task& task, const Where& where) {
          return prepare(dynamic_cast<const Its&>(task), where);
        }) {}
  Prepared operator()(const Task& task, const Where& where) const { return prepare_(task, where); }

 private:
  std::function<Prepared(const Task&, const Where&)> prepare_;
};

/// What a rival promises: seidel's with the bits of the serial default; seidel's within rounding; somebody else's, which
/// ours are compared with.
enum class Role { exact, rounded, baseline };

/// One implementation of a kernel.
struct Rival {
  const Kernel* kernel;
  std::string_view format;   // "csr"
  BackendName backend;       // never automatic
  std::string_view variant;  // "" for seidel's default, else what tells it apart: "eigen", "cusparse-alg2"
  Role role;
  std::string_view what;  // one line for --list
  Prepare prepare;

  /// "spmv.csr.cuda" or "spmv.csr.cuda.cusparse-alg2"
  std::string name() const;
};

/// Every rival of this build, in the order of tables: for each kernel the serial default first. The table of their files
/// stands in drivers/CMakeLists.txt.
std::span<const Rival> rivals();

/// Whether `name` matches a shell pattern with * and ?, or one of several between commas.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace seidel::drivers
