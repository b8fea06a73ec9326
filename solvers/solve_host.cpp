// solve() for vectors on the host.
#include <seidel/solvers/solve.hpp>

namespace seidel {

template Summary solve(const AnyOperator<Vector<double, OpenMP>>&, const AnyPreconditioner<Vector<double, OpenMP>>&,
                       const MethodChoice&, const Vector<double, OpenMP>&, Vector<double, OpenMP>&, const Criteria&);

}  // namespace seidel
