// Products and residuals: every format and back end by == with the serial CSR product, and that against long double.
#include <algorithm>
#include <numeric>

#include "../backends.hpp"
#include "matrices.hpp"

#include <seidel/kernels/spmv/spmv.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Errors beyond n u sum |a_ij x_j| in units of that bound (one more rounding for a residual): at most 1 when all is
/// well.
template <class Real>
double worst_error(const Plain& A, const std::vector<Real>& x, const std::vector<Real>* b, const std::vector<Real>& y) {
  const long double u = std::numeric_limits<Real>::epsilon() / 2;
  double worst = 0;
  for (std::int64_t i = 0; i < A.nrows(); ++i) {
    long double sum = 0, magnitude = 0;
    for (const auto& [col, value] : A.rows[i]) {
      const long double term = static_cast<long double>(Real(value)) * x[col];
      sum += term, magnitude += std::abs(term);
    }
    if (b) sum = (*b)[i] - sum, magnitude += std::abs((*b)[i]);
    const long double error = std::abs(y[i] - sum), bound = (A.rows[i].size() + 2) * u * magnitude;
    worst = std::max(worst, !(error <= bound) ? 2 : bound > 0 ? double(error / bound) : 0);
  }
  return worst;
}

/// check(name, view on its back end, back end) for each format.
template <class Real, class Check>
void in_every_format(const Plain& plain, const auto& on, const Check& check) {
  using Space = SpaceOf<std::decay_t<decltype(on)>>;
  std::vector<Index> by_length(plain.nrows());
  std::iota(by_length.begin(), by_length.end(), 0);
  std::stable_sort(by_length.begin(), by_length.end(),
                   [&](Index i, Index j) { return plain.rows[i].size() > plain.rows[j].size(); });
  check("CSR, 32-bit offsets", copied_to<Space>(on, csr_of<Real, std::int32_t>(plain).view()).view());
  check("CSR, 64-bit offsets", copied_to<Space>(on, csr_of<Real, std::int64_t>(plain).view()).view());
  std::size_t width = 0;
  for (const auto& row : plain.rows) width = std::max(width, row.size());
  if (width <= 5000) check("ELL", copied_to<Space>(on, ell_of(csr_of<Real>(plain)).view()).view());
  check("SELL-4", copied_to<Space>(on, sell_of(csr_of<Real>(plain), 4).view()).view());
  check("SELL-32, sorted", copied_to<Space>(on, sell_of(csr_of<Real>(plain), 32, by_length).view()).view());
}

template <class Real>
void check_products(const Plain& plain, unsigned seed) {
  const auto x = random_values<Real>(plain.ncols, seed), b = random_values<Real>(plain.nrows(), seed + 1);
  const auto A = csr_of<Real>(plain);
  std::vector<Real> y(plain.nrows()), r(plain.nrows());
  for (std::int64_t i = 0; i < plain.nrows(); ++i) {
    const auto row = row_at(A.view(), i, x.data());
    y[i] = sum_of_products<Real>(row.length, row.term);
    r[i] = b[i] - y[i];
  }
  CHECK(worst_error<Real>(plain, x, nullptr, y) <= 1);
  CHECK(worst_error<Real>(plain, x, &b, r) <= 1);
  on_every_backend([&](auto on) {
    using B = decltype(on);
    const auto x_on = moved_to(on, x), b_on = moved_to(on, b);
    in_every_format<Real>(plain, on, [&](const char* format, const auto& matrix) {
      CAPTURE(format);
      auto y_on = moved_to(on, poisoned<Real>(plain.nrows())), r_on = moved_to(on, poisoned<Real>(plain.nrows()));
      spmv<B>(on, matrix, x_on, y_on);
      residual<B>(on, matrix, x_on, b_on, r_on);
      on.synchronize();
      CHECK(differing(moved_back(on, y_on), y) == 0);
      CHECK(differing(moved_back(on, r_on), r) == 0);
    });
  });
}

}  // namespace

TEST_CASE_TEMPLATE("products have the same bits in every format and on every back end, at every seam", Real, double,
                   float) {
  const unsigned seed = fresh_seed();
  SUBCASE("rows of every length") { check_products<Real>(rows_of_lengths(awkward_lengths(), 100003, seed), seed); }
  SUBCASE("every length up to 70, shuffled, many") {
    std::vector<std::int64_t> lengths(3000);
    std::mt19937_64 random(seed);
    for (auto& n : lengths) n = random() % 71;
    check_products<Real>(rows_of_lengths(lengths, 4000, seed), seed);
  }
  SUBCASE("no rows") { check_products<Real>(Plain{5, {}}, seed); }
  SUBCASE("no columns") { check_products<Real>(rows_of_lengths({0, 0, 0}, 0, seed), seed); }
  SUBCASE("empty rows only") { check_products<Real>(rows_of_lengths({0, 0, 0}, 7, seed), seed); }
  SUBCASE("rows of 14 to 65 entries with the columns of the row before, plus one, but for one in some") {
    const auto values = random_values<double>(70, seed);
    Plain plain{800, std::vector<Row>(624)};
    for (Index i = 0; i < 624; ++i)
      for (Index k = 0; k < 14 + i / 12; ++k)
        plain.rows[i].emplace(i + 2 * k + (i % 31 == 5 && k == i % 13), values[(i + k) % 70]);
    check_products<Real>(plain, seed);
  }
  SUBCASE("nodes of three rows of 60 to 140, or some 2048, entries with the same columns, but for one in some") {
    const auto values = random_values<double>(70, seed);
    std::mt19937_64 random(seed);
    Plain plain{5000, std::vector<Row>(1)};  // no node begins at a multiple of three
    for (Index node = 0; node < 90; ++node)
      for (Index i = 0, other = node % 3 == 1 ? Index(random() % 3) : -1, which = Index(random() % 60); i < 3; ++i) {
        const Index length = node < 81 ? 60 + node : 2043 + node % 9;
        plain.rows.emplace_back();
        for (Index k = 0; k < length; ++k)
          plain.rows.back().emplace(node + 2 * k + (i == other && k == which), values[(i + k) % 70]);
        if (random() % 8 == 0) plain.rows.emplace_back();  // a row between
      }
    check_products<Real>(plain, seed);
  }
  SUBCASE("lattice") { check_products<Real>(poisson(23, 24, 25), seed); }
}

TEST_CASE("a residual may overwrite b") {
  const auto A = csr_of<double>(poisson(4, 5, 6));
  const Array<double> x(random_values<double>(120, 1));
  std::vector<double> b = random_values<double>(120, 2);
  Array<double> apart(120), in_place(b), b_on(b);
  residual(OpenMP{1}, A.view(), x, b_on, apart);
  residual(OpenMP{1}, A.view(), x, in_place, in_place);
  CHECK(differing(moved_back(OpenMP{1}, apart), moved_back(OpenMP{1}, in_place)) == 0);
}

TEST_CASE("NaN and infinity reach the rows that hold them, and no others") {
  const double inf = std::numeric_limits<double>::infinity();
  const auto A = csr_of<double>(Plain{3, {{{0, 1.0}}, {{1, inf}}, {{2, 1.0}}}});
  Array<double> x(std::vector<double>{std::numeric_limits<double>::quiet_NaN(), 1, 2}), y(3);
  spmv(OpenMP{1}, A.view(), x, y);
  CHECK(y[0] != y[0]);
  CHECK(y[1] == inf);
  CHECK(y[2] == 2);
}

TEST_CASE("NaN and infinity stay in their rows where rows of uneven lengths are summed side by side") {
  Plain plain{3, {}};
  for (Index i = 0; i < 64; ++i) {
    plain.rows.emplace_back();
    for (Index col = 0; col < (i % 4 == 1 ? 3 : i % 3); ++col) plain.rows[i].emplace(col, 1.0);
  }
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const auto A = csr_of<double>(plain);
  Array<double> x(std::vector<double>{2, inf, nan}), y(std::vector<double>(64, nan));
  spmv(OpenMP{1}, A.view(), x, y);
  for (Index i = 0; i < 64; ++i) {
    CAPTURE(i);
    const auto length = plain.rows[i].size();
    CHECK((length == 3 ? y[i] != y[i] : y[i] == (length == 2 ? inf : length == 1 ? 2 : 0)));
  }
}

TEST_CASE("vectors that do not fit the matrix are refused") {
  const auto A = csr_of<double>(rows_of_lengths({1, 2}, 3, 1));
  Array<double> two(2, 0.0), three(3, 0.0);
  CHECK_THROWS_AS(spmv(OpenMP{1}, A.view(), two, two), ShapeError);
  CHECK_THROWS_AS(spmv(OpenMP{1}, A.view(), three, three), ShapeError);
  CHECK_THROWS_AS(residual(OpenMP{1}, A.view(), three, three, two), ShapeError);
  CHECK_NOTHROW(residual(OpenMP{1}, A.view(), three, two, two));
}
