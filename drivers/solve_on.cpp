// A system solved and certified: the only part of the program's solving that knows of back ends.
#include <array>
#include <cmath>

#include <seidel/drivers/memory_plan.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/solve_on.hpp>
#include <seidel/drivers/solve_team.hpp>
#include <seidel/drivers/solve_unseen.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>
#include <seidel/solvers/cg_columns.hpp>
#include <seidel/solvers/flexible.hpp>
#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/null_space.hpp>
#include <seidel/solvers/preconditioners/arranged.hpp>
#include <seidel/solvers/preconditioners/make.hpp>
#include <seidel/solvers/solve.hpp>

namespace seidel::drivers {

namespace {

/// `second` went on from where `first` ended.
Summary joined(Summary first, Summary second) {
  second.iterations += first.iterations;
  second.returned_iteration += first.iterations;
  second.seconds += first.seconds;
  if (!second.history.empty())
    first.history.insert(first.history.end(), second.history.begin() + 1, second.history.end());
  second.history = std::move(first.history);
  first.attempts.insert(first.attempts.end(), second.attempts.begin(), second.attempts.end());
  second.attempts = std::move(first.attempts);
  return second;
}

/// Of all methods that were tried.
double seconds_of(const Summary& summary) {
  double sum = 0;
  for (const Attempt& attempt : summary.attempts) sum += attempt.seconds;
  return sum;
}

/// b in the memory of back end `on`.
template <Backend B, class Offset>
Vector<double, B> right_hand_side(const B& on, const System<Offset>& system) {
  if constexpr (!HostBackend<B>)
    if (!system.b_there.empty()) return {on, system.b_there};
  return {on, copied_to<SpaceOf<B>>(on, system.b)};
}

/// The first guess there.
template <Backend B, class Offset>
Vector<double, B> initial_guess(const B& on, const System<Offset>& system) {
  if (system.x0.empty()) return {on, std::int64_t(system.A.ncols)};
  return {on, copied_to<SpaceOf<B>>(on, system.x0)};
}

/// Thrown where a setup ends before it is done.
struct SetupStopped {};

/// Throws that as soon as a stop is requested or the time is over.
std::function<void()> stopping(const Criteria& criteria) {
  return [criteria, watch = Stopwatch()] {
    if (criteria.stop_requested() || !(watch.seconds() < criteria.seconds)) throw SetupStopped();
  };
}

/// Of A, or of the matrix that stands for it, which is copied to where it is needed; none where choice.on_step() stops it.
template <Backend B, class Offset>
std::optional<MadePreconditioner<B>> preconditioner_of(const B& on, const System<Offset>& system,
                                                       HereAndThere<B, Offset> A, Csr<double, Offset, SpaceOf<B>>& copy,
                                                       const MethodChoice& choice) try {
  if (!system.arrangement) return make_preconditioner<B, Offset>(on, A, choice);
  A.here = system.arranged_A;
  A.there = brought_to(on, A.here, copy);
  auto made = make_preconditioner<B, Offset>(on, A, choice);
  made.M = ArrangedPreconditioner<B>(on, std::move(made.M), *system.arrangement, system.A.nrows);
  return made;
} catch (const SetupStopped&) {
  return {};
}

/// What all columns share, and how one of them is solved.
template <Backend B, class Offset>
class Columns {
  using V = Vector<double, B>;

 public:
  Columns(const B& on, const System<Offset>& system, const CsrView<double, Offset, SpaceOf<B>>& A,
          const AnyOperator<V>& products, const Solver<V>& solver, const MethodChoice& choice)
      : on_(on), system_(system), A_(A), products_(products), solver_(solver), choice_(choice) {}

  /// Solves for each b, one after the other, in what `solving` leaves of the time. `first`: their first rounds, where they are known.
  std::vector<Outcome> solved(const std::vector<V>& b, std::vector<V>& x, const Setup& setup, const Criteria& criteria,
                              const Stopwatch& solving, std::vector<std::optional<Summary>> first = {}) {
    std::vector<Outcome> outcomes;
    first.resize(b.size());
    for (std::size_t j = 0; j < b.size(); ++j) {
      Criteria rest = criteria;
      rest.seconds = std::max(0.0, rest.seconds - solving.seconds());
      static_cast<Setup&>(outcomes.emplace_back(solved_for(b[j], x[j], rest, std::move(first[j])))) = setup;
    }
    return outcomes;
  }

 private:
  /// Solves for b, unless the first round is known, and certifies.
  Outcome solved_for(const V& b, V& x, const Criteria& criteria, std::optional<Summary> first) {
    Outcome outcome;
    solve_and_certify(b, x, criteria, std::move(first), outcome);
    if (!outcome.solved) prefer_guess(b, x, criteria.goal, outcome);
    tell_error(b, x, criteria, outcome);
    outcome.x = copied_to<Host>(on_, x.span());
    return outcome;
  }

  /// "Solved" is said of the certificate. Where rounding lets the solver's own residual pass and the certificate fail by a hair,
  /// it goes on from there with a tolerance a little tighter.
  void solve_and_certify(const V& b, V& x, Criteria criteria, std::optional<Summary> first, Outcome& outcome) const {
    const Criteria asked = criteria;
    for (int round = 0; round < 3; ++round) {
      Summary summary = round == 0 && first ? std::move(*first) : solver_(choice_, b, x, criteria);
      outcome.summary = round == 0 ? std::move(summary) : joined(std::move(outcome.summary), std::move(summary));
      const Stopwatch certifying;
      outcome.certificate = certificate_of(b, x, criteria.goal, outcome.summary);
      outcome.certify_seconds += certifying.seconds();
      note_solved(asked, outcome);
      if (outcome.solved || !outcome.summary.converged()) break;
      criteria.relative_tolerance *= 0.75;
      criteria.absolute_tolerance *= 0.75;
      criteria.max_iterations = asked.max_iterations - outcome.summary.iterations;
      criteria.seconds = asked.seconds - seconds_of(outcome.summary);
      if (criteria.max_iterations <= 0 || !(criteria.seconds > 0)) break;
    }
    outcome.solve_seconds = seconds_of(outcome.summary);
  }

  /// On a singular matrix rounding can grow beyond what the method sees: then the initial guess is the best that there is.
  /// Not before a factor 100: residuals of cg may rise on the way to the solution.
  void prefer_guess(const V& b, V& x, Goal goal, Outcome& outcome) const {
    const double reached = outcome.certificate.relative_residual;
    V guess = initial_guess(on_, system_);
    const Certificate of_guess = certificate_of(b, guess, goal, outcome.summary);
    if (reached <= 100 * of_guess.relative_residual) return;
    outcome.summary.reason += formatted("; returned the initial guess: every iterate was worse ({})", brief(reached));
    outcome.summary.returned_iteration = 0;
    outcome.certificate = of_guess;
    x = std::move(guess);
  }

  /// As far as the known solution, or iterates beyond the target, show it.
  void tell_error(const V& b, const V& x, const Criteria& asked, Outcome& outcome) {
    if (system_.ones) {
      V error = like(x);
      fill(error, 1);
      axpy(-1, x, error);
      outcome.error_against_ones = max_abs(error);
      outcome.note_error(ErrorSource::exact, outcome.error_against_ones);
    } else if (outcome.solved && outcome.summary.norm_b == 0) {
      outcome.error_source = ErrorSource::exact;
    } else if (const auto& seen = outcome.summary.error; outcome.solved && seen && !seen->is_void()) {
      outcome.error_source = ErrorSource::going_on;
      const double rounding = outcome.summary.limit_of_precision(system_.norm_inf_of_A);
      outcome.error = outcome.summary.error->error(
          outcome.least_squares ? rounding / outcome.certificate.relative_residual : rounding);
      // At the limit of precision iterates no longer change. Where x is large for b, along a vector that A maps to nearly nothing,
      // an error along that is as large in x as it is in b - A x.
      if (const double reached = outcome.certificate.relative_residual; !outcome.least_squares && reached <= rounding)
        outcome.error = std::max(outcome.error, reached);
      if (system_.ones_are_seen && asked.goal != Goal::least_squares) look_at_constants(b, x, outcome);
      if (outcome.summary.method == "cg" && outcome.summary.attempts.size() == 1)
        if (const std::int64_t n = system_.iterations_to_look(outcome); n > 0) look_for_unseen(b, x, n, asked, outcome);
    }
  }

  /// Of x for b, as `summary` tells how it was found.
  Certificate certificate_of(const V& b, const V& x, Goal goal, const Summary& summary) const {
    if (goal != Goal::least_squares) return certify(on_, A_, x, b, system_.norm_inf_of_A);
    return certify_least_squares(on_, A_, products_, x, b, system_.norm_inf_of_A,
                                 norm_2_at_least(summary, A_, system_.norm_frobenius_of_A));
  }

  /// Whether constants in b - A x tell of a larger error than iterates do.
  void look_at_constants(const V& b, const V& x, Outcome& outcome) {
    if (!constants_) constants_.emplace(host_of(on_), system_.A, system_.symmetric);
    V r = like(b);
    certified_residual(on_, A_, x.span(), b.span(), r.span());
    const auto found = constants_->found(copied_to<Host>(on_, x.span()), copied_to<Host>(on_, r.span()),
                                         std::max(outcome.error, max_trusted_error));
    if (found.singular && !system_.null_space_known) {
      outcome.note_error(ErrorSource::singular, std::numeric_limits<double>::infinity());
    } else if (found.error > outcome.error) {
      outcome.note_error(ErrorSource::constants, found.error, found.at_least);
    }
  }

  /// Looks for an error along a vector that A maps to nearly nothing, with n iterations.
  void look_for_unseen(const V& b, const V& x, std::int64_t n, Criteria criteria, Outcome& outcome) {
    const Stopwatch watch;
    if (!unseen_) {
      const auto w = first_direction(host_of(on_), system_.A);
      unseen_.emplace(on_, copied_to<SpaceOf<B>>(on_, w));
      criteria.seconds = std::max(0.0, criteria.seconds - outcome.summary.seconds - outcome.summary.error->seconds);
      outcome.look_iterations = n;
      keep_unseen_part(products_, solver_, choice_, n, criteria, *unseen_);
    }
    V r = like(b);
    certified_residual(on_, A_, x.span(), b.span(), r.span());
    if (const double error = error_along(*unseen_, products_, r, x); error > outcome.error)
      outcome.note_error(ErrorSource::unseen, error);
    outcome.look_seconds = watch.seconds();
  }

  const B& on_;
  const System<Offset>& system_;
  const CsrView<double, Offset, SpaceOf<B>>& A_;
  const AnyOperator<V>& products_;
  const Solver<V>& solver_;
  const MethodChoice& choice_;
  std::optional<V> unseen_;  // of the first column that looked
  std::optional<Constants> constants_;
};

/// b and each of more_b, and as many first guesses.
template <Backend B, class Offset>
std::array<std::vector<Vector<double, B>>, 2> columns_of(const B& on, const System<Offset>& system) {
  std::vector<Vector<double, B>> b, x;
  b.push_back(right_hand_side(on, system));
  for (const auto& more : system.more_b) b.emplace_back(on, copied_to<SpaceOf<B>>(on, more));
  while (x.size() < b.size()) x.push_back(initial_guess(on, system));
  return {std::move(b), std::move(x)};
}

/// Where processes do it together: the first one certifies.
template <class Offset>
std::vector<Outcome> solved_by(Team& team, const Placement& where, const System<Offset>& system,
                               const MethodChoice& choice, Criteria criteria) {
  using V = Vector<double, OpenMP>;
  const OpenMP on{where.threads};
  const Stopwatch setup;
  Setup done = team.set_up(system, choice, where.backend == BackendName::cuda);
  const AnyOperator<V> products = MatrixOperator(on, system.A);
  const Solver<V> solver = [&](const MethodChoice& how, const V& b, V& x, const Criteria& until) {
    return team.solve(how, b.span(), x.span(), until);
  };
  auto [b, x] = columns_of(on, system);
  done.setup_seconds = setup.seconds();
  criteria.seconds = std::max(0.0, criteria.seconds - done.setup_seconds);
  const Stopwatch solving;
  Columns<OpenMP, Offset> columns(on, system, system.A, products, solver, choice);
  return columns.solved(b, x, done, criteria, solving);
}

/// Products with A, and with A' where the method wants those: of `transposed`, which must outlive them.
template <Backend B, class Offset>
AnyOperator<Vector<double, B>> operator_of(const B& on, Product<double, Offset, B> product, const MethodChoice& choice,
                                           Csr<double, Offset, SpaceOf<B>>& transposed) {
  MatrixOperator with_A(on, std::move(product));
  if (choice.method.needs != Needs::nothing) return with_A;
  transposed = transpose(on, with_A.view());
  return TransposableMatrix(std::move(with_A), MatrixOperator(on, Product(on, transposed.view())));
}

/// The first round of a column that went in step with others, with its `share` of their seconds; none where other methods are to
/// go on, as if it had been alone.
std::optional<Summary> first_round(Summary summary, const MethodChoice& choice, double share) {
  if (solve_detail::may_go_on(summary, choice.norm_inf) && !choice.fallbacks.empty()) return {};
  summary.seconds = share;
  summary.attempts = {summary.as_attempt()};
  return summary;
}

template <Backend B, class Offset>
std::vector<Outcome> solved_on(const B& on, const System<Offset>& system, MethodChoice choice, Criteria criteria) {
  using V = Vector<double, B>;
  using Space = SpaceOf<B>;
  const Stopwatch setup;
  Setup done;
  choice.on_step = stopping(criteria);

  Csr<double, Offset, Space> owned;
  CsrView<double, Offset, Space> A;
  if constexpr (!HostBackend<B>) A = system.A_there;
  if (A.row_ptr.empty()) A = brought_to(on, system.A, owned);
  const Stopwatch preparing;
  Product product(on, A);
  const bool in_step =
      choice.method == Method::cg && choice.form != Form::eisenstat &&
      pays_in_step<B>(std::int64_t(system.more_b.size()) + 1, A.nrows, product.has_kinds() ? 0 : A.nnz());
  note_product(done, product, preparing.seconds());
  Csr<double, Offset, Space> transposed;  // used for as long as the products
  const AnyOperator<V> products = operator_of(on, std::move(product), choice, transposed);
  Csr<double, Offset, Space> arranged_there;  // used for as long as the preconditioner
  const Stopwatch making;
  auto made = preconditioner_of<B, Offset>(on, system, {.here = system.A, .there = A, .near_null = system.near_null},
                                           arranged_there, choice);
  const bool stopped = !made;  // the solve ends at once, for the same reason
  if (stopped) made = MadePreconditioner<B>{.M = IdentityPreconditioner{}};
  const auto& M = made->M;
  on.synchronize();
  note_preconditioner(done, *made, making.seconds());
  if (stopped) done.preconditioner = "unfinished";
  auto [b, x] = columns_of(on, system);
  done.setup_seconds = setup.seconds();
  criteria.seconds = std::max(0.0, criteria.seconds - done.setup_seconds);

  std::vector<Summary> summaries;
  const Stopwatch solving;
  if (in_step) summaries = cg(products, choice.form == Form::flexible ? flexible(M) : M, b, x, criteria);
  const double share = solving.seconds() / double(b.size());
  std::vector<std::optional<Summary>> first;
  for (Summary& summary : summaries)
    if (!first.emplace_back(first_round(std::move(summary), choice, share)))
      x[first.size() - 1] = initial_guess(on, system);
  const Solver<V> solver = [&](const MethodChoice& how, const V& for_b, V& from_x, const Criteria& until) {
    return solve<V>(products, M, how, for_b, from_x, until);
  };
  Columns<B, Offset> columns(on, system, A, products, solver, choice);
  std::vector<Outcome> outcomes = columns.solved(b, x, done, criteria, solving, std::move(first));
  if (stopped)
    for (Outcome& outcome : outcomes) outcome.summary.reason += ", while the preconditioner was made";
  return outcomes;
}

}  // namespace

void note_solved(const Criteria& criteria, Outcome& outcome) {
  const auto& [residual, backward_error, orthogonality] = outcome.certificate;
  const bool small = residual <= criteria.target(outcome.summary.norm_b);
  outcome.least_squares = !small && orthogonality && *orthogonality <= criteria.relative_tolerance;
  outcome.solved = small || outcome.least_squares;
}

template <class Offset>
std::vector<Outcome> solve_columns_on(const Placement& where, const System<Offset>& system, const MethodChoice& choice,
                                      const Criteria& criteria) {
  if (where.team) return solved_by(*where.team, where, system, choice, criteria);
  return with_backend(where, [&](const auto& on) { return solved_on(on, system, choice, criteria); });
}

template std::vector<Outcome> solve_columns_on(const Placement&, const System<std::int32_t>&, const MethodChoice&,
                                               const Criteria&);
template std::vector<Outcome> solve_columns_on(const Placement&, const System<std::int64_t>&, const MethodChoice&,
                                               const Criteria&);

}  // namespace seidel::drivers
