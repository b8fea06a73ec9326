// Algebraic multigrid: what it takes, costs, judge.
#include <seidel/drivers/bench/kernels/tasks.hpp>

#include <algorithm>

#include <seidel/drivers/bench/kernels/judging.hpp>
#include <seidel/drivers/report/format.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

template <MultigridTask::Step step>
constexpr auto make = made<MultigridTask, MatrixOperand, step>;

long double energy_of(const Matrix& A, const auto& x) {
  long double energy = 0;
  for (Index i = 0; i < A.nrows; ++i) energy += x(i) * row_sum(A, i, x).sum;
  return energy;
}

/// Whether x'A x > 0 for x that turn towards the smallest eigenvalue, (2 ||A|| I - A)^k times random numbers: of large A
/// for the first one alone.
bool seems_definite(const Matrix& A, double norm_inf) {
  const std::int64_t steps = std::clamp<std::int64_t>(10'000'000 / (A.nnz() + 1), 1, 40);
  Array<double> x = random_numbers(A.nrows), next(A.nrows);
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto at = [&](Index i) { return x[i]; };
    if (!(energy_of(A, at) > 0)) return false;
    for (Index i = 0; i < A.nrows; ++i) next[i] = x[i] - double(row_sum(A, i, at).sum / (2 * norm_inf));
    std::swap(x, next);
  }
  return true;
}

void require_symmetric(const Operand& operand) {
  require_finite(operand);
  const Matrix& A = dynamic_cast<const MatrixOperand&>(operand).A;
  const MatrixProperties found = properties(OpenMP{}, A.view());
  if (!found.symmetric || found.diagonal_positive < A.nrows)
    throw InputError(formatted("amg: found {}, expected a symmetric matrix with a positive diagonal",
                               !found.square      ? "a matrix that is not square"
                               : !found.symmetric ? "a matrix that is not symmetric"
                                                  : "a diagonal that is not positive"));
  if (!seems_definite(A, found.norm_inf))
    throw InputError("amg: found x'A x <= 0, expected a positive definite matrix");
}

}  // namespace

const Kernel kernels::amg = {.name = "amg",
                             .help = "the setup of algebraic multigrid, for a symmetric positive definite matrix",
                             .takes = &matrix,
                             .require = require_symmetric,
                             .make = make<MultigridTask::Step::setup>};

const Kernel kernels::amg_values = {.name = "amg-values",
                                    .help = "new values for algebraic multigrid that has had new ones before",
                                    .takes = &matrix,
                                    .require = require_symmetric,
                                    .make = make<MultigridTask::Step::values>};

const Kernel kernels::amg_cycle = {.name = "amg-cycle",
                                   .help = "one cycle of algebraic multigrid",
                                   .takes = &matrix,
                                   .require = require_symmetric,
                                   .make = make<MultigridTask::Step::cycle>};

MultigridTask::MultigridTask(MatrixOperand& of_, const TaskOptions&, Step step)
    : of(of_), r(of.A.nrows), x_(random_numbers(of.A.nrows)) {
  const auto x = [this](Index i) { return x_[i]; };
  parallel_for(OpenMP{}, of.A.nrows, [&](std::int64_t first, std::int64_t last) {
    for (Index i = Index(first); i < last; ++i) r[i] = double(row_sum(of.A, i, x).sum);
  });
  energy_ = energy_of(of.A, x);
  if (!(energy_ > 0)) throw InputError("amg: found x'A x <= 0, expected a positive definite matrix");
  const double nnz = double(of.A.nnz()), n = of.A.nrows;
  bytes = 12 * nnz + 4 * (n + 1) + (step == Step::cycle ? 16 * n : 0);
  bytes_model = step == Step::cycle ? "12 nnz + 4 (n + 1) + 16 n" : "12 nnz + 4 (n + 1)";
}

/// A cycle that is symmetric and converges makes the energy of the error smaller, whatever the right-hand side: that of x - z
/// over that of x. Rounding is far below what it leaves.
double MultigridTask::error(const Answer& answer) const {
  const auto z = answer.array<double>(0);
  if (z.size() != x_.size()) return wrong_size;
  return double(energy_of(of.A, [&](Index i) { return x_[i] - z[i]; }) / energy_);
}

}  // namespace seidel::drivers
