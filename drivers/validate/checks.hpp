// What validate checks of one matrix on one back end, and what it saw: for each kernel, format and back end how many checks, how
// near to the bound, what was wrong.
#pragma once
#include <map>

#include <seidel/drivers/bench/rival.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/csr.hpp>

namespace seidel::drivers {

struct ValidateOptions;

struct Cell {
  std::int64_t checks = 0, wrong = 0;
  std::int64_t reached = 0, runs = 0;  // solvers: how many of the runs reached the tolerance
  bool measured = false;               // whether any check had an error to measure; others are by equality
  double worst = 0;                    // largest error, in parts of its bound: above 1 is wrong
};

struct LedgerRow {
  std::string kernel, format;
  std::vector<Cell> cells;  // one per back end
};

/// Collects checks of one back end after the other on one matrix after the other.
class Ledger {
 public:
  explicit Ledger(std::vector<std::string> backends) : backends_(std::move(backends)) {}

  void matrix(std::string name) { matrix_ = std::move(name), first_.clear(); }
  void backend(std::size_t which) { backend_ = which; }

  /// `error` in parts of its bound; above 1, or NaN, is wrong.
  void within(const std::string& kernel, const std::string& format, double error);
  void holds(const std::string& kernel, const std::string& format, bool yes, const std::string& unless);
  /// Bits: the first values given under `what` for this matrix are what all later ones must equal.
  void same(const std::string& kernel, const std::string& format, const std::string& what,
            std::span<const double> values);
  void ran(const std::string& kernel, const std::string& format, bool reached);

  const std::vector<LedgerRow>& rows() const { return rows_; }
  const std::vector<std::string>& backends() const { return backends_; }
  const std::vector<std::string>& faults() const { return faults_; }
  std::int64_t checks() const;

 private:
  Cell& cell(const std::string& kernel, const std::string& format);
  void fault(const std::string& kernel, const std::string& format, const std::string& what);

  std::vector<std::string> backends_;
  std::vector<LedgerRow> rows_;
  std::map<std::string, std::vector<double>> first_;
  std::vector<std::string> faults_;
  std::string matrix_;
  std::size_t backend_ = 0;
};

/// What every back end is compared with, found once per matrix.
struct Expected {
  CsrView<double, std::int64_t, Host> A;
  Array<double> x, b;                  // in (-1, 1), with ncols and nrows entries
  bool sweeps = false, finite = true;  // square with a full, nonzero diagonal; no NaN, no infinity
  bool symmetric_positive = false;     // symmetric, with a positive diagonal
};
Expected expect(const CsrView<double, std::int64_t, Host>& A);

/// The rivals to be checked, those of `rivals` whose names match `only`, and where.
struct Registry {
  std::span<const Rival> rivals;
  std::string only;
  std::vector<Placement> backends;  // those of the ledger
};
/// Each rival of each kernel that takes `kind` and can work on the operand, in the cells of its kernel, format and back
/// end; bits where they are promised. Kernels that know orders also sweep by colours.
void check_registry(Ledger& ledger, const OperandKind& kind, Operand& operand, const Registry& registry);
/// What the registry of bench has not: residuals, 64-bit offsets, sweeps from a guess, vector operations, the
/// certificate; conversions where the back end has them.
void check_kernels(Ledger& ledger, const Expected& expected, const Placement& where);
/// Each method with each preconditioner, by its true residual and by its bits.
void check_solvers(Ledger& ledger, const Expected& expected, const Placement& where);

/// seidel validate with these rivals. Returns the exit code.
int validate(const ValidateOptions& options, std::span<const Rival> rivals);

}  // namespace seidel::drivers
