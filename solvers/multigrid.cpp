// The method multigrid.
#include <seidel/solvers/any.hpp>
#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/multigrid.hpp>

namespace seidel {

namespace {

struct Run {
  template <class V>
  static Summary run(const AnyOperator<V>& A, const AnyPreconditioner<V>& M, const MethodChoice&, const V& b, V& x,
                     const Criteria& criteria) {
    return multigrid(A, M, b, x, criteria);
  }
};

}  // namespace

constinit const Method Method::multigrid = {
    .name = "multigrid",
    .help = "cycles of amg, one after the other; cg with amg is faster and solves more",
    .needs = Needs::definite,
    .only_with = "amg",
    .vectors = [](const MethodChoice&) -> std::int64_t { return multigrid_vectors - iterate_vectors; },
    .run = methods_detail::runs<Run>()};

}  // namespace seidel
