// Matrices as operands: read or generated, described, reordered.
#include <seidel/drivers/bench/kernels/tasks.hpp>

#include <cmath>

#include <seidel/drivers/matrix_source.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/permute.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/orders/orders.hpp>

namespace seidel::drivers {

namespace {

std::unique_ptr<Operand> loaded(const std::string& word, const CommonOptions& options) {
  LoadedMatrix matrix = load_matrix(word, options, false);
  return std::make_unique<MatrixOperand>(std::move(matrix.name), std::move(matrix.matrix));
}

}  // namespace

// Those of validate are small, and each has a seam of its own: one row, odd sizes, long rows, a dense row or column,
// empty rows, unsymmetric.
const OperandKind kernels::matrix = {
    .placeholder = "MATRIX",
    .help = matrix_help,
    .example = "poisson3d:64",
    .for_validation = {"poisson2d:1", "poisson2d:33", "poisson3d:13", "hpcg:9", "convdiff:17", "elasticity3d:4",
                       "random:257x300:5000", "banded:1000:3", "spd:500:9", "rmat:8", "denserow:2100",
                       "densecolumn:300", "emptyrows:100"},
    .make = loaded};

MatrixOperand::MatrixOperand(std::string name_, Matrix A_) : A(std::move(A_)) {
  name = std::move(name_);
  rows = row_statistics(OpenMP{}, A.view());
  description = formatted("{} x {}, {}, {:.1f} per row (longest {})", count(A.nrows), count(A.ncols),
                          plural(A.nnz(), "nonzero"), rows->mean, count(rows->max));
}

MatrixOperand by_colours(const MatrixOperand& operand) {
  const auto A = operand.A.view();
  return {operand.name, permuted(OpenMP{}, A, colour_order(OpenMP{}, greedy_colours(OpenMP{}, A)).span())};
}

void require_finite(const Operand& operand) {
  const Matrix& A = dynamic_cast<const MatrixOperand&>(operand).A;
  for (std::int64_t e = 0; e < A.nnz(); ++e)
    if (!std::isfinite(A.values[e]))
      throw InputError(
          formatted("bench: found {} as entry {} of the matrix, expected finite numbers\n  a NaN or an infinity "
                    "makes every answer right",
                    A.values[e], e + 1));
}

}  // namespace seidel::drivers
