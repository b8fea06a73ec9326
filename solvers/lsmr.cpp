// The method lsmr.
#include <seidel/solvers/lsmr.hpp>
#include <seidel/solvers/method_entry.hpp>

namespace seidel {

constinit const Method Method::lsmr = {
    .name = "lsmr",
    .help = "least squares, for any A, also rectangular or singular",
    .needs = Needs::nothing,
    .only_with = "none",
    .vectors = [](const MethodChoice&) -> std::int64_t { return lsmr_vectors - iterate_vectors; },
    .vectors_like_b = lsmr_vectors_like_b,
    .run = methods_detail::runs<false>(
        [](const auto& A, const auto& M, const MethodChoice&, const auto& b, auto& x, const Criteria& criteria) {
          if (!A.is_transposable())
            throw UsageError("lsmr: the operator has no product with A'; take a TransposableMatrix");
          return seidel::lsmr(A, M, b, x, criteria);
        })};

}  // namespace seidel
