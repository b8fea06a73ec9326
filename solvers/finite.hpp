// What is refused before the first iteration: operands that do not fit each other, NaN and infinity.
#pragma once
#include <cmath>
#include <string>
#include <utility>

#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/concepts.hpp>

namespace seidel {

/// The first entry that is NaN or infinite, counted from 0; -1 if none is.
/// Cost    reads v once; if there is one, once more in all to find it, by halves. Synchronises on Cuda.
template <Backend B, class Real>
std::int64_t first_nonfinite(const B& on, Span<const Real, SpaceOf<B>> v) {
  const auto is_finite = [&](std::int64_t first, std::int64_t n) {
    return std::isfinite(max_abs<B, Real>(on, v.subspan(first, n)));
  };
  if (is_finite(0, v.size())) return -1;
  std::int64_t first = 0;
  for (std::int64_t n = v.size(); n > 1;) {
    const std::int64_t half = n / 2;
    if (is_finite(first, half))
      first += half, n -= half;
    else
      n = half;
  }
  return first;
}
template <class Real>
std::int64_t first_nonfinite(Span<const Real, Host> v) {
  return first_nonfinite(OpenMP{1}, v);
}
template <class Real, class B>
std::int64_t first_nonfinite(const Vector<Real, B>& v) {
  return first_nonfinite(v.on(), v.span());
}

/// What a matrix may be.
enum class Shape { square, any };

[[noreturn]] void refuse_shapes(Shape needed, std::int64_t nrows, std::int64_t ncols, std::int64_t b, std::int64_t x);
[[noreturn]] void refuse_overlap();
[[noreturn]] void refuse_nonfinite(const char* vector, std::int64_t entry);

/// ||v||, once v is known to be finite. A vector type of another kind names the place by a first_nonfinite() of its
/// own.
double finite_norm(const auto& v, const char* name) {
  const double norm = norm2(v);
  if (std::isfinite(norm)) return norm;
  if constexpr (requires { first_nonfinite(v); }) refuse_nonfinite(name, first_nonfinite(v));
  refuse_nonfinite(name, -1);
}

/// ||b|| of a system that can be solved. b = 0 sets x = 0, the answer.
template <Shape shape = Shape::square, class V, LinearOperator<V> Matrix>
double checked_norm(const Matrix& A, const V& b, V& x) {
  if ((shape == Shape::square && A.nrows() != A.ncols()) || b.size() != A.nrows() || x.size() != A.ncols())
    refuse_shapes(shape, A.nrows(), A.ncols(), b.size(), x.size());
  if constexpr (requires { b.span().data(); }) {  // views may share memory
    const auto *const of_b = b.span().data(), *const of_x = std::as_const(x).span().data();
    if (of_b < of_x + x.size() && of_x < of_b + b.size()) refuse_overlap();
  }
  const double norm_b = finite_norm(b, "b");
  finite_norm(x, "the first guess x");
  if (norm_b == 0) fill(x, 0);
  return norm_b;
}

}  // namespace seidel
