// The method bicgstab.
#include <seidel/solvers/bicgstab.hpp>
#include <seidel/solvers/method_entry.hpp>

namespace seidel {

constinit const Method Method::bicgstab = {
    .name = "bicgstab",
    .help = "stabilised bi-conjugate gradients, for any square A",
    .vectors = [](const MethodChoice&) -> std::int64_t { return bicgstab_vectors - iterate_vectors; },
    .run = methods_detail::runs([](const auto& A, const auto& M, const MethodChoice&, const auto& b, auto& x,
                                   const Criteria& criteria) { return seidel::bicgstab(A, M, b, x, criteria); })};

}  // namespace seidel
