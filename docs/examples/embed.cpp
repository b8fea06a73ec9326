// Solves A x = b with arrays that the program already has: they are viewed, not copied.
#include <cstdio>

#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/preconditioners/symgs.hpp>

int main() {
  const std::int32_t row_ptr[] = {0, 2, 5, 7}, col_idx[] = {0, 1, 0, 1, 2, 1, 2};
  const double values[] = {2, -1, -1, 2, -1, -1, 2};
  const seidel::CsrView<double, std::int32_t, seidel::Host> A{3, 3, {row_ptr, 4}, {col_idx, 7}, {values, 7}};
  const seidel::OpenMP on;  // all cores
  seidel::Vector<double, seidel::OpenMP> b(on, 3), x(on, 3);
  fill(b, 1);
  const auto summary = cg(seidel::MatrixOperator(on, A), seidel::SymgsPreconditioner(on, A), b, x);
  for (double value : x.span()) std::printf("%g\n", value);
  return summary.converged() ? 0 : 1;
}
