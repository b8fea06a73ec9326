// What bench and validate walk: kernels, what they work on, and tasks that judge answers.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <seidel/drivers/options.hpp>
#include <seidel/formats/multivector.hpp>
#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/statistics.hpp>

namespace seidel::drivers {

/// What a run of a kernel left: arrays of numbers, each in its own type, in the order that the task says: one of a product, three of a transpose. They are seen where
/// they lie until the next run; what lies in the memory of a device is copied to the host once.
class Answer {
 public:
  /// `on` is the back end whose memory they lie in.
  template <Backend B, class T>
  void add(const B& on, Span<const T, typename B::Space> numbers) {
    if constexpr (HostBackend<B>)
      arrays_.push_back(numbers);
    else
      own(copied_to<Host>(on, numbers));
  }
  template <class T>
  void own(Array<T> numbers) {
    const auto kept = std::make_shared<const Array<T>>(std::move(numbers));
    arrays_.push_back(kept->span());
    owned_.push_back(kept);
  }
  /// Array i; an empty one if the answer has no such array of this type.
  template <class T>
  HostSpan<const T> array(std::size_t i) const {
    const auto* numbers = i < arrays_.size() ? std::get_if<HostSpan<const T>>(&arrays_[i]) : nullptr;
    return numbers ? *numbers : HostSpan<const T>{};
  }
  bool empty() const { return arrays_.empty(); }
  /// The same numbers in memory of its own, which later runs do not change.
  Answer copied() const;
  friend bool same_bits(const Answer& a, const Answer& b);

 private:
  using Numbers = std::variant<HostSpan<const double>, HostSpan<const float>, HostSpan<const std::int32_t>,
                               HostSpan<const std::int64_t>>;
  std::vector<Numbers> arrays_;
  std::vector<std::shared_ptr<const void>> owned_;
};

/// Whether both have the same arrays, to the bit.
bool same_bits(const Answer& a, const Answer& b);

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
