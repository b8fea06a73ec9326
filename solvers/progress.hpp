// The bookkeeping of an iteration: criteria, history, clock, stop request, and what may be called converged.
#pragma once
#include <cmath>
#include <limits>
#include <optional>

#include <seidel/formats/runtime/stopwatch.hpp>
#include <seidel/solvers/criteria.hpp>
#include <seidel/solvers/summary.hpp>

namespace seidel {

/// A solver goes on while unsolved(true residual) in rounds, and in each round while running(); it tells the residual
/// of its recurrence by record(). "Converged" is said by unsolved() alone.
class Progress {
 public:
  /// Errors  UsageError for a negative tolerance or limit.
  Progress(std::string_view method, const Criteria& criteria, double norm_b);

  /// Whether to iterate (again) from x, whose true residual has this norm. No if that is small enough; if a limit or a
  /// breakdown ended the last round; if the recurrence said yes, the truth says no and the round gained less than a
  /// factor 2 (stagnated); if rounds that ended of themselves (gmres restarts) gain too little (stagnated, too): ten in a
  /// row less than 0.1 % together, or, after twenty and more, at the rate of the last half of the iterations more than
  /// twice max_iterations are still needed.
  bool unsolved(double true_norm);

  /// Whether to go on in this round: the recurrence has not said yes, and no limit or request says no.
  bool running();

  /// Ends an iteration; `norm` is that of the recurrence residual. False if it is not finite: leave x as it is.
  bool record(double norm);

  /// Whether an estimate of the error is wanted, and the target is reached in truth.
  bool estimates() const {
    return criteria_.error_tolerance && summary_.status == Status::converged && summary_.norm_b > 0;
  }
  /// Whether the target is reached by the recurrence, and an estimate of the error is wanted and possible.
  bool may_go_beyond() const {
    return criteria_.error_tolerance && !is_beyond() && !ended_ && broke_down_ == Breakdown::none &&
           summary_.norm_b > 0 && small_enough(latest_);
  }
  /// From here on to a tenth of this residual, by at least 5 and at most 30 % more iterations, apart from those recorded.
  void go_beyond(double from);
  bool is_beyond() const { return beyond_.has_value(); }
  /// Whether a tenth is reached, and the error must be below a tolerance.
  bool may_go_further() const {
    return !beyond_->ended && latest_ <= beyond_->threshold && std::isfinite(*criteria_.error_tolerance);
  }
  /// Goes on to the next tenth, by as many iterations at least, if x changed by more than the error may be.
  bool go_further(double change);
  /// Whether another round there can bring anything, from x with this true residual.
  bool goes_on_from(double true_norm);
  /// Back to where go_beyond() began.
  void come_back();
  /// What was found beyond: the change of x, the true residuals before and after it.
  void estimated(double change, double true_norm, double norm_beyond);

  /// The iteration just recorded has this smaller residual after all.
  void improve(double norm);

  /// Whether `product`, u'v, is; if not, all ends: indefinite, as `otherwise` says, or breakdown for NaN, infinity and
  /// underflow. Of A, u'A u is its curvature along u.
  template <class V>
  bool positive(typename V::Real product, const V& u, const V& v, Breakdown otherwise) {
    using Limits = std::numeric_limits<typename V::Real>;
    if (product > 0 && product <= Limits::max()) return true;
    const double norm_u = norm2(u), norm_v = norm2(v);
    if (otherwise == Breakdown::indefinite_matrix && !beyond_) summary_.curvature = double(product) / norm_u / norm_u;
    return not_positive(product, otherwise, norm_u > 0 && norm_v > 0 && norm_u * norm_v < Limits::min());
  }

  /// Whether `so` is; then this round cannot go on. One from the true residual may, but not ten times without a gain.
  bool breaks_down(bool so, Breakdown why) {
    if (so && !beyond_) broke_down_ = why;
    return so;
  }

  /// Whether cg has met what no positive definite matrix has, or numbers beyond the range of their type.
  bool failed() const { return summary_.status == Status::indefinite || summary_.status == Status::breakdown; }
  bool small_enough(double norm) const { return norm <= (beyond_ ? beyond_->threshold : threshold_); }
  /// Whether the next residual may well be small enough.
  bool near_end() const { return small_enough(latest_ / 10); }
  double target() const { return threshold_; }  ///< norm that is small enough
  double latest() const { return latest_; }     ///< norm of the recurrence residual
  std::int64_t iterations() const { return summary_.iterations; }

  void restarts_after(int directions) { summary_.restart = directions; }

  /// All that was recorded. `returned`: x is the iterate after so many iterations. Leaves nothing behind.
  Summary summary(double norm_x, std::int64_t returned);

 private:
  double relative(double norm) const { return summary_.norm_b > 0 ? norm / summary_.norm_b : norm; }
  bool end(Status status, Breakdown breakdown, std::string reason);  // false, for those who return it
  bool end(Status status, std::string reason) { return end(status, Breakdown::none, std::move(reason)); }
  bool not_positive(double product, Breakdown otherwise, bool underflowed);
  bool worth_another_round(double true_norm);
  double iterations_wanting(double true_norm) const;
  std::int64_t min_iterations_per_tenth() const;

  /// Rounds in a row, and the true norm from which they gained too little.
  struct Patience {
    int rounds = 0;
    double from = std::numeric_limits<double>::infinity();
    bool is_over(double norm, double enough);
  };

  /// Iterations beyond the target.
  struct Beyond {
    double target = 0;     // the residual from which they began
    double threshold = 0;  // and to which they go
    std::int64_t iterations = 0, min = 0, max = 0;
    std::int64_t round_from = 0;
    double from_seconds = 0;
    bool ended = false;
  };

  const Criteria& criteria_;
  Stopwatch watch_;
  double threshold_, latest_, round_from_;
  Patience breakdowns_, cycles_;
  int rounds_ = 0;
  Breakdown broke_down_ = Breakdown::none;
  bool ended_ = false;
  std::optional<Beyond> beyond_ = {};
  ErrorEstimate estimate_ = {};
  Summary summary_;
};

[[noreturn]] void refuse_unsymmetric_preconditioner(const char* method);
[[noreturn]] void refuse_nonlinear_preconditioner(const char* method);

}  // namespace seidel
