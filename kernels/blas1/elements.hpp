// What the element-wise vector operations do to element i, written once for all back ends.
#pragma once
#include <cmath>
#include <limits>

#include <seidel/formats/generators/hash.hpp>

namespace seidel::blas1 {

template <class Real>
struct Fill {
  Real value;
  Real* x;
  SEIDEL_HD void operator()(std::int64_t i) const { x[i] = value; }
};

/// Numbers in place of random ones: a function of i and a seed, the same on every back end.
template <class Real>
struct FillHashed {
  std::uint64_t seed;
  std::int64_t first;  // number of x[0] among the elements of all processes
  Real* x;
  SEIDEL_HD void operator()(std::int64_t i) const {
    const std::uint64_t z = generators::mixed((seed << 40) + std::uint64_t(first + i + 1) * 0x9e3779b97f4a7c15u);
    x[i] = Real(2 * std::int32_t(z >> 40) + 1 - 0x1000000) * Real(0x1p-24);  // an odd number of 24 bits
  }
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
struct MultiplyAdd {
  const Real *d, *x;
  Real* y;
  SEIDEL_HD void operator()(std::int64_t i) const { y[i] = std::fma(d[i], x[i], y[i]); }
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

/// Columns that lie apart, side by side: row i.
template <class Real>
struct SideBySide {
  const Real* x;
  std::int64_t stride, ncols;
  Real* y;
  SEIDEL_HD void operator()(std::int64_t i) const {
    for (std::int64_t j = 0; j < ncols; ++j) y[i * ncols + j] = x[j * stride + i];
  }
};

/// *c is exact, a power of two: what rounds is the conversion alone.
template <class From, class To>
struct Convert {
  const double* c;
  const From* x;
  To* y;
  SEIDEL_HD void operator()(std::int64_t i) const { y[i] = To(*c * double(x[i])); }
};

/// scale[0] = 2^-e, scale[1] = 2^e, of the largest magnitude of some numbers; e = 0 where there is none to scale by.
template <class Real>
SEIDEL_HD void find_scale(Real largest, double* scale) {
  constexpr Real most = std::numeric_limits<Real>::max();
  constexpr int least_exponent = std::numeric_limits<Real>::min_exponent;  // 2^e has a reciprocal
  int e = 0;
  if (largest > 0 && largest <= most) e = std::ilogb(largest) > least_exponent ? std::ilogb(largest) : least_exponent;
  scale[0] = std::ldexp(1.0, -e);
  scale[1] = std::ldexp(1.0, e);
}

template <class Real>
struct Gather {
  const Index* from;
  const Real* x;
  Real* y;
  SEIDEL_HD void operator()(std::int64_t i) const { y[i] = x[from[i]]; }
};

template <class Real>
struct AddTo {
  const Index* to;
  const Real* x;
  Real* y;
  SEIDEL_HD void operator()(std::int64_t i) const { y[to[i]] += x[i]; }
};

// Updates that a solver needs together, in one pass. What they read comes before what they write, so that the loads of a
// thread are under way together.

/// x += a p, then p = z + b p.
template <class Real>
struct MoveAndTurn {
  Real a;
  Real* x;
  const Real* z;
  Real b;
  Real* p;
  SEIDEL_HD void operator()(std::int64_t i) const {
    const Real old_p = p[i], old_x = x[i], new_p = std::fma(b, old_p, z[i]);
    x[i] = std::fma(a, old_p, old_x);
    p[i] = new_p;
  }
};

/// y += a x, then y += b z.
template <class Real>
struct AxpyTwice {
  Real a;
  const Real* x;
  Real b;
  const Real* z;
  Real* y;
  SEIDEL_HD void operator()(std::int64_t i) const { y[i] = std::fma(b, z[i], std::fma(a, x[i], y[i])); }
};

/// p += c v, then p = r + b p.
template <class Real>
struct AxpyXpby {
  Real c;
  const Real* v;
  const Real* r;
  Real b;
  Real* p;
  SEIDEL_HD void operator()(std::int64_t i) const { p[i] = std::fma(b, std::fma(c, v[i], p[i]), r[i]); }
};

// A pass that ends in sums: an Element is what it reads of element i; update() changes it, store() writes it, and
// term<j>() adds what the updated element gives to sum j. term<j>() must not depend on values that store() left out.

/// m sums of products x_j'y_j.
template <class Real, int m>
struct Dots {
  static constexpr int nsums = m;
  const Real *x[m], *y[m];
  struct Element {
    Real x[m], y[m];
  };
  SEIDEL_HD Element load(std::int64_t i) const {
    Element e;
    for (int j = 0; j < m; ++j) e.x[j] = x[j][i], e.y[j] = y[j][i];
    return e;
  }
  SEIDEL_HD void update(Element&) const {}
  SEIDEL_HD void store(std::int64_t, const Element&) const {}
  template <int j>
  SEIDEL_HD Real term(const Element& e, Real s) const {
    return std::fma(e.x[j], e.y[j], s);
  }
};

/// (c x)'(c x), where plain squares would leave the range of Real.
template <class Real>
struct ScaledSquares {
  static constexpr int nsums = 1;
  Real c;
  const Real* x;
  using Element = Real;
  SEIDEL_HD Real load(std::int64_t i) const { return c * x[i]; }
  SEIDEL_HD void update(Real&) const {}
  SEIDEL_HD void store(std::int64_t, Real) const {}
  template <int>
  SEIDEL_HD Real term(Real e, Real s) const {
    return std::fma(e, e, s);
  }
};

/// y += a x; the sums y'y and u'y.
template <class Real>
struct AxpySums {
  static constexpr int nsums = 2;
  Real a;
  const Real* x;
  Real* y;
  const Real* u;
  struct Element {
    Real x, y, u;
  };
  SEIDEL_HD Element load(std::int64_t i) const { return {x[i], y[i], u[i]}; }
  SEIDEL_HD void update(Element& e) const { e.y = std::fma(a, e.x, e.y); }
  SEIDEL_HD void store(std::int64_t i, const Element& e) const { y[i] = e.y; }
  template <int j>
  SEIDEL_HD Real term(const Element& e, Real s) const {
    return std::fma(j == 0 ? e.y : e.u, e.y, s);
  }
};

/// y += a x, z = d y; the sums y'y and y'z.
template <class Real>
struct AxpyMultiplySums {
  static constexpr int nsums = 2;
  Real a;
  const Real* x;
  Real* y;
  const Real* d;
  Real* z;
  struct Element {
    Real x, y, d, z;
  };
  SEIDEL_HD Element load(std::int64_t i) const { return {x[i], y[i], d[i], z[i]}; }  // z: for term() alone
  SEIDEL_HD void update(Element& e) const {
    e.y = std::fma(a, e.x, e.y);
    e.z = e.d * e.y;
  }
  SEIDEL_HD void store(std::int64_t i, const Element& e) const { y[i] = e.y, z[i] = e.z; }
  template <int j>
  SEIDEL_HD Real term(const Element& e, Real s) const {
    return std::fma(e.y, j == 0 ? e.y : e.z, s);
  }
};

/// r += a q, y += a w, z = d y; the sums r'r and y'z.
template <class Real>
struct AxpysMultiplySums {
  static constexpr int nsums = 2;
  Real a;
  const Real* q;
  Real* r;
  const Real* w;
  Real* y;
  const Real* d;
  Real* z;
  struct Element {
    Real q, r, w, y, d, z;
  };
  SEIDEL_HD Element load(std::int64_t i) const { return {q[i], r[i], w[i], y[i], d[i], z[i]}; }  // z: for term() alone
  SEIDEL_HD void update(Element& e) const {
    e.r = std::fma(a, e.q, e.r);
    e.y = std::fma(a, e.w, e.y);
    e.z = e.d * e.y;
  }
  SEIDEL_HD void store(std::int64_t i, const Element& e) const { r[i] = e.r, y[i] = e.y, z[i] = e.z; }
  template <int j>
  SEIDEL_HD Real term(const Element& e, Real s) const {
    return j == 0 ? std::fma(e.r, e.r, s) : std::fma(e.y, e.z, s);
  }
};

}  // namespace seidel::blas1
