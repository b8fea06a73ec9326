// Solving for one right-hand side: by factors where they come first, by iterations, and then what its outcome asks for.
#include <seidel/drivers/solve_one.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/signals.hpp>
#include <seidel/drivers/solve_classical.hpp>
#include <seidel/drivers/solve_direct.hpp>
#include <seidel/drivers/solve_team.hpp>
#include <seidel/drivers/solve_unseen.hpp>

namespace seidel::drivers {

namespace {

/// Of all methods that were tried.
double seconds_of_iterations(const Problem& problem, const Outcome& outcome) {
  const auto& attempts = outcome.summary.attempts;
  const std::int64_t all = std::accumulate(attempts.begin(), attempts.end(), std::int64_t(0),
                                           [](std::int64_t sum, const Attempt& one) { return sum + one.iterations; });
  return double(std::max(all, outcome.summary.iterations)) * seconds_per_iteration(problem);
}

/// Seconds that factors may take to tell the error of an x that was found: a fifth of those that it took, or all of them
/// if it may not be trusted; or so few that nobody minds. A start that was given may be as wrong as x, and then few iterations say
/// little. Without symmetry the error may be some hundred times what two iterates show.
double seconds_to_refine(const Problem& problem, const Outcome& outcome) {
  constexpr double max_trusted_without_symmetry = 1e-6;
  const auto& seen = outcome.summary.error;
  const double trusted = problem.seen.properties.nearly_symmetric ? max_trusted_error : max_trusted_without_symmetry;
  const bool doubtful =
      !(outcome.error <= trusted) || !problem.x0.empty() || (seen && (seen->at_least || seen->beyond > seen->residual));
  const double taken = seconds_of_iterations(problem, outcome);
  return doubtful ? std::max(taken, seconds_worth_trust) : std::max(taken / 5, seconds_of_no_matter);
}

/// As factors_of(); those that another right-hand side needed are taken again, and none are looked for in vain twice.
std::shared_ptr<DirectSolver> refining_factors(const Problem& problem, double seconds, Decided& decided) {
  if (!decided.refining && seconds > decided.too_few_seconds) {
    decided.refining = factors_of(problem, seconds);
    if (!decided.refining) decided.too_few_seconds = seconds;
  }
  return decided.refining && decided.refining->forecast().seconds <= seconds ? decided.refining : nullptr;
}

/// Where an x that seems to be good may have an error that no iterate shows, and factors are too dear to tell: as many iterations
/// as x took, or a fifth of them and those of half a second on one core, if these are fewer, or x had a start.
template <class Offset>
std::int64_t iterations_to_look(const Problem& problem, const CsrView<double, Offset, Host>& A, Decided& decided,
                                std::optional<Couplings>& couplings, const Outcome& outcome) {
  if (!(outcome.error <= max_trusted_error) || decided.null_space_known || decided.factors) return 0;
  if (!couplings) couplings = couplings_of(problem.host, A);
  const double largest_x = outcome.summary.norm_x / std::sqrt(double(A.nrows));  // at least
  const double most = outcome.certificate.relative_residual * outcome.summary.norm_b / couplings->margin / largest_x;
  if (couplings->constants_alone || (couplings->margin > 0 && most <= max_trusted_error)) return 0;
  if (refining_factors(problem, seconds_to_refine(problem, outcome), decided)) return 0;
  const std::int64_t all = outcome.summary.iterations;
  const auto cheap = std::int64_t(seconds_worth_trust / seconds_per_iteration(problem));
  return problem.x0.empty() ? std::clamp(cheap, all / 5, all) : std::max(cheap, all / 5);
}

}  // namespace

std::vector<Outcome> iterate(Problem& problem, std::span<const Array<double>> b, Decided& decided,
                             const Criteria& criteria) {
  const MatrixProperties& properties = problem.seen.properties;
  const auto with = [&]<class Offset>(const CsrView<double, Offset, Host>& A) {
    const System<Offset> system{
        .A = A,
        .b = b.front(),
        .x0 = problem.x0,
        .norm_inf_of_A = properties.norm_inf,
        .ones = problem.options.rhs.empty() && !problem.seen.ones_vanish() && !problem.seen.has_dependent_columns(),
        .A_there = view_with<Offset>(problem.there),
        .b_there = problem.b_there.span(),
        .near_null = problem.near_null.view(),
        .arrangement = decided.arranged ? &decided.arranged->by : nullptr,
        .arranged_A = decided.arranged ? view_with<Offset>(decided.arranged->A) : A,
        .norm_frobenius_of_A = properties.norm_frobenius,
        .more_b = std::vector<HostSpan<const double>>(b.begin() + 1, b.end()),
        .symmetric = properties.nearly_symmetric,
        .ones_are_seen = !problem.seen.ones_vanish() && problem.seen.rows.empty_rows == 0,
        .null_space_known = decided.null_space_known,
        .iterations_to_look = [&, couplings = std::optional<Couplings>()](const Outcome& outcome) mutable {
          return iterations_to_look(problem, A, decided, couplings, outcome);
        }};
    if (decided.where.team && !decided.where.team->takes(system, decided.needs.choice)) {
      say(problem.options, formatted("the first process solves this alone: the others have no part in {}",
                                     system.arrangement ? "a matrix that is scaled or permuted"
                                                        : std::string(decided.needs.choice.form == Form::eisenstat
                                                                          ? "Eisenstat's form"
                                                                          : to_string(decided.needs.choice.method))));
      decided.where.team = nullptr;
    }
    return solve_columns_on(decided.where, system, decided.needs.choice, criteria);
  };
  try {
    std::vector<Outcome> outcomes = problem.with_matrix(with);
    const MethodChoice& choice = decided.needs.choice;
    for (Outcome& outcome : outcomes)
      for (Attempt& attempt : outcome.summary.attempts)
        if (attempt.preconditioned && attempt.method != Method::lsmr.name)
          attempt.preconditioner = choice.preconditioner_name();
    if (outcomes.front().preconditioner_bytes > 0) {  // as it was, for the report
      decided.needs.counted_bytes = outcomes.front().preconditioner_bytes;
      decided.memory = plan_solve(decided.needs, decided.available);
    }
    return outcomes;
  } catch (const ZeroDiagonal& error) {
    throw InputError(problem.matrix.name + ": " + error.what() +
                     (problem.options.permute ? " (--precond none)" : " (--precond none, or --permute auto)"));
  } catch (const InputError& error) {  // of another row that the preconditioner cannot use
    throw InputError(problem.matrix.name + ": " + error.what());
  }
}

namespace {

/// From here on the factors are what gave x.
void take_factors(Decided& decided, const DirectSolver& factors, const std::string& why) {
  decided.needs.choice = {.method = direct_method,
                          .reason = formatted("direct, because {}", why),
                          .automatic = decided.needs.choice.automatic};
  decided.needs.factor_bytes = factors.forecast().bytes;
  decided.needs.counted_bytes.reset();
  decided.needs.cuda = false;
  decided.where.backend = BackendName::serial;
  decided.where.threads = 1;
  decided.where.team = nullptr;
  decided.where.because = "factors are computed on one core";
  decided.memory = plan_solve(decided.needs, without_margin(available_bytes(Host{})));
}

bool met_zero_pivot(const Summary& summary) {
  return std::any_of(summary.attempts.begin(), summary.attempts.end(),
                     [](const Attempt& attempt) { return attempt.breakdown == Breakdown::zero_pivot; });
}

/// After so many iterations factors are thought of again.
constexpr std::int64_t many_iterations[] = {500, 2000, 8000};
/// Thrown out of an iteration where factors have solved the system meanwhile.
struct FactorsSolvedIt {
  std::string why;
  double seconds;
};

class OneSolve {
 public:
  OneSolve(Problem& problem, const Array<double>& b, const Singular& singular, Decided& decided)
      : problem_(problem), b_(b), singular_(singular), decided_(decided) {}

  Outcome run(std::optional<Outcome> iterated) {
    before_ = iterated ? iterated->setup_seconds + iterated->solve_seconds : 0;
    if (decided_.factors && first_factors_suffice()) return std::move(*by_factors_);
    try {
      if (!iterated)
        iterated = by_iterations(chosen_ && !limited_ && !decided_.factors && !singular_.known() &&
                                 !decided_.where.team);  // who would wait for factors
    } catch (const FactorsSolvedIt& after) {
      take_factors(decided_, *decided_.factors, after.why);
      by_factors_->solve_seconds += after.seconds + spent_;
      return std::move(*by_factors_);
    }
    Outcome outcome = std::move(*iterated);
    outcome.summary.attempts.insert(outcome.summary.attempts.begin(), attempts_.begin(), attempts_.end());
    attempts_ = outcome.summary.attempts;
    if (outcome.solved) outcome.solve_seconds += spent_;
    if (singular_.known()) return beside_null_space(std::move(outcome));
    if (stop_requested()) return outcome;
    if (problem_.least_squares())
      refine_least_squares_of(outcome);
    else if (outcome.solved)
      has_unknown_null_vectors() ? note_singular(outcome) : tell_error(outcome);
    else if (chosen_ && !limited_)
      return with_all_seconds(after_failure(std::move(outcome)));
    return outcome;
  }

 private:
  DirectSystem system() {
    const bool is_there = b_.empty() && problem_.where.gpu;
    if constexpr (built_with_cuda)
      if (is_there && b_here_.empty()) b_here_ = copied_to<Host>(*problem_.where.gpu, problem_.b_there.span());
    return {.A = problem_.narrow(),
            .b = is_there ? std::as_const(b_here_).span() : b_.span(),
            .host = problem_.host,
            .norm_inf_of_A = problem_.seen.properties.norm_inf,
            .ones = options_.rhs.empty() && !problem_.seen.ones_vanish()};
  }
  bool first_factors_suffice() {
    const auto bad_row = problem_.seen.properties.first_bad_diagonal;
    const std::string why =
        bad_row >= 0 ? formatted("row {} has no nonzero diagonal entry, so there is no preconditioner", bad_row + 1)
                     : "its factors have hardly more entries than A, and cost less than iterations";
    Outcome& outcome = by_factors_.emplace(directly(*decided_.factors, why));
    if (!outcome.solved && chosen_) {
      take_time_of(outcome);
      return false;
    }
    outcome.solve_seconds += spent_;
    if (singular_.known()) finish(outcome, decided_.factors.get());
    return true;
  }
  Outcome by_iterations(bool may_take_factors) {
    try {
      return iterations(may_take_factors, chosen_ && may_coarsen_otherwise(problem_, decided_));
    } catch (const AggregatesAreSlow& slow) {
      attempts_.push_back(coarsen_otherwise(problem_, slow, decided_));
      spent_ += slow.seconds;
      criteria_.seconds -= slow.seconds;
      return iterations(may_take_factors, false);
    }
  }
  /// If it may take factors, they are tried while the iteration waits, once they cost a fifth of it at most, or once half of the time
  /// limit is over, the rest will not be enough at the rate so far, and it is for factors. Where they fail, or a stop is
  /// requested meanwhile, it is still there. Throws FactorsSolvedIt, AggregatesAreSlow.
  Outcome iterations(bool may_take_factors, bool may_be_slow) {
    Criteria criteria = criteria_;
    criteria.on_iteration = [&, judge = JudgeOfAggregates(options_.tolerance), watch = Stopwatch(),
                             hurried = false](const IterationReport& report) mutable {
      criteria_.on_iteration(report);
      if (may_be_slow) judge(report);
      if (!may_take_factors || by_factors_) return;
      const double seconds = watch.seconds();  // of the methods before this one, too
      const bool many = std::ranges::find(many_iterations, report.iteration) != std::end(many_iterations);
      const bool late = !hurried && seconds >= criteria_.seconds / 2 && !arrives(report, seconds);
      if (!many && !late) return;
      hurried = hurried || late;
      const double taken = double(report.iteration) * seconds_per_iteration(problem_);
      Criteria rest = criteria_;
      rest.seconds -= seconds;
      decided_.factors =
          factors_of(problem_, late ? max_direct_seconds : std::min(max_direct_seconds, taken / 5), rest.seconds);
      if (!decided_.factors) return;
      const std::string why = late ? "iterations were too slow for the limit of time"
                                   : formatted("{} iterations were not enough", count(report.iteration));
      if (options_.verbose)
        say(options_, formatted("{}: factors of A are tried, about {}", why,
                                human_seconds(decided_.factors->forecast().seconds)));
      by_factors_ = tried(*decided_.factors, rest);
      if (by_factors_->solved || by_factors_->is_right_by_factors())  // no x has a smaller residual
        throw FactorsSolvedIt{why + (late ? ", and factors were not" : ", and factors cost less than a fifth of these"),
                              seconds};
    };
    return std::move(iterate(problem_, {&b_, 1}, decided_, criteria).front());
  }
  /// Whether the residual, at its rate so far, reaches the target well within the time limit.
  bool arrives(const IterationReport& report, double seconds) const {
    constexpr double well = 0.8;
    return std::log(report.relative_residual) * well * criteria_.seconds <= std::log(options_.tolerance) * seconds;
  }
  Outcome tried(DirectSolver& factors, const Criteria& criteria) {
    Outcome outcome = solve_directly(system(), factors, criteria);
    attempts_.insert(attempts_.end(), outcome.summary.attempts.begin(), outcome.summary.attempts.end());
    outcome.summary.attempts = attempts_;
    return outcome;
  }
  Outcome directly(DirectSolver& factors, const std::string& why) {
    Outcome outcome = tried(factors, criteria_);
    if (outcome.solved && chosen_) take_factors(decided_, factors, why);
    return outcome;
  }
  Outcome by_lsmr(Outcome before) { return solve_singular(problem_, b_, decided_, criteria_, std::move(before)); }
  void take_time_of(const Outcome& outcome) {
    const double seconds = outcome.setup_seconds + outcome.solve_seconds;
    spent_ += seconds;
    criteria_.seconds -= seconds;
  }
  /// Where several were tried, all that was no setup of the last one.
  Outcome with_all_seconds(Outcome outcome) const {
    outcome.solve_seconds = before_ + watch_.seconds() - outcome.setup_seconds - outcome.certify_seconds;
    return outcome;
  }

  /// Where A has null vectors that are known; if it has others, iterations fail.
  Outcome beside_null_space(Outcome outcome) {
    if (!outcome.solved && chosen_ && !limited_ && !stop_requested()) {
      take_time_of(outcome);
      outcome = with_all_seconds(by_lsmr(std::move(outcome)));
    }
    const auto factors = outcome.solved && outcome.error_source != ErrorSource::singular
                             ? refining_factors(problem_, seconds_to_refine(problem_, outcome), decided_)
                             : nullptr;
    finish(outcome, factors.get());
    return outcome;
  }
  void finish(Outcome& outcome, DirectSolver* factors) {
    outcome.known_x = options_.rhs.empty();
    finish_singular(problem_, singular_, system().b, outcome);
    if (outcome.solved && has_unknown_null_vectors())
      note_singular(outcome);
    else if (factors && outcome.solved)
      refine_outside(singular_.space, system(), *factors, outcome);
  }

  /// Also where lsmr did not reach the target, if the method is not the user's choice.
  void refine_least_squares_of(Outcome& outcome) {
    const bool unknown = outcome.error_source == ErrorSource::none || outcome.error_source == ErrorSource::going_on;
    if (!unknown || !problem_.is_narrow() || !(outcome.solved || (!options_.request.method && !limited_))) return;
    const double seconds = outcome.solved
                               ? seconds_to_refine(problem_, outcome)
                               : std::min(std::max(seconds_of_iterations(problem_, outcome), seconds_worth_trust),
                                          criteria_.seconds - outcome.summary.seconds);
    refine_least_squares(system(), problem_.x0,
                         norm_2_at_least(outcome.summary, problem_.narrow(), problem_.seen.properties.norm_frobenius),
                         seconds, criteria_, outcome);
  }

  /// Fewer rows have entries than there are columns beside those that the null vectors which are known take away.
  bool has_unknown_null_vectors() const {
    const RowStatistics& rows = problem_.seen.rows;
    return rows.nrows - rows.empty_rows + singular_.space.dimension() < rows.ncols;
  }
  /// By factors, where these are cheap for what they tell.
  void tell_error(Outcome& outcome) {
    const bool asked = outcome.error_is_known() || criteria_.error_tolerance;
    const bool unknown = !options_.rhs.empty() || !(outcome.error <= max_trusted_error);
    if (outcome.summary.norm_b == 0 || !asked || !unknown) return;
    if (const auto factors = decided_.factors
                                 ? decided_.factors
                                 : refining_factors(problem_, seconds_to_refine(problem_, outcome), decided_))
      refine_directly(system(), *factors, chosen_ ? Refine::x : Refine::error_only, criteria_, outcome);
  }

  /// Factors, unless they came first; then, where A seems to be singular, lsmr. The better x stays.
  Outcome after_failure(Outcome outcome) {
    take_time_of(outcome);
    const bool came_first = by_factors_.has_value();
    auto factors = decided_.factors;
    if (!came_first) factors = factors_of(problem_, max_direct_seconds, criteria_.seconds);
    bool found_singular = false;
    if (factors) {
      const std::string why = formatted("{} failed", outcome.summary.method);
      if (!came_first) by_factors_ = directly(*factors, why);
      if (by_factors_->solved) return std::move(*by_factors_);
      found_singular = by_factors_->singular;
      if (by_factors_->is_right_by_factors() ||
          by_factors_->certificate.relative_residual < outcome.certificate.relative_residual) {
        if (came_first)
          std::rotate(attempts_.begin(), attempts_.begin() + 1, attempts_.end());  // what gave x is told last
        by_factors_->summary.attempts = attempts_;
        outcome = std::move(*by_factors_);
        take_factors(decided_, *factors, why);
      } else if (!came_first) {
        outcome.summary.attempts.insert(outcome.summary.attempts.end() - 1, attempts_.back());
      }
    }
    if (problem_.seen.rows.empty_rows == 0 && !found_singular && !met_zero_pivot(outcome.summary)) return outcome;
    return by_lsmr(std::move(outcome));
  }

  Problem& problem_;
  const Array<double>& b_;
  const Singular& singular_;
  Decided& decided_;
  const SolveOptions& options_ = problem_.options;
  SolveProgress progress_{!options_.quiet, options_.tolerance};
  Criteria criteria_ = watched(problem_, progress_);
  double before_ = 0;  // seconds of the iteration that came before
  const Stopwatch watch_;
  double spent_ = 0;  // seconds on what was tried in vain
  const bool chosen_ = automatic(options_.request), limited_ = options_.max_iterations < SolveOptions().max_iterations;
  std::vector<Attempt> attempts_;
  Array<double> b_here_;  // where b was made on a GPU
  std::optional<Outcome> by_factors_;
};

}  // namespace

Outcome solve_one(Problem& problem, const Array<double>& b, const Singular& singular, Decided& decided,
                  std::optional<Outcome> iterated) {
  return OneSolve(problem, b, singular, decided).run(std::move(iterated));
}

}  // namespace seidel::drivers
