// What bench and validate walk: kernels, what they work on, and tasks that judge answers.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seidel/drivers/bench/answer.hpp>
#include <seidel/drivers/options.hpp>
#include <seidel/formats/multivector.hpp>
#include <seidel/formats/statistics.hpp>

namespace seidel::drivers {

/// What a task works on: a matrix, an array ... Made once of a word of the command line, for all kernels that take it.
struct Operand {
  std::string name;                   // the word: "poisson3d:64"
  std::string description;            // for titles: "1,000 x 1,000, 6,400 nonzeros ..."
  std::optional<RowStatistics> rows;  // of a matrix
  virtual ~Operand() = default;
};

/// A kind of operand, and how the program takes one.
struct OperandKind {
  const char* placeholder;                  // "MATRIX"
  const char* help;                         // what the word may be
  const char* example;                      // a word to start with
  std::vector<std::string> for_validation;  // words that validate takes unless others are given
  std::unique_ptr<Operand> (*make)(const std::string& word, const CommonOptions& options);
};

/// What is asked of a kernel besides its operand.
struct TaskOptions {
  std::int64_t k = 1;                 // columns, or right-hand sides, at once
  Layout layout = Layout::row_major;  // of these columns
};

/// One kernel on one operand, which outlives it: owns the inputs, knows what it must cost, judges answers. All of it is
/// the host's.
struct Task {
  double flops = 0;         // 2 nnz k and the like; padding never counts
  double bytes = 0;         // the compulsory ones: each array once
  std::string bytes_model;  // the same as a formula, for tables
  virtual ~Task() = default;
  /// The largest error of `answer` over the rounding that the task allows at that entry: right up to 1. NaN is wrong.
  virtual double error(const Answer& answer) const = 0;
};

/// --order: not taken; sweeps are measured in each order; also the solve that each is for.
enum class Orders { none, sweeps, solves };

/// What the options, the suite, validate and every report need to know of a kernel.
struct Kernel {
  std::string_view name;  // "spmv"
  const char* help;       // one line
  const OperandKind* takes;
  std::vector<std::string> unless_given = {};  // what is measured if no word is given; empty: one has to be given
  const char* columns_help = nullptr;          // of --k and --layout; null: it has neither
  std::vector<std::int64_t> columns = {1};     // --k, unless given
  Orders orders = Orders::none;
  std::vector<std::int64_t> in_suite = {};  // --k of bench suite; empty: not in it
  std::vector<std::int64_t> in_validate = {1};
  /// Errors  InputError if the operand is of the kind that it takes, but not one that it can work on.
  void (*require)(const Operand& operand) = [](const Operand&) {};
  std::unique_ptr<Task> (*make)(Operand& operand, const TaskOptions& options);  // after require()
};

/// Every kernel, in the order of tables.
std::span<const Kernel* const> all_kernels();

/// Whether the kernel can work on this operand, which is of the kind that it takes.
bool fits(const Kernel& kernel, const Operand& operand);

}  // namespace seidel::drivers
