// The method multigrid.
#include <seidel/solvers/method_entry.hpp>
#include <seidel/solvers/multigrid.hpp>

namespace seidel {

constinit const Method Method::multigrid = {
    .name = "multigrid",
    .help = "cycles of amg, one after the other; cg with amg is faster and solves more",
    .needs = Needs::definite,
    .takes_nonlinear = true,
    .only_with = "amg",
    .vectors = [](const MethodChoice&) -> std::int64_t { return multigrid_vectors - iterate_vectors; },
    .run = methods_detail::runs<false>([](const auto& A, const auto& M, const MethodChoice&, const auto& b, auto& x,
                                   const Criteria& criteria) { return seidel::multigrid(A, M, b, x, criteria); })};

}  // namespace seidel
