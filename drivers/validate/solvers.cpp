// Each method with each preconditioner on one back end: by its true residual, and by its bits.
#include <cmath>

#include <seidel/drivers/solve_on.hpp>
#include <seidel/drivers/validate/checks.hpp>
#include <seidel/kernels/spmv/spmv.hpp>

namespace seidel::drivers {

namespace {

/// ||b - A x|| / ||b|| in long double, apart from all code of seidel.
double true_residual(const CsrView<double, std::int64_t, Host>& A, const Array<double>& b, const Array<double>& x) {
  long double squares = 0, squares_b = 0;
  for (Index i = 0; i < A.nrows; ++i) {
    long double rest = b[i];
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      rest -= static_cast<long double>(A.values[k]) * x[A.col_idx[k]];
    squares += rest * rest;
    squares_b += static_cast<long double>(b[i]) * b[i];
  }
  return double(squares_b > 0 ? std::sqrt(squares / squares_b) : std::sqrt(squares));
}

}  // namespace

void check_solvers(Ledger& ledger, const Expected& expected, const Placement& where) {
  const auto& A = expected.A;
  if (A.nrows != A.ncols || !expected.finite) return;
  const Array<double> ones(A.ncols, 1.0);
  Array<double> b(A.nrows);
  spmv<OpenMP>(OpenMP{1}, A, ones.span(), b.span());

  Criteria criteria;
  criteria.max_iterations = 300;
  for (const Method& method : methods)
    for (const PreconditionerKind& kind : preconditioners)
      for (const Order order : kind.orders) {
        if ((method.needs > Needs::square || kind.needs_definite || kind.needs_positive) &&
            !expected.symmetric_positive)
          continue;
        if (method.needs > Needs::square && !kind.keeps_symmetry) continue;
        if (kind.needs_diagonal && !expected.sweeps) continue;
        if (!method.takes(kind.name)) continue;
        const MethodChoice choice{.method = method, .preconditioner = kind, .order = order, .restart = 30};
        const System<std::int64_t> system{A, b.span(), {}, 1, false};
        const Outcome outcome = solve_on(where, system, choice, criteria);

        const std::string name(method.name),
            with = std::string(kind.name) + (kind.orders.size() > 1 ? ", " + std::string(to_string(order)) : "");
        // A claim must be true; not to get there is no lie. 1 + 1e-10 leaves room for the rounding of the norms.
        if (outcome.solved)
          ledger.within(name, with, true_residual(A, b, outcome.x) / criteria.relative_tolerance / (1 + 1e-10));
        ledger.ran(name, with, outcome.solved);
        ledger.same(name, with, name + " with " + with + ": x", {outcome.x.begin(), outcome.x.end()});
        ledger.same(name, with, name + " with " + with + ": history", outcome.summary.history);
      }
}

}  // namespace seidel::drivers
