// What a solver refuses before its first iteration.
#include <algorithm>
#include <cmath>

#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/solvers/finite.hpp>
#include <seidel/solvers/gmres.hpp>
#include <seidel/solvers/matrix_operator.hpp>

namespace seidel {

void refuse_shapes(Shape needed, std::int64_t nrows, std::int64_t ncols, std::int64_t b, std::int64_t x) {
  const auto size = [](std::int64_t n) { return std::to_string(n); };
  if (needed == Shape::square && nrows != ncols)
    throw ShapeError("the matrix is " + size(nrows) + " x " + size(ncols) +
                     "; a linear system needs as many rows as columns");
  throw ShapeError("b has " + counted(b, "entry", "entries") + " and x has " + size(x) + "; the matrix needs " +
                   (nrows == ncols ? size(nrows) + " of each" : size(nrows) + " and " + size(ncols)));
}

void refuse_overlap() { throw InputError("b and x overlap in memory\n  give each of them memory of its own"); }

void refuse_nonfinite(const char* vector, std::int64_t entry) {
  if (entry < 0)
    throw InputError(std::string(vector) +
                     ": its norm is beyond the range of the number type\n  scale the system down");
  throw InputError(std::string(vector) + ": entry " + std::to_string(entry + 1) +
                   " is NaN or infinite, a finite number is needed\n  correct this entry (entries are counted from 1)");
}

void refuse_unsymmetric_preconditioner(const char* method) {
  throw UsageError(std::string(method) +
                   " needs a symmetric preconditioner, and this one says that it is not\n"
                   "  take another preconditioner, or gmres or bicgstab as the method");
}

void refuse_nonlinear_preconditioner(const char* method) {
  throw UsageError(std::string(method) +
                   " needs a preconditioner that is the same matrix in all iterations, and this one says that it is not\n"
                   "  take another preconditioner, or cg or gmres as the method");
}

std::size_t columns_per_cycle(int restart, std::int64_t n, std::int64_t max_iterations) {
  if (restart < 1) throw UsageError("gmres: restart is " + std::to_string(restart) + ", expected 1 or more");
  return std::size_t(std::max<std::int64_t>(1, std::min({std::int64_t(restart), n, max_iterations})));
}

namespace matrix_operator_detail {

void refuse_nonfinite_values() { throw InputError("the matrix holds NaN or infinity, finite values are needed"); }

void refuse_nonfinite_value(std::int64_t row, std::int64_t col, double value) {
  throw InputError("the matrix: the entry in row " + std::to_string(row + 1) + ", column " + std::to_string(col + 1) +
                   " is " + (std::isnan(value) ? "NaN" : std::to_string(value)) +
                   ", a finite value is needed\n  correct this entry (rows and columns are counted from 1)");
}

}  // namespace matrix_operator_detail

}  // namespace seidel
