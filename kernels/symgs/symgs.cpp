// What every back end's Gauss-Seidel refuses.
#include <cmath>

#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::symgs_detail {

void refuse_row(std::int64_t row, const std::vector<Index>& col_idx, const std::vector<double>& values) {
  bool stored = false;
  double diagonal = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k] - values[k] != 0)
      throw InputError("row " + std::to_string(row + 1) + ", column " + std::to_string(col_idx[k] + 1) + ": found " +
                       (std::isnan(values[k]) ? "NaN" : std::to_string(values[k])) +
                       ", expected a finite number\n  a sweep would spread it over all of x");
    if (col_idx[k] == row) stored = true, diagonal = values[k];
  }
  if (diagonal == 0) throw ZeroDiagonal(row, stored);
  throw InputError("row " + std::to_string(row + 1) +
                   ": the diagonal entry is so small that 1 / a_ii overflows, and this " +
                   "method divides by it\n  scale the row, or take a preconditioner that does not divide by it, or none");
}

}  // namespace seidel::symgs_detail
