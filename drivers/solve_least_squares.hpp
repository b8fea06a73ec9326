// What factors tell of a least-squares solution that an iteration found.
#pragma once
#include <seidel/drivers/solve_direct.hpp>

namespace seidel::drivers {

/// The x with the least ||b - A x||, of several the one nearest to x0, solves [s I, T; T' 0] (y, x) = (b, 0) with T = A, or, where
/// A has more columns than rows, (x, y) solves that with T = A' and (s x0, b), for any s > 0. Factors of this matrix refine outcome.x, or
/// tell its error alone where the refined x misses the tolerance. Nothing is done if they would take more than `seconds` or
/// half of the memory, or if neither columns nor rows of A are independent. x0 is empty for zero.
void refine_least_squares(const OpenMP& host, const DirectSystem& system, HostSpan<const double> x0, double norm_2_of_A,
                          double seconds, const Criteria& criteria, Outcome& outcome);

}  // namespace seidel::drivers
