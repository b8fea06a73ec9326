// What the element-wise vector operations do to element i, written once for all back ends.
#pragma once
#include <cmath>

#include <seidel/formats/runtime/types.hpp>

namespace seidel::blas1 {

template <class Real>
struct Fill {
  Real value;
  Real* x;
  SEIDEL_HD void operator()(std::int64_t i) const { x[i] = value; }
};

template <class Real>
struct Copy {
  const Real* x;
  Real* y;
  SEIDEL_HD void operator()(std::int64_t i) const { y[i] = x[i]; }
};

template <class Real>
struct Axpy {
  Real a;
  const Real* x;
  Real* y;
  SEIDEL_HD void operator()(std::int64_t i) const { y[i] = std::fma(a, x[i], y[i]); }
};

template <class Real>
struct Axpby {
  Real a;
  const Real* x;
  Real b;
  Real* y;
  SEIDEL_HD void operator()(std::int64_t i) const { y[i] = std::fma(a, x[i], b * y[i]); }
};

template <class Real>
struct Xpby {
  const Real* x;
  Real b;
  Real* y;
  SEIDEL_HD void operator()(std::int64_t i) const { y[i] = std::fma(b, y[i], x[i]); }
};

template <class Real>
struct Multiply {
  const Real *d, *x;
  Real* y;
  SEIDEL_HD void operator()(std::int64_t i) const { y[i] = d[i] * x[i]; }
};

/// One column of a multivector, or a vector, to another.
template <class Real>
struct CopyStrided {
  const Real* x;
  std::int64_t x_stride;
  Real* y;
  std::int64_t y_stride;
  SEIDEL_HD void operator()(std::int64_t i) const { y[i * y_stride] = x[i * x_stride]; }
};

/// c is exact, a power of two: what rounds is the conversion alone.
template <class From, class To>
struct Convert {
  double c;
  const From* x;
  To* y;
  SEIDEL_HD void operator()(std::int64_t i) const { y[i] = To(c * double(x[i])); }
};

template <class Real>
struct Gather {
  const Index* from;
  const Real* x;
  Real* y;
  SEIDEL_HD void operator()(std::int64_t i) const { y[i] = x[from[i]]; }
};

/// Term k of x'y, and of (c x)'(c y) where plain squares would leave the range of Real.
template <class Real>
struct DotTerm {
  const Real *x, *y;
  SEIDEL_HD Real operator()(std::int64_t k, Real s) const { return std::fma(x[k], y[k], s); }
};
template <class Real>
struct ScaledDotTerm {
  Real c;
  const Real *x, *y;
  SEIDEL_HD Real operator()(std::int64_t k, Real s) const { return std::fma(c * x[k], c * y[k], s); }
};

}  // namespace seidel::blas1
