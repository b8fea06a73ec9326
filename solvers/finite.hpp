// What is refused before the first iteration: operands that do not fit each other, NaN and infinity.
#pragma once
#include <cmath>
#include <string>

#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/concepts.hpp>

namespace seidel {

/// The first entry that is NaN or infinite, counted from 0; -1 if none is. Copies device vectors to the host.
template <class T, class Space>
std::int64_t first_nonfinite(Span<const T, Space> v) {
  if constexpr (!std::is_same_v<Space, Host>) {
    const auto here = copied_to<Host>(v);
    return first_nonfinite(here.span());
  } else {
    for (std::int64_t i = 0; i < v.size(); ++i)
      if (!std::isfinite(v[i])) return i;
    return -1;
  }
}
template <class Real, class B>
std::int64_t first_nonfinite(const Vector<Real, B>& v) {
  if constexpr (requires { v.on().synchronize(); }) v.on().synchronize();
  return first_nonfinite(v.span());
}

[[noreturn]] void refuse_shapes(std::int64_t nrows, std::int64_t ncols, std::int64_t b, std::int64_t x);
[[noreturn]] void refuse_nonfinite(const char* vector, std::int64_t entry);

/// ||v||, once v is known to be finite. A vector type of another kind names the place by a first_nonfinite() of its
/// own.
template <class V>
double finite_norm(const V& v, const char* name) {
  const double norm = norm2(v);
  if (std::isfinite(norm)) return norm;
  if constexpr (requires { first_nonfinite(v); }) refuse_nonfinite(name, first_nonfinite(v));
  refuse_nonfinite(name, -1);
}

/// ||b|| of a system that can be solved. b = 0 sets x = 0, the answer.
template <class V, LinearOperator<V> Matrix>
double checked_norm(const Matrix& A, const V& b, V& x) {
  if (A.nrows() != A.ncols() || b.size() != A.nrows() || x.size() != A.ncols())
    refuse_shapes(A.nrows(), A.ncols(), b.size(), x.size());
  const double norm_b = finite_norm(b, "b");
  finite_norm(x, "the first guess x");
  if (norm_b == 0) fill(x, 0);
  return norm_b;
}

}  // namespace seidel
