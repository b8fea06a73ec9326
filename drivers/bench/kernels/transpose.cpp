// Transposition: costs and judge.
#include <seidel/drivers/bench/kernels/tasks.hpp>

#include <seidel/drivers/bench/kernels/judging.hpp>

namespace seidel::drivers {

namespace {

/// 500,000 x 500,000 with 10 million entries: the case that the study of ScanTrans and MergeTrans was measured on.
const std::vector<std::string> classic = {"random:500000x500000:10000000"};

}  // namespace

const Kernel kernels::transpose = {.name = "transpose",
                                   .help = "the transpose of a sparse matrix (random:500000x500000:10000000)",
                                   .takes = &matrix,
                                   .unless_given = classic,
                                   .in_suite = {1},
                                   .require = require_finite,
                                   .make = made<TransposeTask, MatrixOperand, TransposeTask::Pattern::is_new>};

const Kernel kernels::transpose_values = {.name = "transpose-values",
                                          .help = "new values in a pattern that has been transposed before",
                                          .takes = &matrix,
                                          .unless_given = classic,
                                          .in_suite = {1},
                                          .require = require_finite,
                                          .make = made<TransposeTask, MatrixOperand, TransposeTask::Pattern::is_known>};

TransposeTask::TransposeTask(MatrixOperand& of_, const TaskOptions&, Pattern pattern) : of(of_) {
  const double nnz = double(of.A.nnz()), m = of.A.nrows, n = of.A.ncols;
  const bool is_new = pattern == Pattern::is_new;
  bytes = is_new ? 24 * nnz + 4 * (m + n + 2) : 20 * nnz;
  bytes_model = is_new ? "24 nnz + 4 (m + n + 2)" : "20 nnz";
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
