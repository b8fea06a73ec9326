// Lanczos steps, taken as cg takes them, whose numbers stay in the memory of the back end: so that a GPU need not be waited for
// within a step. Their order of operations is that of cg with dot() and norm2().
#pragma once
#include <cmath>
#include <cstdint>

#include <seidel/formats/runtime/distributed.hpp>

namespace seidel::blas1 {

/// As run_pass(), but the sums are left in the memory of the back end. Does not wait.
template <class Real, class Pass>
[[gnu::used]] void leave_sums(const OpenMP& on, std::int64_t n, const Pass& pass, Real* sums);
template <class Real, class Pass>
[[gnu::used]] void leave_sums(const Cuda& on, std::int64_t n, const Pass& pass, Real* sums);
/// On the host, of all processes.
template <class Real, Backend B, class Pass>
void leave_sums(const Distributed<B>& on, std::int64_t n, const Pass& pass, Real* sums);

/// As max_abs(), but the result is left in the memory of the back end, or in memory of the host that a GPU can write. Does not
/// wait.
template <class Real>
[[gnu::used]] void leave_max_abs(const OpenMP& on, const Real* x, std::int64_t n, Real* result);
template <class Real>
[[gnu::used]] void leave_max_abs(const Cuda& on, const Real* x, std::int64_t n, Real* result);

/// What the steps have found: r'r of the start; then p'Ap and r'r of each step.
template <class Real>
struct LanczosNumbers {
  Real* found;

  static constexpr std::int64_t count(int steps) { return 2 * steps + 1; }

  SEIDEL_HD Real* p_Ap(int step) const { return found + 2 * step + 1; }
  SEIDEL_HD Real* r_r(int step) const { return found + 2 * step + 2; }
  /// r'r before a step: later ones are squares of norms.
  SEIDEL_HD Real rz(int step) const {
    if (step == 0) return found[0];
    const Real norm = std::sqrt(*r_r(step - 1));
    return norm * norm;
  }
};

/// r -= (r'r / p'Ap) Ap; the sum r'r.
template <class Real>
struct LanczosResidual {
  static constexpr int nsums = 1;
  LanczosNumbers<Real> numbers;
  int step;
  const Real* Ap;
  Real* r;
  Real a = 0;
  SEIDEL_HD bool begin() {
    a = -(numbers.rz(step) / *numbers.p_Ap(step));
    return true;
  }
  struct Element {
    Real Ap, r;
  };
  SEIDEL_HD Element load(std::int64_t i) const { return {Ap[i], r[i]}; }
  SEIDEL_HD void update(Element& e) const { e.r = std::fma(a, e.Ap, e.r); }
  SEIDEL_HD void store(std::int64_t i, const Element& e) const { r[i] = e.r; }
  template <int>
  SEIDEL_HD Real term(const Element& e, Real s) const {
    return std::fma(e.r, e.r, s);
  }
};

/// p = r + (r'r / r'r before) p. A GPU finds the quotient anew for each element, while it waits for memory: no launch of its own.
template <class Real>
struct LanczosDirection {
  LanczosNumbers<Real> numbers;
  int step;
  const Real* r;
  Real* p;
  SEIDEL_HD void operator()(std::int64_t i) const {
    p[i] = std::fma(numbers.rz(step + 1) / numbers.rz(step), p[i], r[i]);
  }
};

}  // namespace seidel::blas1
