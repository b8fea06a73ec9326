// Solves with the method of a MethodChoice, and goes on with another, or without a preconditioner, where the choice was
// seidel's own and A does not suit it.
#pragma once
#include <algorithm>
#include <optional>

#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/any.hpp>
#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/preconditioners/identity.hpp>
#include <seidel/solvers/summary.hpp>

namespace seidel {

namespace solve_detail {

/// Whether another method may do what this one could not: not, when time is up or the numbers are at their limit.
inline bool may_go_on(const Summary& summary, double norm_inf_of_A) {
  return summary.status == Status::indefinite || summary.status == Status::breakdown ||
         (summary.status == Status::stagnated && !summary.met_limit_of_precision(norm_inf_of_A));
}

inline bool goes_on_with(const MethodChoice& choice, const Method& method) {
  return std::ranges::find(choice.fallbacks, method) != choice.fallbacks.end();
}

template <class V>
Summary run(const Method& method, const MethodChoice& choice, const AnyOperator<V>& A, const AnyPreconditioner<V>& M,
            const V& b, V& x, const Criteria& criteria) {
  return std::get<RunMethod<V>>(method.run)(A, M, choice, b, x, criteria);
}

}  // namespace solve_detail

/// Runs choice.method. Where that ends indefinite, in a breakdown, or stuck where rounding does not explain it, goes on
/// with the first of choice.fallbacks, from the best x so far, and so on, and returns the best one; where the last
/// one breaks down, too, with gmres without M, if choice.may_drop_preconditioner: numbers of sweeps that do not suit A
/// grow beyond all bounds. Then minres and idr go on without M as well: where one method failed with it, others do better
/// alone (docs/notes/methods.md). Where A is indefinite and choice.may_try_gmres, gmres is tried with M before, as long
/// as each of its restarts gains a digit. criteria.seconds is for all together, max_iterations for each. The Summary is
/// that of the last method, with its reason; `attempts` tells of all.
///
/// Shapes, errors  as each method.
template <class V>
Summary solve(const AnyOperator<V>& A, const AnyPreconditioner<V>& M, const MethodChoice& choice, const V& b, V& x,
              const Criteria& criteria = {}) {
  using namespace solve_detail;
  std::optional<V> best;  // before the last method
  if (!choice.fallbacks.empty()) copy(x, best.emplace(like(x)));
  Summary last = run(choice.method, choice, A, M, b, x, criteria);
  std::vector<Attempt> attempts = {last.as_attempt()};
  Criteria rest = criteria;
  const auto has_done_harm = [&] { return !(last.relative_residual <= last.history.front()); };
  const auto go_on = [&](const Method& method, const AnyPreconditioner<V>& with) {
    has_done_harm() ? copy(*best, x) : copy(x, *best);
    rest.seconds = std::max(0.0, rest.seconds - last.seconds);
    last = run(method, choice, A, with, b, x, rest);
    attempts.push_back(last.as_attempt());
  };
  const auto go_on_alone = [&](const Method& method) {
    go_on(method, IdentityPreconditioner{});
    attempts.back().preconditioned = false;
  };
  if (last.status == Status::indefinite && choice.may_try_gmres && goes_on_with(choice, Method::gmres)) {
    rest.impatient = true;
    go_on(Method::gmres, M);
    rest.impatient = false;
  }
  for (const Method& next : choice.fallbacks) {
    if (!may_go_on(last, choice.norm_inf)) break;
    if (next == Method::gmres || !choice.may_drop_preconditioner)
      go_on(next, M);
    else
      go_on_alone(next);
  }
  if (best && choice.may_drop_preconditioner && last.status == Status::breakdown) go_on_alone(Method::gmres);
  if (attempts.size() > 1 && has_done_harm()) {
    copy(*best, x);
    last.norm_x = norm2(x);
    last.relative_residual = last.history.front();
    last.returned_iteration = 0;
    last.reason += "; returned the x before it, which is better";
  }
  last.attempts = std::move(attempts);
  return last;
}

// Compiled in the library, so that a program need not.
extern template Summary solve(const AnyOperator<Vector<double, OpenMP>>&,
                              const AnyPreconditioner<Vector<double, OpenMP>>&, const MethodChoice&,
                              const Vector<double, OpenMP>&, Vector<double, OpenMP>&, const Criteria&);
extern template Summary solve(const AnyOperator<Vector<double, Cuda>>&, const AnyPreconditioner<Vector<double, Cuda>>&,
                              const MethodChoice&, const Vector<double, Cuda>&, Vector<double, Cuda>&, const Criteria&);

}  // namespace seidel
