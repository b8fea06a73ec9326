// The only code of the program that is compiled for AVX2 as a whole. Eigen's namespace has another name here, so that what
// its headers define cannot take the place of the other files' copies (CMakeLists.txt).
#include <Eigen/Core>

#include <seidel/drivers/bench/rivals/eigen_product.hpp>

namespace seidel::drivers {

template <class Real>
void eigen_product(int threads, long m, long n, long k, const Real* A, const Real* B, Real* C) {
  using Dense = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  Eigen::setNbThreads(threads);
  Eigen::Map<Dense>(C, m, n).noalias() = Eigen::Map<const Dense>(A, m, k) * Eigen::Map<const Dense>(B, k, n);
}

template void eigen_product(int, long, long, long, const double*, const double*, double*);
template void eigen_product(int, long, long, long, const float*, const float*, float*);

}  // namespace seidel::drivers
