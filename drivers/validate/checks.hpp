// What validate checks of one matrix on one back end.
#pragma once
#include <seidel/drivers/bench/rival.hpp>
#include <seidel/drivers/validate/ledger.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/csr.hpp>

namespace seidel::drivers {

struct ValidateOptions;

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
