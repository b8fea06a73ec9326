// Incomplete factors that keep what is large, wherever it comes to be, as preconditioner.
#pragma once
#include <functional>
#include <optional>

#include <seidel/solvers/preconditioners/incomplete.hpp>

namespace seidel {

struct ThresholdOptions {
  Index fill = 10;                        // entries that a row of L, and of U, may have more than the row of A there
  double drop = 1e-3;                     // entries below drop * ||row of A||, in the 2-norm, are left out
  std::function<void()> on_step = [] {};  // called now and then; what it throws ends the factorisation
};

/// LD + D + U of A + shift * diag(A), columns ascending; nothing at the first pivot that cannot be used. Of a row, entries
/// that are too small are dropped before they are used, and in the end all but the largest (of equal ones the first).
/// Cost    time as the factors have products l u, on one core, also of fill that is dropped, unless all fill of a row is sure to
///         be: where a dense row comes first and its fill is not too small to be kept, the square of its length. Two copies of the
///         factors.
/// Source  Saad, ILUT: a dual threshold incomplete LU factorization, Numer. Linear Algebra Appl. 1(4), 1994. Entries of L are
///         compared as those of LD, so that scaling a row of A changes nothing.
template <class Offset>
std::optional<Csr<double, Offset, Host>> threshold_factors(const CsrView<double, Offset, Host>& A, Factors what,
                                                           const ThresholdOptions& options, double shift);

/// M = (D + LD) D^-1 (D + U), as IncompletePreconditioner, of threshold_factors(); shifted as that.
///
/// Cost    the factors are found on the host, so that their bits are the same on every back end; applied as
///         SymgsPreconditioner. Memory: the factors, and the sweeps.
/// Errors  ShapeError; ZeroDiagonal, or InputError for an entry that cannot be used, naming the row.
template <class Offset, Backend B>
class ThresholdPreconditioner {
 public:
  using Space = SpaceOf<B>;

  ThresholdPreconditioner(B on, const HereAndThere<B, Offset>& A, Factors what, const ThresholdOptions& options)
      : on_(std::move(on)),
        what_(what),
        options_(options),
        factors_(moved_to<Space>(on_, found(A.here))),
        sweeps_(on_, factors_.view()) {}

  void apply(const Vector<double, B>& r, Vector<double, B>& z) const {
    sweeps_.symmetric_from_zero(r.span(), z.span());
  }
  bool is_symmetric() const { return what_ == Factors::cholesky; }

  /// For new values of A, in the memory of B: new factors, whose pattern follows from the values. Where it throws, the old
  /// ones stay. Errors  as the constructor; ShapeError for another number of rows.
  void update_values(const CsrView<double, Offset, Space>& A) {
    require_rows(A.nrows, factors_.nrows);
    Csr<double, Offset, Host> copy;
    *this = ThresholdPreconditioner(on_, {brought_to(on_, A, copy), A}, what_, options_);
  }

  double shift() const { return shift_; }  ///< alpha; 0 where A itself was factorised
  std::int64_t wavefronts() const { return sweeps_.wavefronts(); }
  /// Of the sweeps and of the factors.
  std::int64_t bytes() const {
    return sweeps_.bytes() + std::int64_t(sizeof(Index) + sizeof(double)) * factors_.nnz() +
           std::int64_t(sizeof(Offset)) * factors_.row_ptr.size();
  }
  std::string describe() const {
    return (what_ == Factors::lu ? "ilut, " : "ict, ") + plural(factors_.nnz(), "entry", "entries") + ", " +
           describe_factors(wavefronts(), shift_);
  }

 private:
  Csr<double, Offset, Host> found(const CsrView<double, Offset, Host>& A) {
    inverse_diagonal(OpenMP{1}, A);  // names the row that cannot be used
    std::optional<Csr<double, Offset, Host>> factors;
    shift_ = usable_shift([&](double shift) {
      factors = threshold_factors(A, what_, options_, shift);
      return factors.has_value();
    });
    return std::move(*factors);
  }

  B on_;
  Factors what_;
  ThresholdOptions options_;
  double shift_ = 0;
  Csr<double, Offset, Space> factors_;
  GaussSeidel<double, Offset, B> sweeps_;
};

}  // namespace seidel
