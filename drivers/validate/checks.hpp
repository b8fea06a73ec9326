// What validate checks of one matrix on one back end.
#pragma once
#include <seidel/drivers/validate/ledger.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/csr.hpp>

namespace seidel::drivers {

/// What every back end is compared with, found once a matrix by Eigen.
struct Expected {
  CsrView<double, std::int64_t, Host> A;
  std::vector<double> x, b;            // in (-1, 1), with ncols and nrows entries
  std::vector<double> y;               // A x, by Eigen
  std::vector<double> magnitude;       // sum of |a_ij x_j|, by row
  std::vector<double> terms;           // entries, by row
  bool sweeps = false, finite = true;  // square with a full, nonzero diagonal; no NaN, no infinity
  bool symmetric_positive = false;     // symmetric, with a positive diagonal
};
Expected expect(const CsrView<double, std::int64_t, Host>& A);

/// Products, sweeps, vector operations, the certificate; conversions and transposition where the back end has them.
void check_kernels(Ledger& ledger, const Expected& expected, const Placement& where);
/// Each method with each preconditioner, by its true residual and by its bits.
void check_solvers(Ledger& ledger, const Expected& expected, const Placement& where);

}  // namespace seidel::drivers
