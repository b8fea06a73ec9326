// A step of cg whose numbers stay in the memory of the back end, so that a GPU goes on while the host waits for them.
#pragma once
#include <cstdint>
#include <limits>

#include <seidel/formats/runtime/backend.hpp>
#include <seidel/kernels/blas1/elements.hpp>

namespace seidel::blas1 {

/// Marks how far the work has come that the stream was given; and waits until it has come there.
void mark(const Cuda& on);
void wait_for_mark(const Cuda& on);

template <class Real>
SEIDEL_HD bool is_positive_and_finite(Real value) {
  return value > 0 && value <= std::numeric_limits<Real>::max();
}

/// A pass (elements.hpp) with a member begin() takes its numbers from memory there; if that returns false, nothing is done, and the
/// sums mean nothing.
SEIDEL_HD bool begins(auto& pass) {
  if constexpr (requires { pass.begin(); })
    return pass.begin();
  else
    return true;
}

/// What a step has found.
template <class Real>
struct StepNumbers {
  Real p_Ap, r_r, r_z;
};

/// For which numbers the next step may begin before the host has seen them.
template <class Real>
struct StepLimits {
  Real least_r_r, most_r_r;
  SEIDEL_HD bool allow(const StepNumbers<Real>& found) const {
    return is_positive_and_finite(found.p_Ap) && is_positive_and_finite(found.r_z) && found.r_r >= least_r_r &&
           found.r_r <= most_r_r;
  }
};

/// r -= (rz / p'Ap) Ap, z = d r; the sums r'r and r'z. Nothing happens, and the sums mean nothing, unless p'Ap is positive and
/// finite.
template <class Real>
struct StepDown : AxpyMultiplySums<Real> {
  Real rz;
  const Real* p_Ap;
  SEIDEL_HD bool begin() {
    this->a = -(rz / *p_Ap);
    return is_positive_and_finite(*p_Ap);
  }
};

/// x += (rz / p'Ap) p, then p = z + (r'z / rz) p, if the limits allow it; tells the host what was found.
template <class Real>
struct StepOn {
  Real rz;
  StepLimits<Real> limits;
  const StepNumbers<Real>* found;
  StepNumbers<Real>* for_host;
  Real* x;
  const Real* z;
  Real* p;
  SEIDEL_HD void operator()(std::int64_t i) const {
    const StepNumbers<Real> numbers = *found;
    if (i == 0) *for_host = numbers;
    if (limits.allow(numbers)) MoveAndTurn<Real>{rz / numbers.p_Ap, x, z, numbers.r_z / rz, p}(i);
  }
};

}  // namespace seidel::blas1
