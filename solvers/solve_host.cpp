// solve() for vectors on the host.
#include <seidel/solvers/solve.hpp>

namespace seidel {

template Summary solve(const AnyOperator<Vector<double, Serial>>&, const AnyPreconditioner<Vector<double, Serial>>&,
                       const MethodChoice&, const Vector<double, Serial>&, Vector<double, Serial>&, const Criteria&);
template Summary solve(const AnyOperator<Vector<double, OpenMP>>&, const AnyPreconditioner<Vector<double, OpenMP>>&,
                       const MethodChoice&, const Vector<double, OpenMP>&, Vector<double, OpenMP>&, const Criteria&);

}  // namespace seidel
