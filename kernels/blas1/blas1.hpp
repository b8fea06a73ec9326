// Vector operations: the front door. Each repeats bit for bit on every back end and any number of threads (kernels/sum.hpp).
// Operands are the same vector, where that is said, or do not overlap. None allocates: sums on a GPU use the scratch memory that
// reserve_sums() took. Only what returns a number waits for a GPU. Errors  ShapeError where sizes differ.
#pragma once
#include <algorithm>
#include <limits>

#include <seidel/formats/runtime/distributed.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/blas1/elements.hpp>

namespace seidel {

namespace blas1 {

// `used`: emitted where they are defined and named (the foot of host.cpp and of cuda.cu), for callers in other files.

/// Calls op(i) for i = 0 ... n-1, in any order. Instantiated for the operations of elements.hpp.
[[gnu::used]] void for_each_element(const OpenMP& on, std::int64_t n, const auto& op);
[[gnu::used]] void for_each_element(const Cuda& on, std::int64_t n, const auto& op);

/// One pass of elements.hpp over elements 0 ... n-1. sums[j] is its sum j, in the one order.
/// Cuda: two launches, one synchronisation.
template <class Real, class Pass>
[[gnu::used]] void run_pass(const OpenMP& on, std::int64_t n, const Pass& pass, Real* sums);
template <class Real, class Pass>
[[gnu::used]] void run_pass(const Cuda& on, std::int64_t n, const Pass& pass, Real* sums);

// The same of vectors whose elements processes share: n is the number of those here, sums are of all. Defined in
// kernels/distributed/blas1.hpp, as are those below.
template <Backend B>
void for_each_element(const Distributed<B>& on, std::int64_t n, const auto& op);
template <class Real, Backend B, class Pass>
void run_pass(const Distributed<B>& on, std::int64_t n, const Pass& pass, Real* sums);
template <class Real, Backend B>
Real max_abs(const Distributed<B>& on, const Real* x, std::int64_t n);

/// The same for units of `unit` elements, a power of two of blocks (kernels/sum.hpp): sums[u * Pass::nsums + j] is sum j of unit
/// u, a subtree of the one order of a larger vector. Cuda: one launch, one synchronisation.
template <class Real, class Pass>
[[gnu::used]] void unit_sums(const OpenMP& on, std::int64_t n, const Pass& pass, std::int64_t unit, Real* sums);
template <class Real, class Pass>
[[gnu::used]] void unit_sums(const Cuda& on, std::int64_t n, const Pass& pass, std::int64_t unit, Real* sums);

/// Passes of one type over as many sets of vectors of n elements: those of pass p are sums[p * nsums] and the following.
/// Cuda: two launches and one synchronisation for each `passes_at_once` of them.
inline constexpr int passes_at_once = 16;
template <HostBackend B, class Real, class Pass>
void run_passes(const B& on, std::int64_t n, const Pass* passes, int count, Real* sums) {
  for (int p = 0; p < count; ++p) run_pass(on, n, passes[p], sums + p * Pass::nsums);
}
template <class Real, class Pass>
[[gnu::used]] void run_passes(const Cuda& on, std::int64_t n, const Pass* passes, int count, Real* sums);

/// k vectors of n entries, each `stride` entries behind the one before.
template <class Real>
struct Columns {
  const Real* first;
  std::int64_t stride, n, k;
};

/// sums[i] = v_i'w for the k columns of v, sums[k] = w'w; each in the one order.
/// Cuda: two launches, one synchronisation.
template <class Real>
[[gnu::used]] void project(const OpenMP& on, const Columns<Real>& v, const Real* w, Real* sums);
template <class Real>
[[gnu::used]] void project(const Cuda& on, const Columns<Real>& v, const Real* w, Real* sums);

/// w = scale (w + sign (c_0 v_0 + c_1 v_1 + ...)), sign 1 or -1; each product added by a fused multiply-add, in this order.
/// Cuda: one launch for each 64 columns.
template <class Real>
[[gnu::used]] void add_combination(const OpenMP& on, const Columns<Real>& v, Real sign, const Real* c, Real scale,
                                   Real* w);
template <class Real>
[[gnu::used]] void add_combination(const Cuda& on, const Columns<Real>& v, Real sign, const Real* c, Real scale,
                                   Real* w);

template <Backend B, class Real, class Pass>
void run_passes(const Distributed<B>& on, std::int64_t n, const Pass* passes, int count, Real* sums);
template <class Real, Backend B>
void project(const Distributed<B>& on, const Columns<Real>& v, const Real* w, Real* sums);
template <class Real, Backend B>
void add_combination(const Distributed<B>& on, const Columns<Real>& v, Real sign, const Real* c, Real scale, Real* w);

/// On the device: terms whose sum is one partial sum, parts of a search for the largest, the most sums of one pass.
inline constexpr std::int64_t terms_per_partial = 16384, shares_of_max_abs = 1024, max_sums = 3;
/// Of all passes over n elements, or of a projection on so many columns, which takes two pieces of it.
inline std::int64_t sum_scratch_bytes(std::int64_t n, std::int64_t sums = max_sums) {
  return 512 + std::int64_t(sizeof(double)) *
                   std::max(1 + shares_of_max_abs, sums * (1 + (n + terms_per_partial - 1) / terms_per_partial));
}

/// Takes so much scratch memory once now, so that sums allocate nothing later. Called where vectors are made.
void reserve_sums(const HostBackend auto&, std::int64_t, std::int64_t = max_sums) {}
inline void reserve_sums(const Cuda& on, std::int64_t n, std::int64_t sums = max_sums) {
  Scratch(on).take<std::byte>(sum_scratch_bytes(n, sums));
}
template <Backend B>
void reserve_sums(const Distributed<B>&, std::int64_t, std::int64_t = max_sums) {}

/// max |x_i|; NaN if any is NaN; 0 for no elements.
template <class Real>
[[gnu::used]] Real max_abs(const OpenMP& on, const Real* x, std::int64_t n);
template <class Real>
[[gnu::used]] Real max_abs(const Cuda& on, const Real* x, std::int64_t n);

/// scale[2 j] = 2^-e and scale[2 j + 1] = 2^e for each column j of v, where e is the exponent of its largest magnitude, 0 if
/// that is 0 or not finite. Returns nothing to the host: scale lies in the memory of the back end.
template <class Real>
[[gnu::used]] void find_scale(const OpenMP& on, const Columns<Real>& v, double* scale);
template <class Real>
[[gnu::used]] void find_scale(const Cuda& on, const Columns<Real>& v, double* scale);
/// The same for one vector.
template <Backend B, class Real>
void find_scale(const B& on, const Real* x, std::int64_t n, double* scale) {
  find_scale(on, Columns<Real>{x, n, n, 1}, scale);
}

/// Whether norm2() is the root of this sum of squares: neither large nor small ones were lost.
template <class Real>
bool is_safe_square(Real squares) {
  using Limits = std::numeric_limits<Real>;
  return squares >= Limits::min() / Limits::epsilon() && squares <= Limits::max();
}
/// sqrt(x'x), given x'x as it was summed, without overflow or underflow of the squares.
/// Cost  nothing, in the rare case of extreme entries two passes over x.
template <Backend B, class Real>
Real norm2_from(const B& on, const Real* x, std::int64_t n, Real squares) {
  if (is_safe_square(squares)) return std::sqrt(squares);
  const Real largest = max_abs(on, x, n);
  if (!(largest > 0 && largest <= std::numeric_limits<Real>::max())) return largest;  // 0, infinity or NaN
  // A power of two, so that scaling rounds nothing. Held within the range of Real, whose smallest numbers have no reciprocal.
  const Real c = std::ldexp(Real(1), -std::max(std::ilogb(largest), std::numeric_limits<Real>::min_exponent));
  run_pass(on, n, ScaledSquares<Real>{c, x}, &squares);
  return std::sqrt(squares) / c;
}

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

/// y_i = x_i. Cost  reads x, writes y.
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

/// y_i = fma(d_i, x_i, y_i). y may be x or d. Cost  reads d, x and y, writes y.
template <Backend B, class Real>
void multiply_add(const B& on, Span<const Real, SpaceOf<B>> d, Span<const Real, SpaceOf<B>> x,
                  Span<Real, SpaceOf<B>> y) {
  blas1::require_equal_sizes(d.size(), x.size(), "multiply_add");
  blas1::require_equal_sizes(x.size(), y.size(), "multiply_add");
  blas1::for_each_element(on, x.size(), blas1::MultiplyAdd<Real>{d.data(), x.data(), y.data()});
}

/// y_i = x_(from_i). y must not overlap x; entries of `from` are places in x. Cost  reads from and x, writes y.
template <Backend B, class Real>
void gather(const B& on, Span<const Index, SpaceOf<B>> from, Span<const Real, SpaceOf<B>> x, Span<Real, SpaceOf<B>> y) {
  blas1::require_equal_sizes(from.size(), y.size(), "gather");
  blas1::for_each_element(on, y.size(), blas1::Gather<Real>{from.data(), x.data(), y.data()});
}

/// y_(to_i) += x_i. No two entries of `to` are the same place in y. Cost  reads to, x and these entries of y, writes them.
template <Backend B, class Real>
void add_to(const B& on, Span<const Index, SpaceOf<B>> to, Span<const Real, SpaceOf<B>> x, Span<Real, SpaceOf<B>> y) {
  blas1::require_equal_sizes(to.size(), x.size(), "add_to");
  blas1::for_each_element(on, x.size(), blas1::AddTo<Real>{to.data(), x.data(), y.data()});
}

/// y_i = *c x_i, rounded to the type of y; *c is a power of two, in the memory of the back end. Cost  reads x, writes y.
template <Backend B, class From, class To>
void convert(const B& on, const double* c, Span<const From, SpaceOf<B>> x, Span<To, SpaceOf<B>> y) {
  blas1::require_equal_sizes(x.size(), y.size(), "convert");
  blas1::for_each_element(on, y.size(), blas1::Convert<From, To>{c, x.data(), y.data()});
}

/// x'y. Cost  reads x and y; synchronises on Cuda.
template <Backend B, class Real>
Real dot(const B& on, Span<const Real, SpaceOf<B>> x, Span<const Real, SpaceOf<B>> y) {
  blas1::require_equal_sizes(x.size(), y.size(), "dot");
  Real sum;
  blas1::run_pass(on, x.size(), blas1::Dots<Real, 1>{{x.data()}, {y.data()}}, &sum);
  return sum;
}

/// max |x_i|; NaN if any is NaN. Cost  reads x; synchronises on Cuda.
template <Backend B, class Real>
Real max_abs(const B& on, Span<const Real, SpaceOf<B>> x) {
  return blas1::max_abs<Real>(on, x.data(), x.size());
}

/// sqrt(x'x), without overflow or underflow of the squares. Cost  reads x, in the rare case of extreme entries three
/// times; synchronises on Cuda.
template <Backend B, class Real>
Real norm2(const B& on, Span<const Real, SpaceOf<B>> x) {
  return blas1::norm2_from(on, x.data(), x.size(), dot<B, Real>(on, x, x));
}

}  // namespace seidel
