// Solves with the method of a MethodChoice, and goes on with another where the choice was seidel's own and A does not
// suit it.
#pragma once
#include <seidel/solvers/any.hpp>
#include <seidel/solvers/bicgstab.hpp>
#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/eisenstat.hpp>
#include <seidel/solvers/gmres.hpp>

namespace seidel {

namespace solve_detail {

/// Whether another method may do what this one could not: not, when time is up or the numbers are at their limit.
inline bool may_go_on(const Summary& summary) {
  const bool at_limit_of_precision = summary.status == Status::stagnated && !summary.truth_checks.empty();
  return summary.status == Status::indefinite || summary.status == Status::breakdown ||
         (summary.status == Status::stagnated && !at_limit_of_precision);
}

inline Attempt attempt_of(const Summary& s) {
  return {s.method, s.status, s.reason, s.iterations, s.relative_residual, s.seconds, s.curvature};
}

template <class V>
Summary run(Method method, const MethodChoice& choice, const AnyOperator<V>& A, const AnyPreconditioner<V>& M,
            const V& b, V& x, const Criteria& criteria) {
  switch (method) {
    case Method::cg:
      if (choice.form == Form::plain) return cg(A, M, b, x, criteria);
      if (!M.is_split())
        throw UsageError(
            "Eisenstat's form: the preconditioner does not give its halves; take SplitSymgsPreconditioner");
      return eisenstat_cg(A, M, b, x, criteria);
    case Method::bicgstab: return bicgstab(A, M, b, x, criteria);
    case Method::gmres: break;
  }
  return gmres(A, M, b, x, criteria, {.restart = choice.restart});
}

}  // namespace solve_detail

/// Runs choice.method. Where that ends indefinite, stuck or in a breakdown, goes on with choice.fallback, if there is
/// one, from the better of the first guess and what was reached. criteria.seconds is for both together, max_iterations
/// for each. The Summary is that of the last method, with its reason; `attempts` tells of all.
///
/// Shapes, errors  as cg, bicgstab and gmres.
template <class V>
Summary solve(const AnyOperator<V>& A, const AnyPreconditioner<V>& M, const MethodChoice& choice, const V& b, V& x,
              const Criteria& criteria = {}) {
  using namespace solve_detail;
  if (!choice.fallback) {
    Summary summary = run(choice.method, choice, A, M, b, x, criteria);
    summary.attempts = {attempt_of(summary)};
    return summary;
  }
  V guess = like(x);
  copy(x, guess);
  Summary first = run(choice.method, choice, A, M, b, x, criteria);
  std::vector<Attempt> attempts = {attempt_of(first)};
  if (!may_go_on(first)) {
    first.attempts = std::move(attempts);
    return first;
  }
  if (!(first.relative_residual <= first.history.front())) copy(guess, x);
  Criteria rest = criteria;
  rest.seconds = std::max(0.0, criteria.seconds - first.seconds);
  Summary last = run(*choice.fallback, choice, A, M, b, x, rest);
  attempts.push_back(attempt_of(last));
  last.attempts = std::move(attempts);
  return last;
}

// Compiled in the library, so that a program need not.
extern template Summary solve(const AnyOperator<Vector<double, Serial>>&,
                              const AnyPreconditioner<Vector<double, Serial>>&, const MethodChoice&,
                              const Vector<double, Serial>&, Vector<double, Serial>&, const Criteria&);
extern template Summary solve(const AnyOperator<Vector<double, OpenMP>>&,
                              const AnyPreconditioner<Vector<double, OpenMP>>&, const MethodChoice&,
                              const Vector<double, OpenMP>&, Vector<double, OpenMP>&, const Criteria&);
extern template Summary solve(const AnyOperator<Vector<double, Cuda>>&, const AnyPreconditioner<Vector<double, Cuda>>&,
                              const MethodChoice&, const Vector<double, Cuda>&, Vector<double, Cuda>&, const Criteria&);

}  // namespace seidel
