// A sequence of systems whose matrices have one pattern, as time steps or Newton's method make them: what depends on the
// pattern is found once, and each new matrix brings only its values.
//
// Here heat flows through a square plate whose conductivity k(u) = 1 + u depends on its temperature u: each step of length dt
// solves (I + dt K(u)) u_new = u, where row i of K sums k (u_i - u_j) over the neighbours j of point i.
#include <cstdio>

#include <seidel/formats/generators/generate.hpp>
#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/preconditioners/amg.hpp>

using namespace seidel;

namespace {

/// The values of I + dt K(u) in the pattern of A.
void set_values(Csr<double, std::int64_t>& A, const Array<double>& u, double dt) {
  for (Index i = 0; i < A.nrows; ++i) {
    double diagonal = 1;
    std::int64_t its_place = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const Index j = A.col_idx[k];
      if (j == i) {
        its_place = k;
        continue;
      }
      A.values[k] = -dt * (1 + (u[i] + u[j]) / 2);
      diagonal -= A.values[k];
    }
    A.values[its_place] = diagonal;
  }
}

double sum(const Array<double>& u) {
  double heat = 0;
  for (const double value : u) heat += value;
  return heat;
}

}  // namespace

int main() {
  const OpenMP on;  // all cores
  const Index m = 200;
  Csr<double, std::int64_t> A = generate(on, "poisson2d:200");
  Array<double> start(A.nrows);
  for (Index i = 0; i < A.nrows; ++i) start[i] = i / m < m / 2 && i % m < m / 2 ? 1 : 0;  // a corner is hot
  const double heat = sum(start);
  set_values(A, start, 10);

  MatrixOperator product(on, Product(on, A.view()));
  AmgPreconditioner<std::int64_t, OpenMP> M(on, A.view());
  Vector<double, OpenMP> b(on, copied_to<Host>(on, start.span())), u(on, A.nrows);
  copy(b, u);
  int iterations = 0;
  for (int step = 1; step <= 5; ++step) {
    const Summary summary = cg(product, M, b, u, Criteria{.relative_tolerance = 1e-10});  // from the temperature before
    if (!summary.converged()) return 1;
    iterations += summary.iterations;
    copy(u, b);
    set_values(A, copied_to<Host>(on, u.span()), 10);
    product.update_values(std::as_const(A).values.span());
    M.update_values(A.view());
  }
  const double kept = sum(copied_to<Host>(on, u.span())) / heat;
  std::printf("5 steps in %d iterations, %s; heat kept: %.9f\n", iterations, M.describe().c_str(), kept);
  return kept > 1 - 1e-6 && kept < 1 + 1e-6 ? 0 : 1;
}
