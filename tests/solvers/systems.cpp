// The solvers as tests call them, compiled once.
#include "systems.hpp"

namespace seidel::tests {

template <class B>
AnyPreconditioner<Vector<double, B>> preconditioner(const B& on, const Matrix& A,
                                               const CsrView<double, std::int64_t, SpaceOf<B>>& there, const How& how) {
  if (how.preconditioner == PreconditionerKind::none) return IdentityPreconditioner{};
  if (how.preconditioner == PreconditionerKind::jacobi) return JacobiPreconditioner(on, A.view());
  if (how.form == Form::eisenstat)
    return SplitSymgsPreconditioner<double, std::int64_t, B>(on, A.view(), there);
  return SymgsPreconditioner(on, A.view(), how.order);
}

template <class B>
Outcome solve_on(const B& on, const How& how, const Matrix& A, const std::vector<double>& b, const Criteria& criteria,
                 std::vector<double> x0) {
  using V = Vector<double, B>;
  const auto there = copied_to<SpaceOf<B>>(A.view());
  const AnyOperator<V> op(MatrixOperator(on, there.view()));
  const V rhs(on, moved_to(on, b));
  x0.resize(A.ncols);
  V x(on, moved_to(on, x0));
  Outcome outcome;
  outcome.summary = solve(op, preconditioner(on, A, there.view(), how),
                          {how.method, how.preconditioner, how.order, how.restart, how.fallback, "", how.form}, rhs, x, criteria);
  if constexpr (!HostBackend<B>) on.synchronize();
  outcome.x.resize(A.ncols);
  copy_bytes(Host{}, outcome.x.data(), SpaceOf<B>{}, x.span().data(), x.size() * std::int64_t(sizeof(double)));
  return outcome;
}

namespace {

/// Never called: names every instance, so that its code is emitted here.
template <class B>
[[gnu::used]] void instances(const B& on) {
  preconditioner(on, Matrix{}, {}, {});
  solve_on(on, {}, Matrix{}, {});
}
template void instances(const Serial&);
template void instances(const OpenMP&);
/// B = Cuda where there is CUDA; otherwise nothing.
template <bool cuda>
[[gnu::used]] void instances_if(const std::conditional_t<cuda, Cuda, Serial>& on) {
  if constexpr (cuda) instances(on);
}
template void instances_if<built_with_cuda>(const std::conditional_t<built_with_cuda, Cuda, Serial>&);

}  // namespace

}  // namespace seidel::tests
