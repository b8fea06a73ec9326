// Products of a multigrid cycle: against their formulas in double precision, and the same bits on every back end.
#include "../backends.hpp"
#include "../matrices.hpp"

#include <functional>
#include <random>

#include <seidel/formats/generators/generate.hpp>
#include <seidel/kernels/level_products/level_products.hpp>
#include <seidel/kernels/spgemm/spgemm.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Rows of 0 to 2 * mean entries, and one with an entry in each column; square ones have their diagonal.
Matrix random_rows(std::mt19937_64& random, Index nrows, Index ncols, int mean) {
  std::vector<Row> rows(nrows);
  for (Index i = 0; i < nrows && ncols > 0; ++i) {
    for (int k = int(random() % (2 * mean + 1)); k > 0; --k)
      rows[i][Index(random() % std::uint64_t(ncols))] = random_value(random);
    if (nrows == ncols) rows[i][i] = 2;
  }
  if (nrows > 2)
    for (Index j = 0; j < ncols; ++j) rows[2][j] = random_value(random);
  auto A = csr_of<double, std::int64_t>(Plain{nrows, rows});
  A.ncols = ncols;
  return A;
}

/// Positive, every tenth 0.
std::vector<double> scales(std::mt19937_64& random, Index n) {
  std::vector<double> v(n);
  for (double& e : v)
    e = random() % 10 == 0 ? 0 : std::ldexp(1 + std::abs(random_value(random)), int(random() % 20) - 10);
  return v;
}

std::vector<float> floats(std::mt19937_64& random, Index n) {
  std::vector<float> v(n);
  for (float& e : v) e = float(random_value(random));
  return v;
}

struct Sum {
  double value = 0, size = 0;  // of the terms, and of their magnitudes
  void add(double term) { value += term, size += std::abs(term); }
};

/// `rows` in each of the layouts, filled where others of the same pattern were: y = 0.5 v - 2 w + 3 M x, for M x given by
/// `expected`.
template <class RowsOn>
void check_products(std::mt19937_64& random, Index nrows, Index ncols, const RowsOn& rows_on,
                    const std::function<void(Index, const std::vector<float>&, Sum&)>& expected) {
  const auto x = floats(random, ncols), v = floats(random, nrows), w = floats(random, nrows);
  const auto scale = scales(random, nrows);
  for (const int lanes : {1, 4, 8, 32}) {
    CAPTURE(lanes);
    std::vector<float> first;
    on_every_backend([&](auto on) {
      using Space = typename decltype(on)::Space;
      poison(on);
      rows_on(on, [&](const auto& rows, const auto& others) {
        auto M = level_matrix(on, nrows, ncols, lanes, others);
        CHECK(M.bytes() >= 4 * M.step_ptr.size());
        refill(on, rows, M);
        const auto fresh = level_matrix(on, nrows, ncols, lanes, rows);
        CHECK(moved_back(on, M.values) == moved_back(on, fresh.values));
        CHECK(moved_back(on, M.col_idx) == moved_back(on, fresh.col_idx));
        const auto x_there = moved_to(on, x), v_there = moved_to(on, v), w_there = moved_to(on, w);
        auto y = moved_to(on, std::vector<float>(nrows, std::numeric_limits<float>::quiet_NaN()));
        const Combination sum{.product = 3, .terms = {{0.5, v_there.data()}, {}, {-2, w_there.data()}}};
        level_product(on, M.view(), x_there.data(), sum, y.data());
        const auto result = moved_back(on, y);
        for (Index i = 0; i < nrows; ++i) {
          Sum s;
          expected(i, x, s);
          s.value = 3 * s.value + 0.5 * v[i] - 2.0 * w[i];
          s.size = 3 * s.size + std::abs(v[i]) + 2 * std::abs(w[i]);
          REQUIRE(std::abs(result[i] - s.value) <= (ncols + 8) * 0x1p-24 * s.size);
        }
        if (first.empty()) first = result;
        CHECK(result == first);
        // The same, leaving single precision.
        const auto scale_there = moved_to(on, scale), of_call = moved_to(on, std::vector<double>{0x1p-70});
        auto z = moved_to(on, std::vector<double>(nrows, std::numeric_limits<double>::quiet_NaN()));
        level_product(on, M.view(), x_there.data(), sum, ScaledResult{z.data(), scale_there.data(), 4, of_call.data()});
        const auto outside = moved_back(on, z);
        for (Index i = 0; i < nrows; ++i) REQUIRE(outside[i] == double(first[i]) * scale[i] * 0x1p-68);
        static_assert(std::is_same_v<Space, typename decltype(on)::Space>);
      });
    });
  }
}

}  // namespace

TEST_CASE("level matrices: rows scaled from both sides, with and without their diagonal, in any layout") {
  std::mt19937_64 random(fresh_seed());
  for (const auto& [nrows, ncols, off_diagonal] : {std::tuple{0, 5, false},
                                                   {1, 1, true},
                                                   {33, 33, true},
                                                   {1000, 700, false},
                                                   {70, 0, false},
                                                   {257, 257, true},
                                                   {3000, 3000, true}}) {
    CAPTURE(nrows);
    CAPTURE(ncols);
    const Matrix A = random_rows(random, nrows, ncols, 6);
    const auto left = scales(random, nrows), right = scales(random, ncols), other_left = scales(random, nrows);
    check_products(
        random, nrows, ncols,
        [&](const auto& on, const auto& use) {
          using Space = typename std::decay_t<decltype(on)>::Space;
          const auto there = moved_to(on, A.view());
          const auto l = moved_to(on, left), r = moved_to(on, right), other = moved_to(on, other_left);
          use(level_detail::ScaledRows<std::int64_t, Space>{there.view(), l, r, off_diagonal},
              level_detail::ScaledRows<std::int64_t, Space>{there.view(), other, r, off_diagonal});
        },
        [&](Index i, const std::vector<float>& x, Sum& sum) {
          for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
            if (const Index j = A.col_idx[k]; !off_diagonal || j != i) sum.add(left[i] * A.values[k] * right[j] * x[j]);
        });
  }
}

TEST_CASE("level matrices: the correction with the sweep after it") {
  std::mt19937_64 random(fresh_seed());
  const Index n = 500, m = 60;
  const Matrix A = random_rows(random, n, n, 4), P = random_rows(random, n, m, 2),
               AP = spgemm(OpenMP{1}, A.view(), P.view());
  const auto left = scales(random, n), right = scales(random, m), inverse_diagonal = scales(random, n),
             other_left = scales(random, n);
  constexpr double omega = 0.7;
  check_products(
      random, n, m,
      [&](const auto& on, const auto& use) {
        using Space = typename std::decay_t<decltype(on)>::Space;
        const auto P_there = moved_to(on, P.view()), AP_there = moved_to(on, AP.view());
        const auto l = moved_to(on, left), r = moved_to(on, right), d = moved_to(on, inverse_diagonal),
                   other = moved_to(on, other_left);
        use(level_detail::CorrectionRows<std::int64_t, Space>{AP_there.view(), P_there.view(), omega, d, l, r},
            level_detail::CorrectionRows<std::int64_t, Space>{AP_there.view(), P_there.view(), 2 * omega, d, other, r});
      },
      [&](Index i, const std::vector<float>& x, Sum& sum) {
        for (auto k = P.row_ptr[i]; k < P.row_ptr[i + 1]; ++k)
          sum.add(left[i] * P.values[k] * right[P.col_idx[k]] * x[P.col_idx[k]]);
        for (auto k = AP.row_ptr[i]; k < AP.row_ptr[i + 1]; ++k)
          sum.add(-omega * inverse_diagonal[i] * left[i] * AP.values[k] * right[AP.col_idx[k]] * x[AP.col_idx[k]]);
      });
}

TEST_CASE("scales to a unit diagonal: zero, negative and vanishing entries have none") {
  const Matrix R = csr_of<double, std::int64_t>(Plain{2, {{{0, 3.0}, {1, 4.0}}, {{2, 1.0}}}});
  on_every_backend([&](auto on) {
    using Space = typename decltype(on)::Space;
    const auto there = moved_to(on, R.view());
    const auto scaled = [&](std::vector<double> inverse_diagonal, CsrView<double, std::int64_t, Space> of) {
      const auto d = moved_to(on, inverse_diagonal), before = moved_to(on, std::vector<double>{1, 1, 1});
      auto scale = moved_to(on, inverse_diagonal), inverse = moved_to(on, inverse_diagonal);
      Array<double, Space> sizes(on, of.nrows);
      sizes_of_modes(on, of, before.span(), sizes.span());
      scale_to_unit_diagonal(on, {d, sizes, -7, scale, inverse});
      return std::pair(moved_back(on, scale), moved_back(on, inverse));
    };
    using Pair = std::pair<std::vector<double>, std::vector<double>>;
    CHECK(scaled({4, 0, -4}, {}) == Pair{{2, 0, -7}, {0.5, 0, 0}});
    CHECK(scaled({4, 0x1p42}, there.view()) == Pair{{2, 0}, {0.5, 0}});
    CHECK(scaled({0x1p36, 0x1p38}, there.view()) == Pair{{0, 0x1p19}, {0, 0x1p-19}});
  });
}

TEST_CASE("level matrices: several vectors side by side have the bits that each has alone") {
  std::mt19937_64 random(fresh_seed());
  const Index nrows = 517, ncols = 301;
  const Matrix A = random_rows(random, nrows, ncols, 9);
  const auto left = scales(random, nrows), right = scales(random, ncols), numbers = scales(random, 50);
  on_every_backend([&](auto on) {
    using Space = typename decltype(on)::Space;
    poison(on);
    const auto there = moved_to(on, A.view());
    const auto l = moved_to(on, left), r = moved_to(on, right), of_call = moved_to(on, numbers);
    const level_detail::ScaledRows<std::int64_t, Space> rows{there.view(), l, r};
    for (const int lanes : {1, 4, 8, 32})
      for (const int used : {1, 2, 4, 7, 20}) {
        CAPTURE(lanes);
        CAPTURE(used);
        const int k = padded_columns<Space>(used);
        const auto M = level_matrix(on, nrows, ncols, lanes, rows);
        const auto x = floats(random, ncols * k), v = floats(random, nrows * k);
        const auto x_there = moved_to(on, x), v_there = moved_to(on, v);
        auto Y = moved_to(on, std::vector<float>(nrows * k, std::numeric_limits<float>::quiet_NaN()));
        MultiVector<double, Space> Z(on, nrows, used, Layout::column_major, nrows + 3);
        level_product(on, M.view(), k, x_there.data(), {.product = -3, .terms = {{0.5, v_there.data()}}}, Y.data());
        level_product(on, M.view(), k, x_there.data(), {.product = -3, .terms = {{0.5, v_there.data()}}},
                      ScaledColumns<Space>{Z.view(), l.data(), 4, of_call.data()});
        const auto y = moved_back(on, Y);
        const auto z = copied_to<Host>(on, std::as_const(Z.elements()).span());
        for (int j = 0; j < k; ++j) {
          std::vector<float> x_j(ncols), v_j(nrows);
          for (Index i = 0; i < ncols; ++i) x_j[i] = x[i * k + j];
          for (Index i = 0; i < nrows; ++i) v_j[i] = v[i * k + j];
          const auto alone_x = moved_to(on, x_j), alone_v = moved_to(on, v_j);
          auto alone = moved_to(on, std::vector<float>(nrows));
          level_product(on, M.view(), alone_x.data(), {.product = -3, .terms = {{0.5, alone_v.data()}}}, alone.data());
          const auto expected = moved_back(on, alone);
          for (Index i = 0; i < nrows; ++i) {
            REQUIRE(y[i * k + j] == expected[i]);
            if (j < used) REQUIRE(z[j * (nrows + 3) + i] == double(expected[i]) * left[i] * 4 * numbers[2 * j]);
          }
        }
      }
  });
}

TEST_CASE("level matrices: rows of few kinds have the bits of their entries one after the other") {
  std::mt19937_64 random(fresh_seed());
  const Matrix lattice = generate(OpenMP{1}, "hpcg:11x9x10");
  constexpr Index first = 3;  // the column of the diagonal entry of row 0
  Matrix A{lattice.nrows, lattice.ncols + first, copied_to<Host>(OpenMP{1}, lattice.row_ptr),
           copied_to<Host>(OpenMP{1}, lattice.col_idx), copied_to<Host>(OpenMP{1}, lattice.values)};
  for (Index& c : A.col_idx) c += first;
  const Index n = A.nrows;
  const double s = std::sqrt(1 / 26.0);
  const std::vector<double> equal(std::size_t(A.ncols), s);
  auto uneven = equal;
  uneven[std::size_t(n / 2)] *= 2;
  const int k = 2 * group_columns;
  const auto x = floats(random, A.ncols * k), v = floats(random, n * k);
  /// Of column j: y = -3 A^ x + v / 2.
  const auto expected = [&](const Matrix& of, double scale, Index i, int j, int columns) {
    float sum = 0;
    for (auto e = of.row_ptr[i]; e < of.row_ptr[i + 1]; ++e)
      if (of.col_idx[e] != first + i)
        sum = std::fma(float(of.values[e] * (scale * scale)), x[std::size_t(of.col_idx[e] * columns + j)], sum);
    return std::fma(-3.0f, sum, 0.5f * v[std::size_t(i * columns + j)]);
  };
  on_every_backend([&](auto on) {
    using Space = typename decltype(on)::Space;
    poison(on);
    auto there = moved_to(on, A.view());
    const auto scale = moved_to(on, equal), other_scale = moved_to(on, uneven);
    const auto x_there = moved_to(on, x), v_there = moved_to(on, v);
    const auto rows = [&](const auto& by) {
      return level_detail::ScaledRows<std::int64_t, Space>{std::as_const(there).view(), by, by, true, first};
    };
    const auto check_with = [&](const LevelMatrix<Space>& M, const Matrix& of, double by) {
      for (const int columns : {1, k}) {
        auto y = moved_to(on, std::vector<float>(std::size_t(n * columns), std::numeric_limits<float>::quiet_NaN()));
        const Combination sum{.product = -3, .terms = {{0.5, v_there.data()}}};
        columns == 1 ? level_product(on, M.view(), x_there.data(), sum, y.data())
                     : level_product(on, M.view(), columns, x_there.data(), sum, y.data());
        const auto found = moved_back(on, y);
        for (Index i = 0; i < n; ++i)
          for (int j = 0; j < columns; ++j)
            REQUIRE(found[std::size_t(i * columns + j)] == expected(of, by, i, j, columns));
      }
    };
    auto M = level_matrix(on, n, A.ncols, 1, rows(scale));
    CHECK(M.kinds);
    CHECK(M.bytes() < 4 * n);
    check_with(M, A, s);
    CHECK(!level_matrix(on, n, A.ncols, 1, rows(other_scale)).kinds);
    CHECK(!level_matrix(on, n, A.ncols, 8, rows(scale)).kinds);

    // New values: those of a lattice, then others.
    auto twice = copied_to<Host>(OpenMP{1}, A.view());
    for (double& value : twice.values) value *= 2;
    there.values = moved_to(on, std::vector<double>(twice.values.begin(), twice.values.end()));
    const auto half_scale = moved_to(on, std::vector<double>(std::size_t(A.ncols), std::sqrt(1 / 52.0)));
    refill(on, rows(half_scale), M);
    CHECK(M.kinds);
    check_with(M, twice, std::sqrt(1 / 52.0));
    for (double& value : twice.values)
      if (value < 0) value = random_value(random);
    there.values = moved_to(on, std::vector<double>(twice.values.begin(), twice.values.end()));
    refill(on, rows(half_scale), M);
    CHECK(!M.kinds);
    check_with(M, twice, std::sqrt(1 / 52.0));
  });
}
