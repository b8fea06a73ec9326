// The method idr.
#include <seidel/solvers/idr.hpp>
#include <seidel/solvers/method_entry.hpp>

namespace seidel {

constinit const Method Method::idr = {
    .name = "idr",
    .help = "induced dimension reduction with 4 shadow vectors, IDR(4), for any square A",
    .vectors = [](const MethodChoice&) -> std::int64_t { return idr_vectors - iterate_vectors; },
    .run = methods_detail::runs([](const auto& A, const auto& M, const MethodChoice&, const auto& b, auto& x,
                                   const Criteria& criteria) { return seidel::idr(A, M, b, x, criteria); })};

}  // namespace seidel
