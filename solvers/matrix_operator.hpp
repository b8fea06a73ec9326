// A stored matrix on a back end, as solvers want it.
#pragma once
#include <utility>

#include <seidel/formats/runtime/search.hpp>
#include <seidel/kernels/products/product.hpp>
#include <seidel/kernels/vector_block.hpp>
#include <seidel/solvers/finite.hpp>

namespace seidel {

namespace matrix_operator_detail {

[[noreturn]] void refuse_nonfinite_values();
[[noreturn]] void refuse_nonfinite_value(std::int64_t row, std::int64_t col, double value);

/// Throws InputError naming the place of the first stored value that is NaN or infinite. There is one.
template <Backend B, class Real, class Offset>
void refuse_nonfinite_values(const B& on, const CsrView<Real, Offset, SpaceOf<B>>& A) {
  const auto element = [&](const auto& array, std::int64_t i) { return copied_to<Host>(on, array.subspan(i, 1))[0]; };
  const std::int64_t k = first_nonfinite(on, A.values);
  const std::int64_t row = partition_point(Index(0), A.nrows, [&](Index i) { return element(A.row_ptr, i + 1) <= k; });
  refuse_nonfinite_value(row, element(A.col_idx, k), double(element(A.values, k)));
}

}  // namespace matrix_operator_detail

/// y = A x for A in CSR, ELL, SELL or BSR, owned (Csr, Ell, ...) or viewed (CsrView, ...: the arrays must outlive this), in
/// the memory of back end B; or for a Product, whose rows have been looked at.
///
/// Cost    taking A reads its values once, and waits for a GPU. Products: kernels/spmv, kernels/products.
/// Errors  InputError for NaN or infinity in A (with the place, where A is a CSR matrix); ShapeError.
template <class Matrix, Backend B>
class MatrixOperator {
 public:
  using Real = typename decltype(view_of(std::declval<const Matrix&>()))::Real;
  static constexpr bool is_prepared =
      requires(const Matrix& A, Span<const Real, SpaceOf<B>> x, Span<Real, SpaceOf<B>> y) { A.apply(x, y); };

  MatrixOperator(B on, Matrix A) : on_(std::move(on)), matrix_(std::move(A)) { require_finite(); }

  /// New values in the same pattern, which must outlive this too.
  /// Errors  as the constructor; the old values stay then.
  void update_values(Span<const Real, SpaceOf<B>> values)
    requires requires(Matrix& A) { A.update_values(values); }
  {
    const auto old = view().values;
    matrix_.update_values(values);
    try {
      require_finite();
    } catch (...) {
      matrix_.update_values(old);
      throw;
    }
  }

  std::int64_t nrows() const { return view().nrows; }
  std::int64_t ncols() const { return view().ncols; }
  /// Vectors of zeros that fit: x and y of y = A x.
  Vector<Real, B> domain() const { return {on_, ncols()}; }
  Vector<Real, B> range() const { return {on_, nrows()}; }
  auto view() const { return view_of(matrix_); }
  const B& on() const { return on_; }

  /// y = A x.
  void apply(const Vector<Real, B>& x, Vector<Real, B>& y) const {
    if constexpr (is_prepared)
      matrix_.apply(x.span(), y.span());
    else
      spmv<B>(on_, view(), x.span(), y.span());
  }
  /// y = A x and *sum = x'y, of a Product.
  void apply_dot(const Vector<Real, B>& x, Vector<Real, B>& y, Real* sum) const
    requires is_prepared
  {
    matrix_.apply_dot(x.span(), y.span(), sum);
  }
  /// y_j = A x_j for several vectors of two blocks (concepts.hpp), of a Product.
  void apply_columns(const VectorBlock<Real, B>& x, VectorBlock<Real, B>& y, std::size_t first, std::size_t count) const
    requires requires(const Matrix& A) { A.apply(x.columns(0, 1), y.columns(0, 1)); }
  {
    matrix_.apply(x.columns(first, count), y.columns(first, count));
  }
  /// r = b - A x.
  void residual(const Vector<Real, B>& x, const Vector<Real, B>& b, Vector<Real, B>& r) const {
    if constexpr (is_prepared)
      matrix_.residual(x.span(), b.span(), r.span());
    else
      seidel::residual<B>(on_, view(), x.span(), b.span(), r.span());
  }

 private:
  void require_finite() const {
    const auto view = this->view();
    if (std::isfinite(max_abs<B, Real>(on_, view.values))) return;
    if constexpr (requires { matrix_operator_detail::refuse_nonfinite_values(on_, view); })
      matrix_operator_detail::refuse_nonfinite_values(on_, view);
    matrix_operator_detail::refuse_nonfinite_values();
  }

  B on_;
  Matrix matrix_;
};

/// y = A x and y = A'x, by an operator for A and one for A', whose products are then as fast as those of A. Each entry of
/// A is held twice.
/// Errors  ShapeError unless the second has the shape of A'.
template <class Operator, class Transposed>
class TransposableMatrix {
 public:
  using Real = typename Operator::Real;

  TransposableMatrix(Operator A, Transposed At) : A_(std::move(A)), At_(std::move(At)) {
    if (At_.nrows() != A_.ncols() || At_.ncols() != A_.nrows())
      throw ShapeError("TransposableMatrix: found " + std::to_string(At_.nrows()) + " x " +
                       std::to_string(At_.ncols()) + " as the transpose of a matrix of " + std::to_string(A_.nrows()) +
                       " x " + std::to_string(A_.ncols()));
  }

  std::int64_t nrows() const { return A_.nrows(); }
  std::int64_t ncols() const { return A_.ncols(); }
  auto domain() const { return A_.domain(); }
  auto range() const { return A_.range(); }

  void apply(const auto& x, auto& y) const { A_.apply(x, y); }
  void residual(const auto& x, const auto& b, auto& r) const { A_.residual(x, b, r); }
  void apply_transposed(const auto& x, auto& y) const { At_.apply(x, y); }

 private:
  Operator A_;
  Transposed At_;
};

}  // namespace seidel
