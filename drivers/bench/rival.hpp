// What validate and bench walk: tasks (a kernel on a matrix, with its right answer) and rivals (ways to do it).
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seidel/drivers/backend_name.hpp>
#include <seidel/formats/csr.hpp>
#include <seidel/formats/multivector.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel::drivers {

using Matrix = Csr<double, std::int64_t, Host>;

/// A with offsets of 32 bits, as users have it and libraries take it: made by csr_of() when a rival first asks.
struct NarrowCopies {
  std::optional<Csr<double, std::int32_t, Host>> host;
  std::optional<Csr<double, std::int32_t, Device>> device;
};

/// One kernel on one matrix: the inputs, what it must cost, and a judge of answers. All of it is the host's.
struct Task {
  std::string_view kernel;  // one of `kernels`
  const Matrix& A;
  std::int64_t k;                  // right-hand sides, side by side
  Layout layout;                   // of both multivectors
  std::vector<double> input = {};  // x, X or b
  std::vector<double> guess = {};  // of symgs-guess: what x holds at first
  double flops = 0;                // 2 nnz k and the like; padding never counts
  double bytes = 0;                // the compulsory ones: each array once
  std::string bytes_model = {};    // the same as a formula, for tables
  std::shared_ptr<NarrowCopies> copies = std::make_shared<NarrowCopies>();
  double (*judge)(const Task&, const std::vector<double>& output) = nullptr;
  /// The largest error of `output` over the rounding that the task allows at that entry: right up to 1. NaN is wrong.
  double error(const std::vector<double>& output) const { return judge(*this, output); }
};

/// Where rivals run. Cuda is there if it was asked for and found.
struct Where {
  OpenMP openmp;
  const Cuda* cuda = nullptr;
};

/// A rival made ready for a task, which outlives it. What else it points to lives as long as its functions do.
struct Prepared {
  std::function<void()> run;     // once; on the GPU it only enqueues
  std::function<void()> poison;  // sets the output to NaN, or to the guess
  std::function<void(std::vector<double>& to)>
      output;                        // what the last run left, in the order of the task; a matrix: see flat()
  double setup_seconds = 0;          // conversion or analysis, of this task's matrix alone
  std::int64_t workspace_bytes = 0;  // beyond the CSR matrix and the operands
};

/// One implementation of a kernel.
struct Rival {
  std::string_view kernel;   // "spmv"
  std::string_view format;   // "csr"
  BackendName backend;       // never automatic
  std::string_view variant;  // "" for seidel's default, else what tells it apart: "eigen", "cusparse-alg2"
  bool exact;                // promises the bits of the serial default
  std::string_view what;     // one line for --list
  Prepared (*prepare)(const Task&, const Where&);

  /// "spmv.csr.cuda" or "spmv.csr.cuda.cusparse-alg2"
  std::string name() const;
};

/// Every rival of this build, in the order of tables: for each kernel the serial default first.
std::span<const Rival> rivals();

/// A matrix as one list of numbers, for Prepared::output: values, column indices, row pointers.
void flat(const Matrix& A, std::vector<double>& to);

/// Whether `name` matches a shell pattern with * and ?, or one of several between commas.
bool matches(std::string_view pattern, std::string_view name);

/// The kernels that make_task knows.
inline constexpr std::string_view kernels[] = {"spmv", "spmm", "symgs", "symgs-guess", "transpose"};

/// The task of `kernel` on A with inputs from `seed`. A must outlive it.
/// Errors  InputError: a NaN or infinite entry; symgs: not square, or a zero or missing on the diagonal.
Task make_task(std::string_view kernel, const Matrix& A, std::int64_t k, Layout layout, std::uint64_t seed);

}  // namespace seidel::drivers
