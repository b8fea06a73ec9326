// Vector operations: the front door. Each repeats bit for bit on every back end and any number of threads (kernels/sum.hpp).
#pragma once
#include <algorithm>
#include <limits>

#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/blas1/elements.hpp>

namespace seidel {

namespace blas1 {

// `used`: emitted where they are defined and named (the foot of host.cpp and of cuda.cu), for callers in other files.

/// Calls op(i) for i = 0 ... n-1, in any order. Instantiated for the operations of elements.hpp.
template <class Op>
[[gnu::used]] void for_each_element(const Serial& on, std::int64_t n, const Op& op);
template <class Op>
[[gnu::used]] void for_each_element(const OpenMP& on, std::int64_t n, const Op& op);
template <class Op>
[[gnu::used]] void for_each_element(const Cuda& on, std::int64_t n, const Op& op);

/// Sum of terms 0 ... n-1 in the one order. Cuda: two launches, one synchronisation, workspace.
template <class Real, class Term>
[[gnu::used]] Real sum(const Serial& on, std::int64_t n, const Term& term);
template <class Real, class Term>
[[gnu::used]] Real sum(const OpenMP& on, std::int64_t n, const Term& term);
template <class Real, class Term>
[[gnu::used]] Real sum(const Cuda& on, std::int64_t n, const Term& term);

/// On the device: terms whose sum is one partial sum, parts of a search for the largest, and the bytes both need beforehand.
inline constexpr std::int64_t terms_per_partial = 16384, shares_of_max_abs = 1024;
inline std::int64_t sum_workspace_bytes(std::int64_t n) {
  return std::int64_t(sizeof(double)) *
         (1 + std::max(shares_of_max_abs, (n + terms_per_partial - 1) / terms_per_partial));
}

/// Asks for the workspace of sums over n terms now, so that they allocate nothing later. Called where vectors are made.
inline void reserve_sum(const Serial&, std::int64_t) {}
inline void reserve_sum(const OpenMP&, std::int64_t) {}
inline void reserve_sum(const Cuda& on, std::int64_t n) { on.workspace(sum_workspace_bytes(n)); }

/// max |x_i|; NaN if any is NaN; 0 for no elements.
template <class Real>
[[gnu::used]] Real max_abs(const Serial& on, const Real* x, std::int64_t n);
template <class Real>
[[gnu::used]] Real max_abs(const OpenMP& on, const Real* x, std::int64_t n);
template <class Real>
[[gnu::used]] Real max_abs(const Cuda& on, const Real* x, std::int64_t n);

inline void require_equal_sizes(std::int64_t x, std::int64_t y, const char* operation) {
  if (x != y)
    throw ShapeError(std::string(operation) + ": the vectors have " + std::to_string(x) + " and " + std::to_string(y) +
                     " entries; equal sizes are needed");
}

}  // namespace blas1

template <class B>
using SpaceOf = typename B::Space;

/// x_i = value. Cost  writes x.
template <Backend B, class Real>
void fill(const B& on, Span<Real, SpaceOf<B>> x, std::type_identity_t<Real> value) {
  blas1::for_each_element(on, x.size(), blas1::Fill<Real>{value, x.data()});
}

/// y = x. Cost  reads x, writes y.
template <Backend B, class Real>
void copy(const B& on, Span<const Real, SpaceOf<B>> x, Span<Real, SpaceOf<B>> y) {
  blas1::require_equal_sizes(x.size(), y.size(), "copy");
  blas1::for_each_element(on, x.size(), blas1::Copy<Real>{x.data(), y.data()});
}

/// y_i = fma(a, x_i, y_i). x may be y. Cost  reads x and y, writes y.
template <Backend B, class Real>
void axpy(const B& on, std::type_identity_t<Real> a, Span<const Real, SpaceOf<B>> x, Span<Real, SpaceOf<B>> y) {
  blas1::require_equal_sizes(x.size(), y.size(), "axpy");
  blas1::for_each_element(on, x.size(), blas1::Axpy<Real>{a, x.data(), y.data()});
}

/// y_i = fma(a, x_i, b y_i). x may be y. Cost  reads x and y, writes y.
template <Backend B, class Real>
void axpby(const B& on, std::type_identity_t<Real> a, Span<const Real, SpaceOf<B>> x, std::type_identity_t<Real> b,
           Span<Real, SpaceOf<B>> y) {
  blas1::require_equal_sizes(x.size(), y.size(), "axpby");
  blas1::for_each_element(on, x.size(), blas1::Axpby<Real>{a, x.data(), b, y.data()});
}

/// y_i = fma(b, y_i, x_i). x may be y. Cost  reads x and y, writes y.
template <Backend B, class Real>
void xpby(const B& on, Span<const Real, SpaceOf<B>> x, std::type_identity_t<Real> b, Span<Real, SpaceOf<B>> y) {
  blas1::require_equal_sizes(x.size(), y.size(), "xpby");
  blas1::for_each_element(on, x.size(), blas1::Xpby<Real>{x.data(), b, y.data()});
}

/// y_i = d_i x_i. y may be x or d. Cost  reads d and x, writes y.
template <Backend B, class Real>
void multiply(const B& on, Span<const Real, SpaceOf<B>> d, Span<const Real, SpaceOf<B>> x, Span<Real, SpaceOf<B>> y) {
  blas1::require_equal_sizes(d.size(), x.size(), "multiply");
  blas1::require_equal_sizes(x.size(), y.size(), "multiply");
  blas1::for_each_element(on, x.size(), blas1::Multiply<Real>{d.data(), x.data(), y.data()});
}

/// y_i = x_(from_i). y must not overlap x; entries of `from` are places in x. Cost  reads from and x, writes y.
template <Backend B, class Real>
void gather(const B& on, Span<const Index, SpaceOf<B>> from, Span<const Real, SpaceOf<B>> x, Span<Real, SpaceOf<B>> y) {
  blas1::require_equal_sizes(from.size(), y.size(), "gather");
  blas1::for_each_element(on, y.size(), blas1::Gather<Real>{from.data(), x.data(), y.data()});
}

/// y_i = c x_i, rounded to the type of y; c is a power of two. Cost  reads x, writes y.
template <Backend B, class From, class To>
void convert(const B& on, double c, Span<const From, SpaceOf<B>> x, Span<To, SpaceOf<B>> y) {
  blas1::require_equal_sizes(x.size(), y.size(), "convert");
  blas1::for_each_element(on, y.size(), blas1::Convert<From, To>{c, x.data(), y.data()});
}

/// x'y. Cost  reads x and y; synchronises on Cuda.
template <Backend B, class Real>
Real dot(const B& on, Span<const Real, SpaceOf<B>> x, Span<const Real, SpaceOf<B>> y) {
  blas1::require_equal_sizes(x.size(), y.size(), "dot");
  return blas1::sum<Real>(on, x.size(), blas1::DotTerm<Real>{x.data(), y.data()});
}

/// max |x_i|; NaN if any is NaN. Cost  reads x; synchronises on Cuda.
template <Backend B, class Real>
Real max_abs(const B& on, Span<const Real, SpaceOf<B>> x) {
  return blas1::max_abs<Real>(on, x.data(), x.size());
}

/// sqrt(x'x), without overflow or underflow of the squares. Cost  reads x, in the rare case of extreme entries three times.
template <Backend B, class Real>
Real norm2(const B& on, Span<const Real, SpaceOf<B>> x) {
  const Real squares = dot<B, Real>(on, x, x);
  constexpr Real smallest = std::numeric_limits<Real>::min() / std::numeric_limits<Real>::epsilon();
  if (squares >= smallest && squares <= std::numeric_limits<Real>::max()) return std::sqrt(squares);
  const Real largest = max_abs<B, Real>(on, x);
  if (!(largest > 0 && largest <= std::numeric_limits<Real>::max())) return largest;  // 0, infinity or NaN
  // A power of two, so that scaling rounds nothing. Held within the range of Real, whose smallest numbers have no reciprocal.
  const Real c = std::ldexp(Real(1), -std::max(std::ilogb(largest), std::numeric_limits<Real>::min_exponent));
  return std::sqrt(blas1::sum<Real>(on, x.size(), blas1::ScaledDotTerm<Real>{c, x.data(), x.data()})) / c;
}

}  // namespace seidel
