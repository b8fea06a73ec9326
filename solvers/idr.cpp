// The method idr.
#include <seidel/solvers/any.hpp>
#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/idr.hpp>

namespace seidel {

namespace {

struct Run {
  template <class V>
  static Summary run(const AnyOperator<V>& A, const AnyPreconditioner<V>& M, const MethodChoice&, const V& b, V& x,
                     const Criteria& criteria) {
    return idr(A, M, b, x, criteria);
  }
};

}  // namespace

constinit const Method Method::idr = {
    .name = "idr",
    .help = "induced dimension reduction with 4 shadow vectors, IDR(4), for any square A",
    .vectors = [](const MethodChoice&) -> std::int64_t { return idr_vectors - iterate_vectors; },
    .run = methods_detail::runs<Run>()};

}  // namespace seidel
