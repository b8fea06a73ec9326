// Symmetric Gauss-Seidel as preconditioner: one forward and one backward sweep from zero.
#pragma once
#include <optional>

#include <seidel/formats/permute.hpp>
#include <seidel/kernels/symgs/colours.hpp>
#include <seidel/kernels/symgs/symgs.hpp>
#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/preconditioners/diagonal.hpp>

namespace seidel {

/// M = (D / w + L) ((2 - w) / w D)^-1 (D / w + U), w = omega, for A = L + D + U; symmetric if A is, positive definite
/// if A is.
///
/// Cost    an application is a pair of sweeps from zero (reads A once); for colours, two gathers more. Allocates
/// nothing.
///         Copies of the matrix: for colours a permuted one, made where the sweeps run; on a GPU one more, unless the
///         view given is already there (for colours only until the constructor returns).
/// Errors  ShapeError; ZeroDiagonal, naming the row; UsageError for omega outside 0 < omega < 2.
template <class Real, class Offset, Backend B>
class SymgsPreconditioner {
 public:
  using Space = SpaceOf<B>;

  /// For A in host memory. Its arrays must outlive this where B is a host back end and the order is natural.
  SymgsPreconditioner(B on, const CsrView<Real, Offset, Host>& A, Order order, Real omega = 1)
      : SymgsPreconditioner(on, plan(on, A, order), omega) {}
  /// By colours, for the same A in host memory and in the memory of B. Keeps neither.
  SymgsPreconditioner(B on, const CsrView<Real, Offset, Host>& here, const CsrView<Real, Offset, Space>& there,
                      Real omega = 1)
      : SymgsPreconditioner(on, plan_by_colours(on, here, there), omega) {}
  /// In natural order, for A in the memory of B; its arrays must outlive this.
  SymgsPreconditioner(B on, const CsrView<Real, Offset, Space>& A, Real omega = 1)
      : SymgsPreconditioner(on, Plan{{}, A, {}, {}}, omega) {}

  void apply(const Vector<Real, B>& r, Vector<Real, B>& z) const {
    if (!permuted_r_) return sweeps_.symmetric_from_zero(r.span(), z.span(), omega_);
    gather<B, Real>(on_, plan_.new_to_old, r.span(), permuted_r_->span());
    sweeps_.symmetric_from_zero(std::as_const(*permuted_r_).span(), permuted_z_->span(), omega_);
    gather<B, Real>(on_, plan_.old_to_new, std::as_const(*permuted_z_).span(), z.span());
  }
  bool is_symmetric() const { return true; }

  /// Steps of a sweep that must follow each other; setup time; memory held beside A.
  std::int64_t wavefronts() const { return sweeps_.wavefronts(); }
  double analysis_seconds() const { return sweeps_.analysis_seconds(); }

 private:
  struct Plan {
    Csr<Real, Offset, Space> owned;  // empty where the caller's arrays are used
    CsrView<Real, Offset, Space> A;
    Array<Index, Space> new_to_old, old_to_new;  // empty in natural order
  };

  static Plan plan(const B& on, const CsrView<Real, Offset, Host>& A, Order order) {
    if constexpr (HostBackend<B>) {
      return order == Order::natural ? Plan{{}, A, {}, {}} : plan_by_colours(on, A, A);
    } else {
      auto there = copied_to<Space>(A);
      if (order == Order::colours) return plan_by_colours(on, A, there.view());
      const auto view = there.view();
      return {std::move(there), view, {}, {}};
    }
  }
  static Plan plan_by_colours(const B& on, const CsrView<Real, Offset, Host>& here,
                              const CsrView<Real, Offset, Space>& there) {
    inverse_diagonal(on, here);  // so that a zero is named by its row in A, not in the permuted matrix
    Plan p;
    p.new_to_old = copied_to<Space>(colour_order(greedy_colours(host_of(on), here)));
    p.old_to_new = inverse_permutation(on, std::as_const(p.new_to_old).span(), here.nrows);
    p.owned = permuted(on, there, std::as_const(p.new_to_old).span());
    p.A = p.owned.view();
    return p;
  }

  SymgsPreconditioner(B on, Plan p, Real omega)
      : on_(on), omega_(checked(omega)), plan_(std::move(p)), sweeps_(on_, plan_.A) {
    if (!plan_.new_to_old.empty()) permuted_r_.emplace(on_, plan_.A.nrows), permuted_z_.emplace(on_, plan_.A.nrows);
  }
  static Real checked(Real omega) {
    if (omega > 0 && omega < 2) return omega;
    throw UsageError("omega is " + std::to_string(omega) + ", expected more than 0 and less than 2");
  }

  B on_;
  Real omega_;
  Plan plan_;  // moving it moves no array, so views of it stay
  GaussSeidel<Real, Offset, B> sweeps_;
  mutable std::optional<Vector<Real, B>> permuted_r_, permuted_z_;
};

}  // namespace seidel
