// The units of A and b: a system whose numbers are all tiny or huge is solved in others, so that products stay in the range of double.
#pragma once
#include <vector>

#include <seidel/drivers/solve_load.hpp>
#include <seidel/drivers/solve_on.hpp>

namespace seidel::drivers {

/// Solved is 2^-of_A A x' = 2^-of_b b, x = 2^(of_b - of_A) x'. Powers of two round nothing; they are 0 where sizes are usual.
struct Units {
  int of_A = 0;
  std::vector<int> of_b = {};  // of each column
};

/// Brings A to size 1, if it is tiny or huge and no entry underflows: it must be inspected again.
Units change_units(const OpenMP& host, const MatrixProperties& A, Loaded& loaded);
/// Brings b and x0 to size 1, too. Not b where an absolute tolerance has its units, or x0 is for many columns.
void change_units(const SolveOptions& options, const MatrixProperties& A, Loaded& loaded, Units& units);

/// x, and the norms of x and b, in their own units. Where x loses digits or its range there, it is certified again, as a solution
/// for b.
void restore_units(const Units& units, const SolveOptions& options, const Loaded& loaded, const Inspected& seen,
                   std::size_t column, HostSpan<const double> b, Outcome& outcome);
/// What is to be told of A.
MatrixProperties in_own_units(const Units& units, MatrixProperties A);

}  // namespace seidel::drivers
