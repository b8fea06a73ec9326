// Products with a sparse matrix: inputs, costs, judge.
#include <seidel/drivers/bench/kernels/tasks.hpp>

#include <seidel/drivers/bench/kernels/judging.hpp>

namespace seidel::drivers {

const Kernel kernels::spmv = {.name = "spmv",
                              .help = "sparse matrix times vector",
                              .takes = &matrix,
                              .in_suite = {1},
                              .require = require_finite,
                              .make = made<ProductTask, MatrixOperand>};

const Kernel kernels::spmm = {.name = "spmm",
                              .help = "sparse matrix times several vectors",
                              .takes = &matrix,
                              .columns_help = "numbers of columns",
                              .columns = {1, 2, 4, 8, 16, 32, 64},
                              .in_suite = {8, 32},
                              .in_validate = {1, 3, 8},
                              .require = require_finite,
                              .make = made<ProductTask, MatrixOperand>};

ProductTask::ProductTask(MatrixOperand& of_, const TaskOptions& options)
    : of(of_), k(options.k), layout(options.layout), x(random_numbers(of.A.ncols * k)) {
  const double nnz = double(of.A.nnz()), m = of.A.nrows, n = of.A.ncols;
  flops = 2 * nnz * double(k);
  bytes = 12 * nnz + 4 * (m + 1) + 8 * (m + n) * double(k);
  bytes_model = k == 1 ? "12 nnz + 4 (m + 1) + 8 (m + n)" : "12 nnz + 4 (m + 1) + 8 (m + n) k";
}

double ProductTask::error(const Answer& answer) const {
  const Matrix& A = of.A;
  const auto y = answer.array<double>(0);
  if (y.size() != A.nrows * k) return wrong_size;
  return worst_of(A.nrows, [&](std::int64_t i) {
    double worst = 0;
    for (std::int64_t j = 0; j < k; ++j) {
      const RowSum row = row_sum(A, Index(i), [&](Index c) { return x[place_of(c, j, A.ncols, k, layout)]; });
      worst = worse(worst, error_over_bound(y[place_of(i, j, A.nrows, k, layout)], row.sum, row.scale, row.terms));
    }
    return worst;
  });
}

}  // namespace seidel::drivers
