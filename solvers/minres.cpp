// The method minres.
#include <seidel/solvers/method_entry.hpp>
#include <seidel/solvers/minres.hpp>

namespace seidel {

constinit const Method Method::minres = {
    .name = "minres",
    .help = "minimal residuals, for symmetric A, definite or not",
    .needs = Needs::symmetric,
    .vectors = [](const MethodChoice&) -> std::int64_t { return minres_vectors - iterate_vectors; },
    .run = methods_detail::runs([](const auto& A, const auto& M, const MethodChoice&, const auto& b, auto& x,
                                   const Criteria& criteria) { return seidel::minres(A, M, b, x, criteria); })};

}  // namespace seidel
