// Zero-fill incomplete factors as preconditioner, applied by the sweeps of Gauss-Seidel.
#pragma once
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/kernels/symgs/symgs.hpp>
#include <seidel/solvers/preconditioners/diagonal.hpp>
#include <seidel/solvers/preconditioners/make.hpp>

namespace seidel {

/// Which factors: (I + L)(D + U), or (I + L) D (I + L)' from the lower triangle of a symmetric matrix, pivots positive.
enum class Factors { lu, cholesky };

/// Factors of A + shift * diag(A) on the pattern of A: w = LD + D + U, where (I + L)(D + U) has the entries of that
/// matrix wherever A has one; U = (LD)' for Cholesky's. False if a pivot cannot be used. The same bits on every back end.
/// Cost    on the host one core, which calls on_step() every 64 rows: what that throws ends it; on Cuda a warp per row, which waits for the rows before it that it needs: `order` has all rows,
///         each behind those (SweepAnalysis::order()).
/// Errors  InputError for Cholesky's if the pattern is not symmetric; on Cuda require_symmetric_pattern() looks for that.
template <class Offset>
bool incomplete_factors(
    const OpenMP& on, Factors what, const CsrView<double, Offset, Host>& A, double shift, HostSpan<double> w,
    const std::function<void()>& on_step = [] {});
template <class Offset>
bool incomplete_factors(const Cuda& on, Factors what, const CsrView<double, Offset, Device>& A,
                        Span<const Index, Device> order, double shift, DeviceSpan<double> w);
template <class Offset>
void require_symmetric_pattern(const Cuda& on, const CsrView<double, Offset, Device>& A);

/// Whether one may divide by this pivot of a row whose diagonal entry is a: more than rounding is left of a.
SEIDEL_HD inline bool usable_pivot(double pivot, double a) {
  return std::isfinite(pivot) && std::abs(pivot) > std::numeric_limits<double>::epsilon() * std::abs(a) &&
         std::isfinite(1 / pivot);
}

/// The first alpha of 0, 1e-3, 1e-2, ... for which factorise(alpha) says that all pivots can be used.
/// Errors  InputError if none is.
double usable_shift(const auto& factorise) {
  double shift = 0;
  while (!factorise(shift)) {
    if (!(shift < 1e12))
      throw InputError("incomplete factorisation: no shift of the diagonal makes every pivot usable");
    shift = shift == 0 ? 1e-3 : 10 * shift;
  }
  return shift;
}

/// How the sweeps of factors are described: "94 wavefronts per sweep", and the shift if there is one.
inline std::string describe_factors(std::int64_t wavefronts, double shift) {
  std::string description = plural(wavefronts, "wavefront") + " per sweep";
  if (shift == 0) return description;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", shift);
  return description + ", of A + " + text + " diag(A), because a pivot of A cannot be used";
}

/// M = (I + L)(D + U) = (D + LD) D^-1 (D + U): a pair of sweeps from zero with the matrix LD + D + U. Where a pivot
/// cannot be used, the factors are those of A + alpha diag(A), alpha = 1e-3, 1e-2, ... until all can (Manteuffel 1980).
///
/// Cost    the factors are found where A is; applied as SymgsPreconditioner. Memory: the sweeps and, while they are found,
///         the values of the factors.
/// Errors  ShapeError; ZeroDiagonal, or InputError for an entry that cannot be used, naming the row.
/// Source  Saad (2003), section 10.3; Manteuffel, An incomplete factorization technique for positive definite linear
///         systems, Math. Comp. 34(150), 1980.
template <class Offset, Backend B>
class IncompletePreconditioner {
 public:
  using Space = SpaceOf<B>;

  /// The pattern of A must outlive this. on_step() is called now and then: what it throws ends the setup.
  IncompletePreconditioner(
      B on, const CsrView<double, Offset, Space>& A, Factors what, const std::function<void()>& on_step = [] {})
      : on_(on),
        A_(checked(on, A, what)),
        what_(what),
        analysis_(on_, A_),
        sweeps_(analysis_, factors(A_, on_step).span()) {}

  void apply(const Vector<double, B>& r, Vector<double, B>& z) const {
    sweeps_.symmetric_from_zero(r.span(), z.span());
  }
  bool is_symmetric() const { return true; }

  /// For new values of A, in the same pattern and in the memory of B: new factors, no new analysis. Where it throws, the
  /// old ones stay. Errors  as the constructor; ShapeError for another number of rows or entries.
  void update_values(const CsrView<double, Offset, Space>& A) {
    require_rows(A.nrows, A_.nrows);
    spmv_detail::require_size(A.nnz(), A_.nnz(), "update_values", "A");
    inverse_diagonal(on_, A);  // names the row that cannot be used
    sweeps_.update_values(factors(A, [] {}).span());
  }

  double shift() const { return shift_; }  ///< alpha; 0 where A itself was factorised
  std::int64_t wavefronts() const { return sweeps_.wavefronts(); }
  std::int64_t bytes() const { return sweeps_.bytes(); }
  std::string describe() const {
    return std::string(what_ == Factors::lu ? "ilu0, " : "ic0, ") + describe_factors(wavefronts(), shift_);
  }

 private:
  static const CsrView<double, Offset, Space>& checked(const B& on, const CsrView<double, Offset, Space>& A,
                                                       Factors what) {
    inverse_diagonal(on, A);  // names the row that cannot be used
    if constexpr (!HostBackend<B>)
      if (what == Factors::cholesky) require_symmetric_pattern(on, A);
    return A;
  }
  const Array<double, Space> factors(const CsrView<double, Offset, Space>& A, const std::function<void()>& on_step) {
    Array<double, Space> w(on_, A.nnz());
    shift_ = usable_shift([&](double shift) {
      on_step();
      if constexpr (HostBackend<B>)
        return incomplete_factors(on_, what_, A, shift, w, on_step);
      else
        return incomplete_factors(on_, what_, A, analysis_.order(), shift, w);
    });
    return w;
  }

  B on_;
  CsrView<double, Offset, Space> A_;
  Factors what_;
  double shift_ = 0;
  SweepAnalysis<double, Offset, B> analysis_;  // of the pattern; its sweeps are those of sweeps_
  GaussSeidel<double, Offset, B> sweeps_;
};

}  // namespace seidel
