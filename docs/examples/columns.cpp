// Several right-hand sides at once: the matrix and the levels of amg are read once for all of them.
#include <cstdio>
#include <vector>

#include <seidel/formats/generators/generate.hpp>
#include <seidel/solvers/cg_columns.hpp>
#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/preconditioners/amg.hpp>

int main() {
  using V = seidel::Vector<double, seidel::OpenMP>;
  const seidel::OpenMP on;
  const auto A = seidel::generate(on, "elasticity3d:8");
  const seidel::MatrixOperator products(on, seidel::Product(on, A.view()));  // a Product takes columns together
  const seidel::AmgPreconditioner<std::int64_t, seidel::OpenMP> M(on, A.view());

  std::vector<V> b, x;
  for (int j = 0; j < 5; ++j) {
    b.emplace_back(on, std::int64_t(A.nrows));
    x.emplace_back(on, std::int64_t(A.nrows));  // zeros: where each column starts
    seidel::fill_hashed(b.back(), std::uint64_t(j));
  }
  bool solved = true;
  for (const seidel::Summary& summary : seidel::cg(products, M, b, x)) {
    std::printf("%s after %d iterations, residual %.1e\n", summary.converged() ? "solved" : "not solved",
                int(summary.iterations), summary.relative_residual);
    solved = solved && summary.converged();
  }
  return solved ? 0 : 1;
}
