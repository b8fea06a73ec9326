// What a solver asks of a matrix and of a preconditioner. No base class: any type with these members fits.
//
// Of a vector type V it asks for V::Real, size(), and what kernels/vector.hpp and, for gmres and idr,
// kernels/vector_block.hpp have for Vector. A distributed V answers sums() and its kin for all
// ranks, with one all-reduce per call; no solver is changed for it.
#pragma once
#include <concepts>
#include <cstdint>

#include <seidel/formats/runtime/types.hpp>

namespace seidel {

/// y = A x. Members residual(x, b, r), r = b - A x in one pass, and apply_dot(x, y, sum) are used where there are such.
template <class A, class V>
concept LinearOperator = requires(const A& a, const V& x, V& y) {
  { a.nrows() } -> std::convertible_to<std::int64_t>;
  { a.ncols() } -> std::convertible_to<std::int64_t>;
  a.apply(x, y);
};

/// y = A x and, by apply_transposed(x, y), y = A'x.
template <class A, class V>
concept TransposableOperator =
    LinearOperator<A, V> && requires(const A& a, const V& x, V& y) { a.apply_transposed(x, y); };

/// z = M^-1 r: what is applied is the approximate inverse, not M. is_symmetric() says whether M = M' for symmetric A. A
/// member diagonal(), a pointer to the vector D with z_i = D_i r_i, or nullptr, saves solvers a pass where there is one. A
/// member is_linear() that says no makes cg and gmres flexible: what apply() does may then depend on r, and change from one
/// call to the next, as an inner iteration does. apply() may use workspace of m, although m is const: threads that solve at the
/// same time need one m each.
template <class M, class V>
concept Preconditioner = requires(const M& m, const V& r, V& z) {
  m.apply(r, z);
  { m.is_symmetric() } -> std::convertible_to<bool>;
};

/// M = (D + L) D^-1 (D + U) for A = L + D + U, opened up for eisenstat.hpp: y = (D + L)^-1 r; D; and
/// p = (D + U)^-1 u with Ap = A p and w = (D + L)^-1 A p.
template <class M, class V>
concept SplitPreconditioner = Preconditioner<M, V> && requires(const M& m, const V& in, V& p, V& Ap, V& w) {
  m.solve_lower(in, w);
  { m.diagonal_of_A() } -> std::same_as<const V&>;
  m.split_product(in, p, Ap, w);
};

/// The D of a diagonal preconditioner, else nullptr.
template <class V, Preconditioner<V> M>
const V* diagonal_of(const M& m) {
  if constexpr (requires { m.diagonal(); })
    return m.diagonal();
  else
    return nullptr;
}

/// Whether m applies one and the same matrix in all calls; true unless m says otherwise.
bool is_linear(const auto& m) {
  if constexpr (requires { m.is_linear(); })
    return m.is_linear();
  else
    return true;
}

/// y = A x and *sum = x'y, left in memory of the back end (leave_dot() in kernels/vector.hpp). A member apply_dot(x, y, sum) that
/// reads x and y once for both is used where there is one.
template <class V, LinearOperator<V> Matrix>
void apply_dot(const Matrix& A, const V& x, V& y, typename V::Real* sum) {
  if constexpr (requires { A.apply_dot(x, y, sum); }) {
    A.apply_dot(x, y, sum);
  } else {
    A.apply(x, y);
    leave_dot(x, y, sum);
  }
}
/// The same; returns x'y. Waits for it, as dot().
template <class V, LinearOperator<V> Matrix>
typename V::Real apply_dot(const Matrix& A, const V& x, V& y) {
  if constexpr (requires(typename V::Real* sum) { A.apply_dot(x, y, sum); }) {
    return brought(x, [&](typename V::Real* sum) { A.apply_dot(x, y, sum); });
  } else {
    A.apply(x, y);
    return dot(x, y);
  }
}

/// r = b - A x. r must be neither x nor b.
template <class V, LinearOperator<V> Matrix>
void residual(const Matrix& A, const V& x, const V& b, V& r) {
  if constexpr (requires { A.residual(x, b, r); }) {
    A.residual(x, b, r);
  } else {
    A.apply(x, r);
    axpby(1, b, -1, r);
  }
}

/// y_j = A x_j, or M^-1 x_j, for the vectors first ... first + count - 1 of two blocks (kernels/vector_block.hpp). A member
/// apply_columns(x, y, first, count) that reads A once for all of them is used where there is one; each vector has the bits that
/// it has alone.
template <class Applied, class Block>
void apply_columns(const Applied& A, const Block& x, Block& y, std::size_t first, std::size_t count) {
  if constexpr (requires { A.apply_columns(x, y, first, count); })
    A.apply_columns(x, y, first, count);
  else
    for (std::size_t j = first; j < first + count; ++j) A.apply(x[j], y[j]);
}

}  // namespace seidel
