// The iterate x of a solver: the best one is kept, and the truth about it is told.
#pragma once
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <seidel/solvers/finite.hpp>
#include <seidel/solvers/progress.hpp>

namespace seidel {

/// n vectors like b, to be named all at once: auto [r, p] = vectors_like<2>(b).
template <int n, class V>
std::array<V, n> vectors_like(const V& b) {
  return [&]<std::size_t... k>(std::index_sequence<k...>) {
    return std::array<V, n>{((void)k, like(b))...};
  }(std::make_index_sequence<n>());
}

/// Vectors that an Iterate takes; one more where the error is estimated.
inline constexpr int iterate_vectors = 1;

/// Checks the system, then watches x and decides which one is returned; Progress decides when.
///
/// A residual may rise again. x is copied just before it is left for a worse one, and only if its residual is less than
/// half of that of the copy: so the x returned is within a factor 2 of the best, for a few dozen copies in all.
///
/// A Matrix with a member measure(x, b, r, spare) has any shape, and what that returns is watched in place of ||b - A x||.
template <class V, LinearOperator<V> Matrix>
class Iterate {
 public:
  /// The copy is returned in the end if the last residual is more than `worse` times its own, or, where the method failed
  /// (Progress::failed), more than its own. b = 0 sets x = 0.
  Iterate(std::string_view method, const Matrix& A, const V& b, V& x, const Criteria& criteria, double worse)
      : A_(A), b_(b), x_(x), worse_(worse), progress_(method, criteria, checked_norm<shape>(A, b, x)), copy_(like(x)) {
    if (criteria.error_tolerance) kept_.emplace(like(x));
  }
  Iterate(const Iterate&) = delete;

  Progress& progress() { return progress_; }

  /// r = b - A x, and whether to iterate (again) from there.
  bool unsolved(V& r) { return unsolved(r, r); }
  /// The same with a vector like x to work with, where r is not.
  bool unsolved(V& r, V& spare) {
    settle();
    double newer_norm = 0;
    const bool estimated = progress_.is_beyond();
    if (estimated) {  // back to the x that was judged
      newer_norm = true_norm(r, spare);
      if (running() && progress_.goes_on_from(newer_norm)) return true;
      progress_.come_back();
      copy(x_, spare);
      copy(*kept_, x_);
      copy(spare, *kept_);
      norm_ = kept_norm_;
      at_ = kept_at_;
    }
    const double worse = progress_.failed() ? 1 : worse_;
    if (norm_ > (smoothing_ ? 1 : worse) * copy_norm_) take_back();
    smoothing_ = false;
    double truth = true_norm(r, spare);
    const double allowed = progress_.small_enough(norm_) ? 1 : worse;
    // The round made it worse in truth, or grew without bounds where A does not see it.
    if (copy_at_ >= 0 && (copy_at_ == round_at_ || !std::isfinite(truth)) && !(truth <= allowed * copy_norm_)) {
      take_back();
      truth = true_norm(r, spare);
    }
    norm_ = truth;
    if (!progress_.unsolved(truth)) {
      if (!progress_.estimates()) return false;
      if (!estimated) {
        keep(x_, truth, at_);
        progress_.go_beyond(truth);
        return true;
      }
      estimate(spare, truth, newer_norm);
      return false;
    }
    take_copy();
    round_at_ = at_;
    return true;
  }

  /// Whether to go on in this round: toward the target, or beyond it, to estimate the error of x.
  bool running() { return progress_.running() || goes_on(); }

  /// Whether to go on beyond the target.
  bool goes_on() {
    if (progress_.is_beyond()) {
      if (!progress_.may_go_further()) return false;
      settle();
      axpby(1, x_, -1, *kept_);
      const double change = double(max_abs(*kept_));
      change_ = change > 0 ? change / double(max_abs(x_)) : 0;  // both may be 0
      copy(x_, *kept_);
      return progress_.go_further(change_);
    }
    if (!progress_.may_go_beyond()) return false;
    settle();
    if (smoothing_ && norm_ > copy_norm_)
      keep(copy_, copy_norm_, copy_at_);
    else
      keep(x_, norm_, at_);
    smoothing_ = false;
    progress_.go_beyond(progress_.latest());
    return true;
  }

  /// x += alpha p. The new residual is recorded already.
  void move(typename V::Real alpha, const V& p) {
    move_later(alpha, p);
    settle();
  }
  /// x += alpha p + omega q.
  void move(typename V::Real alpha, const V& p, typename V::Real omega, const V& q) {
    prepare_move();
    axpy_twice(alpha, p, omega, q, x_);
  }
  /// x += alpha p, together with the next turn(), or before x is needed. Until then p must stay as it is.
  void move_later(typename V::Real alpha, const V& p) {
    prepare_move();
    alpha_ = alpha;
    along_ = &p;
  }
  /// p = z + beta p, for the p of move_later().
  void turn(const V& z, typename V::Real beta, V& p) {
    if (std::exchange(along_, nullptr))
      move_and_turn(alpha_, x_, z, beta, p);
    else
      xpby(z, beta, p);
  }

  /// To be called after move() with the residual r of x: near the tolerance, replaces the copy by the combination of the
  /// copy and x that has the least residual, s, and records that residual.
  ///
  /// Where the condition number is high, rounding alone makes the residuals of cg waver; those of the copy only fall.
  /// Why this does not begin earlier: docs/notes/convergence.md.
  /// Source  Zhou, Walker, Residual smoothing techniques for iterative methods, SIAM J. Sci. Comput. 15(2), 1994.
  void smooth(const V& r, V& s) {
    if (progress_.is_beyond()) return;
    if (!smoothing_) {
      if (progress_.small_enough(norm_) || !progress_.small_enough(norm_ / 1.25)) return;
      settle();
      if (!take_copy()) return;
      copy(r, s);
      smoothing_ = true;
      return;
    }
    settle();
    const double rs = dot(r, s), ss = copy_norm_ * copy_norm_;
    const double apart = (norm_ * norm_ - rs) + (ss - rs);  // ||r - s||^2
    if (!(apart > 0)) return;
    const double eta = (ss - rs) / apart;
    axpby(eta, r, 1 - eta, s);  // s += eta (r - s)
    axpby(eta, x_, 1 - eta, copy_);
    copy_norm_ = norm2(s);
    copy_at_ = at_;
    progress_.improve(copy_norm_);
  }

  Summary summary() { return progress_.summary(norm2(x_), at_); }

 protected:
  const Matrix& A() const { return A_; }
  V& x() { return x_; }
  bool estimates() const { return kept_.has_value(); }

  /// Between which norms the next residual is such that move_later() and smooth() leave x as it is.
  std::pair<double, double> unwatched_norms() const {
    if (smoothing_) return {1, 0};
    constexpr double any = std::numeric_limits<double>::max();
    if (progress_.is_beyond()) return {0, any};
    return {1.25 * progress_.target(), norm_ < copy_norm_ / 2 ? norm_ : any};
  }
  /// For a move to the residual just recorded.
  void prepare_move() {
    settle();
    const double new_norm = progress_.latest();
    if (new_norm > norm_ && norm_ < copy_norm_ / 2 && !progress_.is_beyond()) take_copy();
    norm_ = new_norm;
    at_ = progress_.iterations();
  }

 private:
  static constexpr Shape shape =
      requires(const Matrix& A, const V& in, V& out) { A.measure(in, in, out, out); } ? Shape::any : Shape::square;

  /// Does the move that turn() did not.
  void settle() {
    if (const V* const p = std::exchange(along_, nullptr)) axpy(alpha_, *p, x_);
  }
  /// Infinite for an x that is not finite: b - A x does not show that in a column of A without entries.
  double true_norm(V& r, [[maybe_unused]] V& spare) {
    if constexpr (shape == Shape::any) {
      return std::isfinite(norm2(x_)) ? A_.measure(x_, b_, r, spare) : std::numeric_limits<double>::infinity();
    } else {
      residual(A_, x_, b_, r);
      const auto [norm_x, norm_r] = sums(norm2_of(x_), norm2_of(r));
      return std::isfinite(norm_x) ? norm_r : std::numeric_limits<double>::infinity();
    }
  }
  /// False, and nothing done, if x is not finite.
  bool take_copy() {
    if (!std::isfinite(norm2(x_))) return false;
    copy(x_, copy_);
    copy_norm_ = norm_;
    copy_at_ = at_;
    return true;
  }
  /// Keeps an x that is believed to be at the target.
  void keep(const V& x, double norm, std::int64_t at) {
    copy(x, *kept_);
    kept_norm_ = norm;
    kept_at_ = at;
  }
  /// Of x, at the target, and the newer one that is kept now; their true residuals. Returns the better of both.
  void estimate(V& spare, double norm, double newer_norm) {
    copy(x_, spare);
    axpy(-1, *kept_, spare);
    const double change = double(max_abs(spare));
    if (newer_norm <= norm) copy(*kept_, x_);
    if (change > 0) change_ = change / double(max_abs(x_));
    progress_.estimated(change_, norm, newer_norm);
  }
  void take_back() {
    copy(copy_, x_);
    norm_ = copy_norm_;
    at_ = copy_at_;
  }

  const Matrix& A_;
  const V& b_;
  V& x_;
  double worse_;
  Progress progress_;
  V copy_;
  double norm_ = 0, copy_norm_ = std::numeric_limits<double>::infinity();  // of x and of the copy, by the recurrence
  bool smoothing_ = false;
  const V* along_ = nullptr;  // x is alpha_ times this behind
  typename V::Real alpha_ = 0;
  std::optional<V> kept_;  // where the error is estimated: the x at the target
  double kept_norm_ = 0, change_ = 0;
  std::int64_t kept_at_ = 0;
  std::int64_t at_ = 0, copy_at_ = -1, round_at_ = 0;  // the iterations that they, and the round, began after
};

}  // namespace seidel
