// What `seidel solve A.mtx` does, in a program: reads a matrix, chooses a method, solves, says what the answer is worth.
//
//   choose [A.mtx [x.mtx]]
#include <cstdio>

#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/matrix_market/matrix_market.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/statistics.hpp>
#include <seidel/kernels/products/product.hpp>
#include <seidel/solvers/certify.hpp>
#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/preconditioners/make.hpp>
#include <seidel/solvers/solve.hpp>

int main(int argc, char** argv) {
  const seidel::OpenMP on;  // all cores
  using V = seidel::Vector<double, seidel::OpenMP>;
  const auto matrix = argc > 1 ? seidel::read_matrix_market(argv[1]).matrix : seidel::generate(on, "convdiff:60");
  const auto A = matrix.view();
  const seidel::AnyOperator<V> products = seidel::MatrixOperator(on, seidel::Product(on, A));  // owns both
  V b(on, A.nrows), x(on, A.ncols);
  fill(x, 1);
  products.apply(x, b);  // so that ones are the answer
  fill(x, 0);

  const auto properties = seidel::properties(on, A);
  const auto statistics = seidel::row_statistics(on, A);
  const seidel::MethodChoice choice = choose_method(properties, statistics);
  std::printf("%s\n", choice.reason.c_str());
  const auto made = make_preconditioner(on, seidel::HereAndThere<seidel::OpenMP, std::int64_t>{A, A}, choice);
  const seidel::Criteria criteria{.relative_tolerance = 1e-10};
  const seidel::Summary summary = solve(products, made.M, choice, b, x, criteria);

  const auto worth = certify(on, A, x, b, properties.norm_inf);  // in twice the precision
  std::printf("%s: %s after %lld iterations, ||b - A x|| / ||b|| = %.1e, backward error %.1e\n", summary.method.c_str(),
              summary.reason.c_str(), static_cast<long long>(summary.iterations), worth.relative_residual,
              worth.backward_error);
  if (argc > 2) seidel::write_vector(argv[2], x.span());
  return worth.relative_residual <= criteria.relative_tolerance ? 0 : 1;
}
