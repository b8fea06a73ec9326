// Gauss-Seidel sweeps: inputs, costs, judge.
#include <seidel/drivers/bench/kernels/tasks.hpp>

#include <seidel/drivers/bench/kernels/judging.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/solvers/preconditioners/diagonal.hpp>

namespace seidel::drivers {

namespace {

void require_sweepable(const Operand& operand) {
  require_finite(operand);
  const Matrix& A = dynamic_cast<const MatrixOperand&>(operand).A;
  require_square(A.nrows, A.ncols, "symgs");
  (void)inverse_diagonal(OpenMP{}, A.view());  // names a row that has none
}

/// A pair of sweeps from x to z: (D + L) y = b - U x, (D + U) z = b - L y. So y = z + D^-1 U (z - x), and z is judged
/// by what the first equation leaves of b, which no bad conditioning of the triangles can excuse: the residual of each
/// row over the magnitudes that were added in it. An empty x is zero.
double error_of_pair(const Matrix& A, HostSpan<const double> b, HostSpan<const double> x, HostSpan<const double> z) {
  struct Row {
    long double diagonal, upper, upper_scale, y, y_scale;
  };
  const auto entries_of = [](HostSpan<const double> v) { return [v](Index c) { return v[c]; }; };
  std::vector<Row> rows(static_cast<std::size_t>(A.nrows));
  parallel_for(OpenMP{}, A.nrows, [&](std::int64_t first, std::int64_t last) {
    for (Index i = Index(first); i < last; ++i) {
      Row& r = rows[std::size_t(i)];
      for (std::int64_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
        if (A.col_idx[e] == i) r.diagonal = A.values[e];
      const auto above = [i](Index c) { return c > i; };
      const RowSum row = row_sum(A, i, entries_of(z), above);
      RowSum before;
      if (!x.empty()) before = row_sum(A, i, entries_of(x), above);
      r.upper = before.sum, r.upper_scale = before.scale;
      r.y = z[i] + (row.sum - before.sum) / r.diagonal;
      r.y_scale = std::fabs(z[i]) + (row.scale + before.scale) / std::fabs(r.diagonal);
    }
  });
  return worst_of(A.nrows, [&](std::int64_t i) {  // (D + L) y + U x = b
    const Row& r = rows[std::size_t(i)];
    const auto lower = [i](Index c) { return c < i; };
    const auto y = [&](Index c) { return rows[std::size_t(c)].y; };
    const auto y_scale = [&](Index c) { return rows[std::size_t(c)].y_scale; };
    const RowSum row = row_sum(A, Index(i), y, lower), scale = row_sum(A, Index(i), y_scale, lower);
    const long double bi = b[i];
    const long double allowed = std::fabs(bi) + r.upper_scale + scale.scale + std::fabs(r.diagonal) * r.y_scale;
    const std::int64_t terms = 4 * (A.row_ptr[i + 1] - A.row_ptr[i]) + 16;
    return error_over_bound(double(0), ((bi - r.upper) - row.sum) - r.diagonal * r.y, allowed, terms);
  });
}

}  // namespace

const Kernel kernels::symgs = {.name = "symgs",
                               .help = "a forward and a backward Gauss-Seidel sweep from zero",
                               .takes = &matrix,
                               .columns_help = "numbers of right-hand sides",
                               .orders = Orders::solves,
                               .in_suite = {1},
                               .require = require_sweepable,
                               .make = made<SweepTask, MatrixOperand, SweepTask::Start::zero>};

const Kernel kernels::symgs_guess = {.name = "symgs-guess",
                                     .help = "a forward and a backward sweep from a guess, which reads more",
                                     .takes = &matrix,
                                     .orders = Orders::sweeps,
                                     .require = require_sweepable,
                                     .make = made<SweepTask, MatrixOperand, SweepTask::Start::guess>};

SweepTask::SweepTask(MatrixOperand& of_, const TaskOptions& options, Start start)
    : of(of_), k(options.k), layout(options.layout), b(random_numbers(of.A.nrows * k)) {
  const double nnz = double(of.A.nnz()), n = of.A.ncols;
  if (start == Start::guess) {  // the upper triangle is read once more, with the guess
    guess = random_numbers(of.A.nrows, 2);
    flops = 3 * nnz;
    bytes = 18 * (nnz - n) + 56 * n, bytes_model = "18 (nnz - n) + 56 n";
  } else {
    flops = 2 * nnz * double(k);
    bytes = 12 * (nnz - n) + 8 * n + 40 * n * double(k);
    bytes_model = k > 1 ? "12 (nnz - n) + 8 n + 40 n k" : "12 (nnz - n) + 48 n";
  }
}

void require_one_column(const SweepTask& task) {
  if (task.k > 1) throw ResourceError("takes one right-hand side at a time");
}

/// Each column by itself.
double SweepTask::error(const Answer& answer) const {
  const Index n = of.A.nrows;
  const auto z = answer.array<double>(0);
  if (z.size() != n * k) return wrong_size;
  if (k == 1) return error_of_pair(of.A, b, guess, z);
  const auto column = [&](HostSpan<const double> all, std::int64_t j) {
    Array<double> one(n);
    for (Index i = 0; i < n; ++i) one[i] = all[place_of(i, j, n, k, layout)];
    return one;
  };
  double worst = 0;
  for (std::int64_t j = 0; j < k; ++j) worst = worse(worst, error_of_pair(of.A, column(b, j), guess, column(z, j)));
  return worst;
}

}  // namespace seidel::drivers
