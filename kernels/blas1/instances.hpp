// Every vector operation, named once for all back ends.
#pragma once
#include <seidel/kernels/blas1/blas1.hpp>

namespace seidel::blas1 {

/// Never called: names every operation, so that its code is emitted where this is instantiated.
template <class On, class Real>
auto instances(const On& on, Real* x) {
  for_each_element(on, 0, Fill<Real>{0, x});
  for_each_element(on, 0, Copy<Real>{x, x});
  for_each_element(on, 0, CopyStrided<Real>{x, 1, x, 1});
  for_each_element(on, 0, Axpy<Real>{0, x, x});
  for_each_element(on, 0, Axpby<Real>{0, x, 0, x});
  for_each_element(on, 0, Xpby<Real>{x, 0, x});
  for_each_element(on, 0, Multiply<Real>{x, x, x});
  for_each_element(on, 0, Gather<Real>{nullptr, x, x});
  for_each_element(on, 0, Convert<Real, double>{1, x, nullptr});
  for_each_element(on, 0, Convert<Real, float>{1, x, nullptr});
  max_abs(on, x, 0);
  return sum<Real>(on, 0, DotTerm<Real>{x, x}) + sum<Real>(on, 0, ScaledDotTerm<Real>{0, x, x});
}

}  // namespace seidel::blas1
