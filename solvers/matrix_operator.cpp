// The place of a value that no solver takes.
#include <seidel/solvers/matrix_operator.hpp>

namespace seidel::matrix_operator_detail {

void refuse_nonfinite_values() { throw InputError("the matrix holds NaN or infinity, finite values are needed"); }

void refuse_nonfinite_value(std::int64_t row, std::int64_t col, double value) {
  throw InputError("the matrix: the entry in row " + std::to_string(row + 1) + ", column " + std::to_string(col + 1) +
                   " is " + std::to_string(value) +
                   ", a finite value is needed\n  correct this entry (rows and columns are counted from 1)");
}

}  // namespace seidel::matrix_operator_detail
