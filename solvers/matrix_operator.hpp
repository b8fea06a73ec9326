// A stored matrix on a back end, as solvers want it.
#pragma once
#include <utility>

#include <seidel/kernels/spmv/spmv.hpp>
#include <seidel/kernels/vector.hpp>
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
  std::int64_t row = 0;  // the last one that begins at k or before
  for (std::int64_t end = A.nrows; row + 1 < end;) {
    const std::int64_t middle = row + (end - row) / 2;
    (element(A.row_ptr, middle) <= k ? row : end) = middle;
  }
  refuse_nonfinite_value(row, element(A.col_idx, k), double(element(A.values, k)));
}

}  // namespace matrix_operator_detail

/// y = A x for A in CSR, ELL or SELL, owned (Csr, Ell, Sell) or viewed (CsrView, ...: the arrays must outlive this), in
/// the memory of back end B.
///
/// Cost    taking A reads its values once. Products: kernels/spmv.
/// Errors  InputError for NaN or infinity in A (with the place, where A is a CSR matrix); ShapeError.
template <class Matrix, Backend B>
class MatrixOperator {
 public:
  using Real = typename decltype(view_of(std::declval<const Matrix&>()))::Real;

  MatrixOperator(B on, Matrix A) : on_(std::move(on)), matrix_(std::move(A)) {
    const auto view = this->view();
    if (std::isfinite(max_abs<B, Real>(on_, view.values))) return;
    if constexpr (requires { matrix_operator_detail::refuse_nonfinite_values(on_, view); })
      matrix_operator_detail::refuse_nonfinite_values(on_, view);
    matrix_operator_detail::refuse_nonfinite_values();
  }

  std::int64_t nrows() const { return matrix_.nrows; }
  std::int64_t ncols() const { return matrix_.ncols; }
  auto view() const { return view_of(matrix_); }
  const B& on() const { return on_; }

  /// y = A x.
  void apply(const Vector<Real, B>& x, Vector<Real, B>& y) const { spmv<B>(on_, view(), x.span(), y.span()); }
  /// r = b - A x.
  void residual(const Vector<Real, B>& x, const Vector<Real, B>& b, Vector<Real, B>& r) const {
    seidel::residual<B>(on_, view(), x.span(), b.span(), r.span());
  }

 private:
  B on_;
  Matrix matrix_;
};

}  // namespace seidel
