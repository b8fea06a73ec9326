// Eigen's dense product, compiled for processors with AVX2: without it Eigen takes four times as long.
#pragma once

namespace seidel::drivers {

/// C = A B, column-major, m x k times k x n. Only where best_instruction_set() is not the baseline.
template <class Real>
void eigen_product(int threads, long m, long n, long k, const Real* A, const Real* B, Real* C);

}  // namespace seidel::drivers
