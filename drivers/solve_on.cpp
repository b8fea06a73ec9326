// A system solved and certified: the only part of the program's solving that knows of back ends.
#include <memory>

#include <seidel/drivers/memory_plan.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/solve_on.hpp>
#include <seidel/drivers/stopwatch.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/preconditioners/identity.hpp>
#include <seidel/solvers/preconditioners/jacobi.hpp>
#include <seidel/solvers/preconditioners/split_symgs.hpp>
#include <seidel/solvers/preconditioners/symgs.hpp>
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

/// `Stored`: what the sweeps are done in.
template <class Stored, class Offset, Backend B>
AnyPreconditioner<Vector<double, B>> make_symgs(const B& on, Order order, const SymgsSettings& sweeps,
                                                const CsrView<double, Offset, Host>& here,
                                                const CsrView<double, Offset, SpaceOf<B>>& there, Outcome& outcome) {
  using Symgs = SymgsPreconditioner<double, Offset, B, Stored>;
  auto symgs = order == Order::natural ? Symgs(on, there, sweeps.omega, sweeps.pairs)
                                       : Symgs(on, here, there, order, sweeps.omega, sweeps.pairs);
  outcome.wavefronts = symgs.wavefronts();
  outcome.sweep_bytes = symgs.bytes();
  return symgs;
}

template <class Offset, Backend B>
AnyPreconditioner<Vector<double, B>> make_preconditioner(const B& on, const MethodChoice& choice,
                                                         const SymgsSettings& sweeps,
                                                         const CsrView<double, Offset, Host>& here,
                                                         const CsrView<double, Offset, SpaceOf<B>>& there,
                                                         Outcome& outcome) {
  if (choice.preconditioner == PreconditionerKind::none) return IdentityPreconditioner{};
  if (choice.preconditioner == PreconditionerKind::jacobi) return JacobiPreconditioner<double, B>(on, there);
  if (choice.form == Form::eisenstat) {
    SplitSymgsPreconditioner<double, Offset, B> symgs(on, there);
    outcome.wavefronts = symgs.wavefronts();
    outcome.sweep_bytes = symgs.bytes();
    return symgs;
  }
  return sweeps.single ? make_symgs<float, Offset, B>(on, choice.order, sweeps, here, there, outcome)
                       : make_symgs<double, Offset, B>(on, choice.order, sweeps, here, there, outcome);
}

template <Backend B, class Offset>
Outcome solved_on(const B& on, const System<Offset>& system, const MethodChoice& choice, const SymgsSettings& sweeps,
                  Criteria criteria) {
  using V = Vector<double, B>;
  using Space = SpaceOf<B>;
  const Stopwatch setup;
  Outcome outcome;

  // On a GPU the matrix lives twice: CSR for sweeps and certificate, SELL for products. On the host nothing is copied.
  Csr<double, Offset, Space> owned;
  CsrView<double, Offset, Space> A;
  std::unique_ptr<AnyOperator<V>> products;
  outcome.product_format = "CSR";
  if constexpr (HostBackend<B>) {
    A = system.A;
  } else {
    owned = copied_to<Space>(system.A);
    A = owned.view();
    if (system.sell_padding <= max_sell_padding) {
      auto sell = to_sell(on, A);
      products = std::make_unique<AnyOperator<V>>(MatrixOperator<decltype(sell), B>(on, std::move(sell)));
      outcome.product_format = "SELL-32";
    }
  }
  if (!products) products = std::make_unique<AnyOperator<V>>(MatrixOperator<decltype(A), B>(on, A));
  const auto M = make_preconditioner<Offset, B>(on, choice, sweeps, system.A, A, outcome);
  const V b(on, copied_to<Space>(system.b));
  V x(on, std::int64_t(A.ncols));
  if (!system.x0.empty()) x = V(on, copied_to<Space>(system.x0));
  outcome.setup_seconds = setup.seconds();

  // "Solved" is said of the certificate. Where rounding lets the solver's own residual pass and the certificate fail by
  // a hair, it goes on from there with a tolerance a little tighter.
  const Criteria asked = criteria;
  for (int round = 0; round < 3; ++round) {
    Summary summary = solve<V>(*products, M, choice, b, x, criteria);
    outcome.summary = round == 0 ? std::move(summary) : joined(std::move(outcome.summary), std::move(summary));
    const Stopwatch certifying;
    outcome.certificate = certify(on, A, x, b, system.norm_inf_of_A);
    outcome.certify_seconds += certifying.seconds();
    const double norm_b = outcome.summary.norm_b;
    const double wanted =
        norm_b > 0 ? std::max(asked.relative_tolerance, asked.absolute_tolerance / norm_b) : asked.absolute_tolerance;
    outcome.solved = outcome.certificate.relative_residual <= wanted;
    if (outcome.solved || !outcome.summary.converged()) break;
    criteria.relative_tolerance *= 0.75;
    criteria.absolute_tolerance *= 0.75;
    criteria.max_iterations = asked.max_iterations - outcome.summary.iterations;
    criteria.seconds = asked.seconds - outcome.summary.seconds;
    if (criteria.max_iterations <= 0 || !(criteria.seconds > 0)) break;
  }
  outcome.solve_seconds = outcome.summary.seconds;

  // On a singular matrix rounding can grow beyond what the method sees: then the first guess is the best that there is.
  // Not before a factor 100: residuals of cg may rise on the way to the solution.
  if (!outcome.solved) {
    const double reached = outcome.certificate.relative_residual;
    V guess = system.x0.empty() ? V(on, std::int64_t(A.ncols)) : V(on, copied_to<Space>(system.x0));
    const Certificate of_guess = certify(on, A, guess, b, system.norm_inf_of_A);
    if (!(reached <= 100 * of_guess.relative_residual)) {
      outcome.summary.reason += formatted("; x is the first guess, for what came of it was worse: {}", brief(reached));
      outcome.summary.returned_iteration = 0;
      outcome.certificate = of_guess;
      x = std::move(guess);
    }
  }

  if (system.ones) {
    V error = like(x);
    fill(error, 1);
    axpy(-1, x, error);
    outcome.error_against_ones = max_abs(error);
  }
  outcome.x = copied_to<Host>(std::as_const(x).span());
  return outcome;
}

}  // namespace

template <class Offset>
Outcome solve_on(const Placement& where, const System<Offset>& system, const MethodChoice& choice,
                 const SymgsSettings& sweeps, const Criteria& criteria) {
  return with_backend(where, [&](const auto& on) { return solved_on(on, system, choice, sweeps, criteria); });
}

std::int64_t count_sweeps(const Placement& where, const CsrView<double, std::int64_t, Host>& A, Order order,
                          bool single) {
  const OpenMP on{where.backend == BackendName::openmp ? where.threads : 1};
  return single ? SymgsPreconditioner<double, std::int64_t, OpenMP, float>::bytes_needed(on, A, order)
                : SymgsPreconditioner<double, std::int64_t, OpenMP>::bytes_needed(on, A, order);
}

[[gnu::used]] static void instances(const Placement& where, const MethodChoice& choice) {
  solve_on(where, System<std::int32_t>{}, choice, SymgsSettings{}, {});
  solve_on(where, System<std::int64_t>{}, choice, SymgsSettings{}, {});
}

}  // namespace seidel::drivers
