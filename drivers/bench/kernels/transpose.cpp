// Transposition: costs and judge.
#include <seidel/drivers/bench/kernels/transpose.hpp>

#include <seidel/drivers/bench/kernels/judging.hpp>

namespace seidel::drivers {

const Kernel kernels::transpose = {.name = "transpose",
                                   .help = "the transpose of a sparse matrix",
                                   .takes = &matrix,
                                   .in_suite = {1},
                                   .require = require_finite,
                                   .make = [](Operand& operand, const TaskOptions&) -> std::unique_ptr<Task> {
                                     return std::make_unique<TransposeTask>(dynamic_cast<MatrixOperand&>(operand));
                                   }};

TransposeTask::TransposeTask(MatrixOperand& of_) : of(of_) {
  const double nnz = double(of.A.nnz()), m = of.A.nrows, n = of.A.ncols;
  bytes = 24 * nnz + 4 * (m + n + 2);
  bytes_model = "24 nnz + 4 (m + n + 2)";
}

/// Transposition rounds nothing. Rows of T are in range and ascending, as many entries as A has, and each, (j, i), is
/// A's of (i, j): so none is missing.
double TransposeTask::error(const Answer& answer) const {
  const Matrix& A = of.A;
  const auto row_ptr = answer.array<std::int32_t>(0), col_idx = answer.array<std::int32_t>(1);
  const auto values = answer.array<double>(2);
  if (row_ptr.size() != A.ncols + std::int64_t(1) || col_idx.size() != A.nnz() || values.size() != A.nnz())
    return wrong_size;
  if (row_ptr[0] != 0 || row_ptr[A.ncols] != A.nnz()) return not_equal;
  for (Index j = 0; j < A.ncols; ++j)
    if (row_ptr[j] > row_ptr[j + 1]) return not_equal;
  return worst_of(A.ncols, [&](std::int64_t j) {
    Index before = -1;
    for (auto e = row_ptr[j]; e < row_ptr[j + 1]; ++e) {
      const Index i = col_idx[e];
      if (i <= before || i >= A.nrows) return not_equal;
      before = i;
      const Index *first = A.col_idx.data() + A.row_ptr[i], *last = A.col_idx.data() + A.row_ptr[i + 1],
                  *place = std::lower_bound(first, last, Index(j));
      if (place == last || *place != j) return not_equal;
      if (A.values[place - A.col_idx.data()] != values[e]) return not_equal;
    }
    return 0.0;
  });
}

}  // namespace seidel::drivers
