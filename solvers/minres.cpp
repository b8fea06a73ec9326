// The method minres.
#include <seidel/solvers/any.hpp>
#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/minres.hpp>

namespace seidel {

namespace {

struct Run {
  template <class V>
  static Summary run(const AnyOperator<V>& A, const AnyPreconditioner<V>& M, const MethodChoice&, const V& b, V& x,
                     const Criteria& criteria) {
    return minres(A, M, b, x, criteria);
  }
};

}  // namespace

constinit const Method Method::minres = {
    .name = "minres",
    .help = "minimal residuals, for symmetric A, definite or not",
    .needs = Needs::symmetric,
    .vectors = [](const MethodChoice&) -> std::int64_t { return minres_vectors - iterate_vectors; },
    .run = methods_detail::runs<Run>()};

}  // namespace seidel
