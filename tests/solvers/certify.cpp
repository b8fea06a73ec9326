// The certificate against long double, and what it says at the edges.
#include "systems.hpp"

#include <seidel/formats/properties.hpp>
#include <seidel/solvers/certify.hpp>

using namespace seidel;
using namespace seidel::tests;

TEST_CASE("a certificate is the residual in long double and the backward error, the same bits on every back end") {
  const Matrix A = random_spd(fresh_seed(), 5000, 5);
  const auto exact = ones(A.nrows);
  const auto b = times(A, exact);
  for (double error : {1e-3, 1e-9, 1e-13}) {
    auto x = exact;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += (i % 2 ? error : -error);
    const double norm = properties(OpenMP{1}, A.view()).norm_inf;
    long double largest = 0, largest_x = 0, largest_b = 0;
    for (Index i = 0; i < A.nrows; ++i) {
      long double r = b[i];
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) r -= (long double)A.values[k] * x[A.col_idx[k]];
      largest = std::max(largest, std::abs(r));
      largest_x = std::max(largest_x, std::abs((long double)x[i]));
      largest_b = std::max(largest_b, std::abs((long double)b[i]));
    }
    std::vector<Certificate> all;
    on_every_backend([&](auto on) {
      using V = Vector<double, decltype(on)>;
      const auto there = moved_to(on, A.view());
      all.push_back(certify(on, there.view(), V(on, moved_to(on, x)), V(on, moved_to(on, b)), norm));
    });
    CHECK(all[0].relative_residual == doctest::Approx(true_residual(A, x, b)).epsilon(1e-5));
    CHECK(all[0].backward_error == doctest::Approx(double(largest / (norm * largest_x + largest_b))).epsilon(1e-5));
    for (const Certificate& c : all) {
      CHECK(c.relative_residual == all[0].relative_residual);
      CHECK(c.backward_error == all[0].backward_error);
    }
  }
}

TEST_CASE("a certificate at the edges: x = 0, b = 0, nothing") {
  const OpenMP on{1};
  using V = Vector<double, OpenMP>;
  const Matrix A = poisson(4);
  V zero(on, 16), one(on, 16);
  fill(one, 1);
  CHECK(certify(on, A.view(), zero, zero, 8).relative_residual == 0);
  CHECK(certify(on, A.view(), zero, zero, 8).backward_error == 0);
  CHECK(certify(on, A.view(), zero, one, 8).relative_residual == 1);
  CHECK(certify(on, A.view(), zero, one, 8).backward_error == 1);
  CHECK(certify(on, A.view(), one, zero, 8).relative_residual > 0);
  V hidden(on, 16);  // where A has no entries b - A x does not show it
  hidden.span()[3] = std::numeric_limits<double>::quiet_NaN();
  CHECK(certify(on, matrix_of(16, std::vector<Row>(16)).view(), hidden, zero, 8).relative_residual > 1e300);
  // Beyond the range: a product of norms, and the norm of A itself, which is then taken for less than it is.
  V huge(on, 16);
  fill(huge, 1e300);
  CHECK(certify(on, matrix_of(16, std::vector<Row>(16)).view(), huge, one, 1e300).backward_error == 0);  // below 1e-600
  CHECK(certify(on, matrix_of(16, std::vector<Row>(16)).view(), huge, huge, 1e10).backward_error ==
        doctest::Approx(1e-10));
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(certify(on, matrix_of(16, std::vector<Row>(16)).view(), one, huge, infinity).backward_error ==
        doctest::Approx(1e300 / (std::numeric_limits<double>::max() + 1e300)));
  const Matrix nothing = matrix_of(0, {});
  CHECK(certify(on, nothing.view(), V(on, 0), V(on, 0), 0).backward_error == 0);
}
