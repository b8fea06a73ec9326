// The only code of the program that is compiled for AVX2 as a whole. Eigen's namespace has another name here, so that what
// its headers define cannot take the place of the other files' copies (CMakeLists.txt).
#include <Eigen/Core>

#include <seidel/drivers/bench/rivals/eigen_product.hpp>

namespace seidel::drivers {

namespace {

template <class Real>
void product(int threads, long m, long n, long k, const Real* A, const Real* B, Real* C) {
  using Dense = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  Eigen::setNbThreads(threads);
  Eigen::Map<Dense>(C, m, n).noalias() = Eigen::Map<const Dense>(A, m, k) * Eigen::Map<const Dense>(B, k, n);
}

}  // namespace

void eigen_product(int threads, long m, long n, long k, const double* A, const double* B, double* C) {
  product(threads, m, n, k, A, B, C);
}
void eigen_product(int threads, long m, long n, long k, const float* A, const float* B, float* C) {
  product(threads, m, n, k, A, B, C);
}

}  // namespace seidel::drivers
