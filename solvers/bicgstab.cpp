// The method bicgstab.
#include <seidel/solvers/any.hpp>
#include <seidel/solvers/bicgstab.hpp>
#include <seidel/solvers/choose_method.hpp>

namespace seidel {

namespace {

struct Run {
  template <class V>
  static Summary run(const AnyOperator<V>& A, const AnyPreconditioner<V>& M, const MethodChoice&, const V& b, V& x,
                     const Criteria& criteria) {
    return bicgstab(A, M, b, x, criteria);
  }
};

}  // namespace

constinit const Method Method::bicgstab = {
    .name = "bicgstab",
    .help = "stabilised bi-conjugate gradients, for any square A",
    .vectors = [](const MethodChoice&) -> std::int64_t { return bicgstab_vectors - iterate_vectors; },
    .run = methods_detail::runs<Run>()};

}  // namespace seidel
