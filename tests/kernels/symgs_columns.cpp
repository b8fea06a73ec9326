// Sweeps of several right-hand sides at once: the bits of each alone, in any layout.
#include "../backends.hpp"
#include "matrices.hpp"

#include <seidel/kernels/symgs/symgs.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Of a multivector with elements v.
template <class Real, class Space>
MultiVectorView<Real, Space> view_of(std::int64_t n, std::int64_t k, Layout layout, std::int64_t padding, Real* v) {
  return {n, k, (layout == Layout::row_major ? k : n) + padding, layout, v};
}
std::int64_t size_of(std::int64_t n, std::int64_t k, Layout layout, std::int64_t padding) {
  return layout == Layout::row_major ? n * (k + padding) : k * (n + padding);
}

}  // namespace

TEST_CASE_TEMPLATE("column j of a pair for k columns is the pair for column j, on every back end", Real, double,
                   float) {
  const unsigned seed = fresh_seed();
  std::vector<NamedPlain> matrices = {{"random", random_square(700, 5, seed)}};
  for (auto& named : awkward_to_sweep(seed))
    if (named.name == "1 x 1" || named.name == "dense 200 x 200" || named.name == "dense row" ||
        named.name == "one long chain" || named.name == "0 x 0")
      matrices.push_back(named);
  matrices.push_back({"lattice", poisson(9, 8, 7)});
  for (const auto& named : matrices)
    for (const std::int64_t k : {0, 1, 3, 8, 11, 64}) {
      const Plain& plain = named.plain;
      if (k > 11 && named.name != "random") continue;
      CAPTURE(named.name);
      CAPTURE(k);
      const std::int64_t n = plain.nrows();
      const Real omega = k % 2 ? Real(1) : Real(1.2);
      const auto A_host = csr_of<Real>(plain);
      const GaussSeidel<Real, std::int32_t, OpenMP> one(OpenMP{1}, A_host.view());
      std::vector<std::vector<Real>> b(k), x(k);
      for (std::int64_t j = 0; j < k; ++j) {
        b[j] = random_values<Real>(n, seed + unsigned(j));
        Array<Real> found(n);
        one.symmetric_from_zero(Array<Real>(b[j]), found, omega);
        x[j] = moved_back(OpenMP{1}, found);
      }
      for (const Layout from : {Layout::row_major, Layout::column_major})
        for (const Layout to : {Layout::row_major, Layout::column_major}) {
          std::vector<Real> R(size_of(n, k, from, 3)), X(size_of(n, k, to, 2), Real(-77)), expected = X;
          const auto R_view = view_of<Real, Host>(n, k, from, 3, R.data());
          const auto expected_view = view_of<Real, Host>(n, k, to, 2, expected.data());
          for (std::int64_t j = 0; j < k; ++j)
            for (std::int64_t i = 0; i < n; ++i) R_view(i, j) = b[j][i], expected_view(i, j) = x[j][i];
          on_every_backend([&](auto on) {
            const auto A = moved_to(on, A_host.view());
            const GaussSeidel<Real, std::int32_t, decltype(on)> sweeps(on, A.view());
            const auto R_there = moved_to(on, R);
            auto X_there = moved_to(on, X);
            for (int time = 0; time < 2; ++time)  // the second finds its memory there
              sweeps.symmetric_from_zero(view_of<const Real, SpaceOf<decltype(on)>>(n, k, from, 3, R_there.data()),
                                         view_of<Real, SpaceOf<decltype(on)>>(n, k, to, 2, X_there.data()), omega);
            on.synchronize();
            CHECK(differing(moved_back(on, X_there), expected) == 0);  // and nothing between the columns
          });
        }
    }
}

TEST_CASE("columns that do not fit are refused") {
  const auto A = csr_of<double>(poisson(2, 2, 2));
  const GaussSeidel<double, std::int32_t, OpenMP> sweeps(OpenMP{1}, A.view());
  std::vector<double> R(64), X(64);
  const auto refused = [&](std::int64_t n, std::int64_t k, std::int64_t padding) {
    CHECK_THROWS_AS(sweeps.symmetric_from_zero(view_of<const double, Host>(8, 3, Layout::row_major, 0, R.data()),
                                               view_of<double, Host>(n, k, Layout::row_major, padding, X.data())),
                    ShapeError);
  };
  refused(7, 3, 0), refused(8, 2, 0), refused(8, 3, -1);
}
