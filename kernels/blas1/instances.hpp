// Every vector operation, named once for all back ends.
#pragma once
#include <seidel/kernels/blas1/blas1.hpp>
#include <seidel/kernels/blas1/lanczos.hpp>
#include <seidel/kernels/blas1/step.hpp>

namespace seidel::blas1 {

/// Never called: names every operation, so that its code is emitted where this is instantiated.
template <class On, class Real>
void instances(const On& on, Real* x) {
  for_each_element(on, 0, Fill<Real>{0, x});
  for_each_element(on, 0, FillHashed<Real>{0, 0, x});
  for_each_element(on, 0, Copy<Real>{x, x});
  for_each_element(on, 0, CopyStrided<Real>{x, 1, x, 1});
  for_each_element(on, 0, SideBySide<Real>{x, 1, 1, x});
  for_each_element(on, 0, Axpy<Real>{0, x, x});
  for_each_element(on, 0, Axpby<Real>{0, x, 0, x});
  for_each_element(on, 0, Xpby<Real>{x, 0, x});
  for_each_element(on, 0, Multiply<Real>{x, x, x});
  for_each_element(on, 0, MultiplyAdd<Real>{x, x, x});
  for_each_element(on, 0, Gather<Real>{nullptr, x, x});
  for_each_element(on, 0, Gather<Index>{nullptr, nullptr, nullptr});
  for_each_element(on, 0, AddTo<Real>{nullptr, x, x});
  for_each_element(on, 0, Convert<Real, double>{nullptr, x, nullptr});
  for_each_element(on, 0, Convert<Real, float>{nullptr, x, nullptr});
  for_each_element(on, 0, MoveAndTurn<Real>{0, x, x, 0, x});
  for_each_element(on, 0, AxpyTwice<Real>{0, x, 0, x, x});
  for_each_element(on, 0, AxpyXpby<Real>{0, x, x, 0, x});
  run_pass(on, 0, Dots<Real, 1>{}, x);
  run_pass(on, 0, Dots<Real, 2>{}, x);
  run_pass(on, 0, Dots<Real, 3>{}, x);
  run_pass(on, 0, ScaledSquares<Real>{0, x}, x);
  run_pass(on, 0, AxpySums<Real>{0, x, x, x}, x);
  run_pass(on, 0, AxpyMultiplySums<Real>{0, x, x, x, x}, x);
  run_pass(on, 0, AxpysMultiplySums<Real>{0, x, x, x, x, x, x}, x);
  unit_sums(on, 0, Dots<Real, 1>{}, 1, x);
  unit_sums(on, 0, Dots<Real, 2>{}, 1, x);
  unit_sums(on, 0, Dots<Real, 3>{}, 1, x);
  unit_sums(on, 0, ScaledSquares<Real>{0, x}, 1, x);
  unit_sums(on, 0, AxpySums<Real>{0, x, x, x}, 1, x);
  unit_sums(on, 0, AxpyMultiplySums<Real>{0, x, x, x, x}, 1, x);
  unit_sums(on, 0, AxpysMultiplySums<Real>{0, x, x, x, x, x, x}, 1, x);
  leave_sums(on, 0, Dots<Real, 1>{}, x);
  leave_sums(on, 0, LanczosResidual<Real>{{x}, 0, x, x}, x);
  for_each_element(on, 0, LanczosDirection<Real>{{x}, 0, x, x});
  leave_max_abs(on, x, 0, x);
  leave_sums(on, 0, StepDown<Real>{{0, x, x, x, x}, 0, x}, x);
  for_each_element(on, 0, StepOn<Real>{0, {}, nullptr, nullptr, x, x, x});
  project(on, Columns<Real>{}, x, x);
  add_combination(on, Columns<Real>{}, Real(0), x, Real(0), x);
  max_abs(on, x, 0);
  find_scale(on, Columns<Real>{}, nullptr);
  run_passes(on, 0, static_cast<Dots<Real, 1>*>(nullptr), 0, x);
  run_passes(on, 0, static_cast<Dots<Real, 2>*>(nullptr), 0, x);
  run_passes(on, 0, static_cast<AxpyMultiplySums<Real>*>(nullptr), 0, x);
}

}  // namespace seidel::blas1
