// The residual in twice the working precision, against four times as many bits.
#include "../backends.hpp"
#include "matrices.hpp"

#include <seidel/kernels/certificate/certificate.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Exact;  // 113 bits: not 106 + n, so its own error enters the bound
constexpr double exact_unit = 0x1p-113;
#else
using Exact = long double;
constexpr double exact_unit = std::numeric_limits<long double>::epsilon() / 2;
#endif

template <class Real>
std::vector<Real> certified(const auto& on, const Csr<Real, std::int32_t>& A, const std::vector<Real>& x,
                            const std::vector<Real>& b) {
  const auto A_on = moved_to(on, A.view());
  const auto x_on = moved_to(on, x), b_on = moved_to(on, b);
  auto r_on = moved_to(on, poisoned<Real>(A.nrows));
  certified_residual(on, A_on.view(), x_on, b_on, r_on);
  on.synchronize();
  return moved_back(on, r_on);
}

/// Rows whose error is above u |r| + 4 n u^2 (|b| + sum |a x|).
template <class Real>
std::int64_t rows_beyond_bound(const Csr<Real, std::int32_t>& A, const std::vector<Real>& x, const std::vector<Real>& b,
                               const std::vector<Real>& r) {
  const double u = std::numeric_limits<Real>::epsilon() / 2;
  std::int64_t beyond = 0;
  for (Index i = 0; i < A.nrows; ++i) {
    Exact exact = b[i];
    double magnitude = std::abs(b[i]);
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const Exact term = Exact(A.values[k]) * Exact(x[A.col_idx[k]]);
      exact -= term, magnitude += std::abs(double(term));
    }
    const double n = double(A.row_ptr[i + 1] - A.row_ptr[i]) + 1;
    const double error = std::abs(double(Exact(r[i]) - exact));
    const double bound = u * std::abs(double(exact)) + (4 * n * u * u + 2 * n * exact_unit) * magnitude;
    beyond += !(error <= bound);
  }
  return beyond;
}

}  // namespace

TEST_CASE_TEMPLATE("the certified residual is right to the last bits, even where everything cancels", Real, double,
                   float) {
  const unsigned seed = fresh_seed();
  const Plain plain = rows_of_lengths(awkward_lengths(), 100003, seed);
  const auto A = csr_of<Real>(plain);
  const auto x = random_values<Real>(plain.ncols, seed);
  Array<Real> x_host(x), product(A.nrows);
  spmv(OpenMP{1}, A.view(), x_host, product);  // b = A x to working precision: the residual is what rounding left
  for (const auto& b : {moved_back(OpenMP{1}, product), random_values<Real>(A.nrows, seed + 1)}) {
    const auto serial = certified<Real>(OpenMP{1}, A, x, b);
    CHECK(rows_beyond_bound(A, x, b, serial) == 0);
    on_every_backend([&](auto on) { CHECK(differing(certified<Real>(on, A, x, b), serial) == 0); });
  }
}

TEST_CASE("the working precision does not see what the certificate sees") {
  const auto A = csr_of<double>(Plain{3, {{{0, 1.0}, {1, 1.0}, {2, -1.0}}}});
  CHECK(certified<double>(OpenMP{1}, A, {1e17, 1, 1e17}, {0})[0] == -1);
  CHECK(certified<double>(OpenMP{1}, A, {1, 0x1p-60, 1}, {0x1p-60})[0] == 0);
}

TEST_CASE_TEMPLATE("sums of twice the precision are accurate, and exact where they can be", Real, double, float) {
  const Real u = std::numeric_limits<Real>::epsilon();
  const Twice<Real> a = two_sum(Real(1), u / 4), b{-1, 0};
  CHECK(a.high == 1);
  CHECK(a.low == u / 4);
  CHECK((a + b).high == u / 4);
  CHECK((a + b).low == 0);
  const Twice<Real> p = two_product(1 + u, 1 + u);
  CHECK(p.high == 1 + 2 * u);
  CHECK(p.low == u * u);
}

TEST_CASE("a row without entries leaves b, and shapes are checked") {
  const auto A = csr_of<double>(rows_of_lengths({0, 2}, 3, 1));
  CHECK(certified<double>(OpenMP{1}, A, {0, 0, 0}, {0.1, 0.2})[0] == 0.1);
  Array<double> two(2, 0.0), three(3, 0.0);
  CHECK_THROWS_AS(certified_residual(OpenMP{1}, A.view(), two, two, two), ShapeError);
  CHECK_THROWS_AS(certified_residual(OpenMP{1}, A.view(), three, three, two), ShapeError);
}
