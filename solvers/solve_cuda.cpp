// solve() for vectors on a GPU: the same solvers, compiled for the host, which leads.
#include <seidel/solvers/solve.hpp>

namespace seidel {

template Summary solve(const AnyOperator<Vector<double, Cuda>>&, const AnyPreconditioner<Vector<double, Cuda>>&,
                       const MethodChoice&, const Vector<double, Cuda>&, Vector<double, Cuda>&, const Criteria&);

}  // namespace seidel
