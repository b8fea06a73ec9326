// A preconditioner that is an iteration itself: z is about A^-1 r, as well as a few steps of cg find it. What they do depends
// on r, so that no fixed matrix takes r to z. is_linear() says so, and cg and gmres are flexible then.
#include <cstdio>
#include <string>

#include <seidel/formats/generators/generate.hpp>
#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/gmres.hpp>
#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/preconditioners/jacobi.hpp>

/// z by cg with another preconditioner, to a tenth of ||r||.
template <class Matrix, class Precond>
struct InnerIteration {
  const Matrix& A;
  const Precond& M;

  template <class V>
  void apply(const V& r, V& z) const {
    fill(z, 0);
    seidel::cg(A, M, r, z, {.relative_tolerance = 0.1});
  }
  bool is_symmetric() const { return true; }
  bool is_linear() const { return false; }
};

int main() {
  const seidel::OpenMP on;  // all cores
  const auto matrix = seidel::generate(on, "elasticity3d:10");
  const seidel::MatrixOperator A(on, matrix.view());
  const seidel::JacobiPreconditioner jacobi(on, matrix.view());
  const InnerIteration inner{A, jacobi};

  auto b = A.range(), x = A.domain(), y = A.domain();
  fill(b, 1);
  const seidel::Summary by_cg = seidel::cg(A, inner, b, x);
  const seidel::Summary by_gmres = seidel::gmres(A, inner, b, y, {}, {.restart = 20});

  for (const auto& summary : {by_cg, by_gmres})
    std::printf("%s: %s after %lld iterations, ||b - A x|| / ||b|| = %.2e\n", summary.method.c_str(),
                std::string(to_string(summary.status)).c_str(), static_cast<long long>(summary.iterations),
                summary.relative_residual);
  return by_cg.converged() && by_gmres.converged() ? 0 : 1;
}
