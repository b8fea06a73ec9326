// Eigen's dense product, compiled for processors with AVX2: without it Eigen takes four times as long.
#pragma once

namespace seidel::drivers {

/// C = A B, column-major, m x k times k x n. Only where best_instruction_set() is not the baseline.
void eigen_product(int threads, long m, long n, long k, const double* A, const double* B, double* C);
void eigen_product(int threads, long m, long n, long k, const float* A, const float* B, float* C);

}  // namespace seidel::drivers
