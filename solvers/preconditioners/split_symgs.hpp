// Symmetric Gauss-Seidel as preconditioner, opened up for cg in Eisenstat's form.
#pragma once
#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/kernels/symgs/symgs.hpp>
#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/preconditioners/diagonal.hpp>

namespace seidel {

/// M = (D + L) D^-1 (D + U) for A = L + D + U, in natural order: z = M^-1 r as SymgsPreconditioner, and its halves.
///
/// Errors  ShapeError; ZeroDiagonal, or InputError for an entry that no sweep can use, naming the row.
template <class Real, class Offset, Backend B>
class SplitSymgsPreconditioner {
 public:
  using V = Vector<Real, B>;
  using Space = SpaceOf<B>;

  /// The pattern of A must outlive this.
  SplitSymgsPreconditioner(B on, const CsrView<Real, Offset, Space>& A)
      : sweeps_(on, A), diagonal_(on, diagonal(on, A)) {}

  void apply(const V& r, V& z) const { sweeps_.symmetric_from_zero(r.span(), z.span()); }
  bool is_symmetric() const { return true; }

  /// For new values of A, in the same pattern and in the memory of B. Repeats no analysis.
  /// Errors  as the constructor; what is applied is then as before.
  void update_values(const CsrView<Real, Offset, Space>& A) {
    sweeps_.update_values(A.values);
    diagonal_ = V(diagonal_.on(), diagonal(diagonal_.on(), A));
  }

  /// y = (D + L)^-1 r. Cost  reads A once.
  void solve_lower(const V& r, V& y) const {
    fill(y, 0);
    sweeps_.forward(r.span(), y.span());
  }
  const V& diagonal_of_A() const { return diagonal_; }
  /// p = (D + U)^-1 u, Ap = A p, w = (D + L)^-1 A p. Cost  reads A once.
  void split_product(const V& u, V& p, V& Ap, V& w) const {
    sweeps_.split_product(u.span(), p.span(), Ap.span(), w.span());
  }

  std::int64_t wavefronts() const { return sweeps_.wavefronts(); }
  std::int64_t bytes() const { return sweeps_.bytes(); }  ///< of the sweeps; beside them the diagonal
  std::string describe() const { return "symgs in natural order, " + plural(wavefronts(), "wavefront") + " per sweep"; }

 private:
  GaussSeidel<Real, Offset, B> sweeps_;
  V diagonal_;
};

}  // namespace seidel
