// Symmetric Gauss-Seidel as preconditioner: forward and backward sweeps from zero.
#pragma once
#include <concepts>
#include <functional>
#include <limits>
#include <optional>

#include <seidel/formats/permute.hpp>
#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/kernels/orders/orders.hpp>
#include <seidel/kernels/symgs/symgs.hpp>
#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/preconditioners/diagonal.hpp>

namespace seidel {

/// One pair of sweeps: M = (D / w + L) ((2 - w) / w D)^-1 (D / w + U), w = omega, for A = L + D + U; symmetric if A is,
/// positive definite if A is. `sweeps` pairs: the same of the stationary iteration with M.
///
/// Stored = float under a Real of double keeps the triangles and sweeps in single precision, A and each r scaled by a
/// power of two to about 1: half the bytes of values, and an M that is off by its rounding. The residual of the
/// iteration is not.
///
/// Cost    the first pair reads A once, further ones up to twice; colours gather twice more; single precision
///         searches r for its largest entry and converts twice. Allocates nothing.
///         Copies of the matrix: for colours a permuted one, made where the sweeps run; its values for
///         float.
/// Errors  ShapeError; ZeroDiagonal, or InputError for an entry that no sweep can use, naming the row; UsageError for
///         omega outside 0 < omega < 2 or fewer sweeps than 1.
/// Source  Saad (2003), section 10.2.
template <class Real, class Offset, Backend B, class Stored = Real>
class SymgsPreconditioner {
 public:
  using Space = SpaceOf<B>;

  /// For A in the memory of B, whose pattern must outlive this where the order is natural. on_step() is called now and then:
  /// what it throws ends the setup.
  SymgsPreconditioner(
      B on, const CsrView<Real, Offset, Space>& A, Order order = Order::natural, Real omega = 1, int sweeps = 1,
      const std::function<void()>& on_step = [] {})
      : SymgsPreconditioner(on, order == Order::natural ? viewing(on, A) : by_colours(on, A, on_step), omega, sweeps) {}

  /// What its sweeps will hold on the host: bytes(), known before. Every diagonal entry is stored.
  /// Cost  three to five sweeps; for colours a permuted matrix, which is given back.
  static std::int64_t bytes_needed(B on, const CsrView<Real, Offset, Host>& A, Order order) requires HostBackend<B> {
    return SweepAnalysis<Stored, Offset, B>(on, (order == Order::natural ? viewing(on, A) : by_colours(on, A, [] {})).A)
        .bytes();
  }

  void apply(const Vector<Real, B>& r, Vector<Real, B>& z) const {
    if constexpr (std::same_as<Stored, Real>) {
      sweep_from_zero(r.span(), z.span());
    } else {
      double* const scale = scale_.data();  // 2^-e and 2^e of r
      blas1::find_scale(on_, r.span().data(), r.size(), scale);
      convert<B, Real, Stored>(on_, scale, r.span(), converted_r_->span());
      sweep_from_zero(std::as_const(*converted_r_).span(), converted_z_->span());
      // Of an A scaled by 2^-k the inverse is 2^k times that of A. In two steps, since e - k may leave the range.
      convert<B, Stored, Real>(on_, plan_.scale.data(), std::as_const(*converted_z_).span(), z.span());
      convert<B, Real, Real>(on_, scale + 1, std::as_const(z).span(), z.span());
    }
  }
  bool is_symmetric() const { return true; }

  /// As smoother: the sweeps on A x = b from the guess x.
  void smooth(const Vector<Real, B>& b, Vector<Real, B>& x) const requires std::same_as<Stored, Real> {
    if (!permuted_r_) return pairs(b.span(), x.span());
    gather<B, Real>(on_, plan_.new_to_old, b.span(), permuted_r_->span());
    gather<B, Real>(on_, plan_.new_to_old, std::as_const(x).span(), permuted_z_->span());
    pairs(std::as_const(*permuted_r_).span(), permuted_z_->span());
    gather<B, Real>(on_, plan_.old_to_new, std::as_const(*permuted_z_).span(), x.span());
  }
  void smooth_from_zero(const Vector<Real, B>& b, Vector<Real, B>& x) const { apply(b, x); }

  /// For new values of A, in the same pattern and in the memory of B. Repeats no analysis.
  /// Errors  ShapeError for another number of rows or entries: what is applied is then as before. As the constructor: then too, or it is
  /// undefined in single precision.
  void update_values(const CsrView<Real, Offset, Space>& A) {
    require_rows(A.nrows, plan_.A.nrows);
    Csr<Real, Offset, Space> by_colour;
    Span<const Real, Space> values = A.values;
    if (!plan_.new_to_old.empty()) {
      by_colour = permuted(on_, A, std::as_const(plan_.new_to_old).span());
      values = std::as_const(by_colour).values.span();
    }
    if constexpr (std::same_as<Stored, Real>) {
      sweeps_.update_values(values);
    } else {
      spmv_detail::require_size(values.size(), plan_.values.size(), "update_values", "the array of values");
      convert_values(on_, plan_, values);
      sweeps_.update_values(std::as_const(plan_).values.span());
    }
  }

  /// Steps of a sweep that must follow each other; setup time.
  std::int64_t wavefronts() const { return sweeps_.wavefronts(); }
  std::int64_t bytes() const { return sweeps_.bytes(); }  ///< of the sweeps; beside them the copies named above
  std::string describe() const {
    const Order order = plan_.new_to_old.empty() ? Order::natural : Order::colours;
    std::string text =
        "symgs in " + std::string(to_string(order)) + " order, " + plural(wavefronts(), "wavefront") + " per sweep";
    if (count_ != 1) text += ", " + std::to_string(count_) + " pairs of sweeps";
    if (omega_ != 1) text += ", omega " + std::to_string(omega_);
    if (!std::same_as<Stored, Real>) text += ", in single precision";
    return text;
  }

 private:
  struct Plan {
    Csr<Real, Offset, Space> owned;  // empty where the caller's arrays are used
    Array<Stored, Space> values;     // converted; empty where Stored is Real
    Array<double, Space> scale;      // 2^-k, 2^k: k of the largest value, which was divided out of them
    CsrView<Stored, Offset, Space> A;
    Array<Index, Space> new_to_old, old_to_new;  // empty in natural order
  };

  static void convert_values(const B& on, Plan& p, Span<const Real, Space> values) {
    blas1::find_scale(on, values.data(), values.size(), p.scale.data());
    convert<B, Real, Stored>(on, p.scale.data(), values, p.values.span());
  }
  static void view(const B& on, Plan& p, const CsrView<Real, Offset, Space>& A) {
    if constexpr (std::same_as<Stored, Real>) {
      p.A = A;
    } else {
      p.scale = Array<double, Space>(on, 2);
      p.values = Array<Stored, Space>(on, A.values.size());
      convert_values(on, p, A.values);
      p.A = {A.nrows, A.ncols, A.row_ptr, A.col_idx, std::as_const(p.values).span()};
    }
  }
  static Plan viewing(const B& on, const CsrView<Real, Offset, Space>& A) {
    Plan p;
    view(on, p, A);
    return p;
  }

  static Plan by_colours(const B& on, const CsrView<Real, Offset, Space>& A, const std::function<void()>& on_step) {
    inverse_diagonal(on, A);  // so that what is refused is named by its row in A, not in the permuted matrix
    Plan p;
    const Array<Index, Space> colours = coloured(on, A, on_step);
    on_step();
    p.new_to_old = colour_order(on, colours.span());
    p.old_to_new = inverse_permutation(on, std::as_const(p.new_to_old).span(), A.nrows);
    p.owned = permuted(on, A, std::as_const(p.new_to_old).span());
    view(on, p, p.owned.view());
    return p;
  }

  static Array<Index, Space> coloured(const B& on, const CsrView<Real, Offset, Space>& A,
                                      const std::function<void()>& on_step) {
    if constexpr (HostBackend<B>)
      return greedy_colours(on, A, on_step);
    else
      return greedy_colours(on, A);
  }

  SymgsPreconditioner(B on, Plan p, Real omega, int sweeps)
      : on_(on), omega_(checked(omega)), count_(checked(sweeps)), plan_(std::move(p)), sweeps_(sweeps_of(on_, plan_)) {
    const auto n = plan_.A.nrows;
    if (HostBackend<B> && !plan_.new_to_old.empty()) permuted_r_.emplace(on_, n), permuted_z_.emplace(on_, n);
    if constexpr (!std::same_as<Stored, Real>) {
      converted_r_.emplace(on_, n), converted_z_.emplace(on_, n);
      scale_ = Array<double, Space>(on_, 2);
    }
  }
  /// On a GPU these take vectors in the order before.
  static GaussSeidel<Stored, Offset, B> sweeps_of(const B& on, const Plan& p) {
    if constexpr (HostBackend<B>)
      return {on, p.A};
    else
      return {on, p.A, p.new_to_old.span()};
  }
  static Real checked(Real omega) {
    if (omega > 0 && omega < 2) return omega;
    throw UsageError("omega is " + std::to_string(omega) + ", expected more than 0 and less than 2");
  }
  static int checked(int sweeps) {
    if (sweeps >= 1) return sweeps;
    throw UsageError("symgs: found " + std::to_string(sweeps) + " sweeps, expected 1 or more");
  }

  void sweep_from_zero(Span<const Stored, Space> r, Span<Stored, Space> z) const {
    if (permuted_r_) {
      gather<B, Stored>(on_, plan_.new_to_old, r, permuted_r_->span());
      pairs_from_zero(std::as_const(*permuted_r_).span(), permuted_z_->span());
      gather<B, Stored>(on_, plan_.old_to_new, std::as_const(*permuted_z_).span(), z);
    } else {
      pairs_from_zero(r, z);
    }
  }
  void pairs_from_zero(Span<const Stored, Space> r, Span<Stored, Space> z) const {
    sweeps_.symmetric_from_zero(r, z, Stored(omega_));
    pairs(r, z, 1);
  }
  void pairs(Span<const Stored, Space> r, Span<Stored, Space> z, int done = 0) const {
    for (int pair = done; pair < count_; ++pair) sweeps_.symmetric(r, z, Stored(omega_));
  }

  B on_;
  Real omega_;
  int count_;
  Plan plan_;  // moving it moves no array, so views of it stay
  GaussSeidel<Stored, Offset, B> sweeps_;
  mutable Array<double, Space> scale_;  // in single precision, of the r of an application
  mutable std::optional<Vector<Stored, B>> permuted_r_, permuted_z_, converted_r_, converted_z_;
};

}  // namespace seidel
