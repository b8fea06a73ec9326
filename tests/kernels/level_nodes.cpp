// Matrices of a cycle whose rows belong to nodes: the sums that the rows have alone, bit for bit, whatever they share.
#include "../backends.hpp"
#include "../matrices.hpp"

#include <functional>
#include <random>

#include <seidel/kernels/level_products/level_products.hpp>
#include <seidel/kernels/spgemm/spgemm.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Nodes of `rows` rows with 0 to 2 * mean blocks of `columns` columns; a square matrix has its diagonal in nodes that are not
/// empty.
Matrix random_nodes(std::mt19937_64& random, Index nodes, Index rows, Index columns, Index blocks, int mean) {
  std::vector<Row> made(std::size_t(nodes) * rows);
  for (Index node = 0; node < nodes && blocks > 0; ++node) {
    std::vector<Index> chosen;
    for (int k = int(random() % (2 * mean + 1)); k > 0; --k) chosen.push_back(Index(random() % std::uint64_t(blocks)));
    if (!chosen.empty() && nodes * rows == blocks * columns) chosen.push_back(node);
    for (Index r = 0; r < rows; ++r)
      for (const Index block : chosen)
        for (Index c = 0; c < columns; ++c) made[node * rows + r][block * columns + c] = random_value(random);
  }
  return matrix_of(blocks * columns, made);
}

std::vector<double> numbers(std::mt19937_64& random, std::int64_t n) {
  std::vector<double> v(n);
  for (double& e : v)
    e = random() % 10 == 0 ? 0 : std::ldexp(1 + std::abs(random_value(random)), int(random() % 20) - 10);
  return v;
}
std::vector<float> floats(std::mt19937_64& random, std::int64_t n) {
  std::vector<float> v(n);
  for (float& e : v) e = float(random_value(random));
  return v;
}

/// What level_product() says of a row, whose entries are given in the order of their columns.
float sum_in_lanes(const std::vector<std::pair<Index, float>>& row, int lanes, const std::vector<float>& x, int k,
                   int j) {
  std::vector<float> sums(lanes);
  for (std::size_t e = 0; e < row.size(); ++e)
    sums[e % lanes] = std::fma(row[e].second, x[std::size_t(row[e].first) * k + j], sums[e % lanes]);
  for (int width = lanes / 2; width; width /= 2)
    for (int lane = 0; lane < width; ++lane) sums[lane] = sums[lane] + sums[lane + width];
  return sums[0];
}

/// The products of `rows`, laid out in every way, of 1 and of 12 vectors; `entries` are those of each row, as they are.
template <class RowsOn>
void check_bits(std::mt19937_64& random, const Matrix& A, bool of_nodes, const RowsOn& rows_on,
                const std::function<std::vector<std::pair<Index, float>>(Index)>& entries) {
  constexpr int k = 12;
  const auto x = floats(random, std::int64_t(A.ncols) * k), v = floats(random, std::int64_t(A.nrows) * k);
  for (const int lanes : {1, 4, 8, 32}) {
    CAPTURE(lanes);
    std::vector<float> one(A.nrows), many(std::size_t(A.nrows) * k);
    for (Index i = 0; i < A.nrows; ++i) {
      const auto row = entries(i);
      one[i] = std::fma(3.0f, sum_in_lanes(row, lanes, x, 1, 0), std::fma(0.5f, v[i], 0.0f));
      for (int j = 0; j < k; ++j)
        many[i * k + j] = std::fma(3.0f, sum_in_lanes(row, lanes, x, k, j), std::fma(0.5f, v[i * k + j], 0.0f));
    }
    on_every_backend([&](auto on) {
      using Space = typename decltype(on)::Space;
      poison(on);
      rows_on(on, [&](const auto& rows, const auto& others) {
        auto M = level_matrix(on, A.nrows, A.ncols, lanes, others);
        if constexpr (std::is_same_v<Space, Host>) CHECK((M.nodes.rows > 1) == (of_nodes && lanes >= 8));
        refill(on, rows, M);
        const auto x_there = moved_to(on, x), v_there = moved_to(on, v);
        for (const bool fresh : {false, true}) {
          if (fresh) M = level_matrix(on, A.nrows, A.ncols, lanes, rows);
          const Combination sum{.product = 3, .terms = {{0.5, v_there.data()}}};
          const float nan = std::numeric_limits<float>::quiet_NaN();
          auto y = moved_to(on, std::vector<float>(A.nrows, nan)),
               Y = moved_to(on, std::vector<float>(std::size_t(A.nrows) * k, nan));
          level_product(on, M.view(), x_there.data(), sum, y.data());
          level_product(on, M.view(), k, x_there.data(), sum, Y.data());
          CHECK(moved_back(on, y) == one);
          CHECK(moved_back(on, Y) == many);
        }
      });
    });
  }
}

/// S_left A S_right, with and without its diagonal.
void check_scaled(std::mt19937_64& random, const Matrix& A, bool of_nodes) {
  const auto left = numbers(random, A.nrows), right = numbers(random, A.ncols), other = numbers(random, A.nrows);
  for (const bool off_diagonal : {false, true}) {
    if (off_diagonal && A.nrows != A.ncols) continue;
    CAPTURE(off_diagonal);
    check_bits(
        random, A, of_nodes,
        [&](const auto& on, const auto& use) {
          using Space = typename std::decay_t<decltype(on)>::Space;
          const auto there = moved_to(on, A.view());
          const auto l = moved_to(on, left), r = moved_to(on, right), o = moved_to(on, other);
          use(level_detail::ScaledRows<std::int64_t, Space>{there.view(), l, r, off_diagonal},
              level_detail::ScaledRows<std::int64_t, Space>{there.view(), o, r, off_diagonal});
        },
        [&](Index i) {
          std::vector<std::pair<Index, float>> row;
          for (auto e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
            if (const Index j = A.col_idx[e]; !off_diagonal || j != i)
              row.emplace_back(j, float(A.values[e] * (left[i] * right[j])));
          return row;
        });
  }
}

}  // namespace

TEST_CASE("level matrices of nodes: each row has the bits that it has alone") {
  std::mt19937_64 random(fresh_seed());
  for (const auto& [nodes, rows, columns, blocks, mean] : {std::tuple{1, 3, 3, 1, 1},
                                                           {1, 6, 6, 1, 1},
                                                           {67, 2, 2, 67, 6},
                                                           {131, 3, 3, 131, 9},
                                                           {45, 4, 4, 45, 5},
                                                           {45, 5, 5, 45, 5},
                                                           {45, 6, 6, 45, 30},
                                                           {90, 3, 6, 31, 4},
                                                           {31, 6, 3, 90, 20},
                                                           {70, 2, 1, 113, 40},
                                                           {700, 3, 3, 700, 12}}) {
    CAPTURE(nodes);
    CAPTURE(rows);
    CAPTURE(columns);
    Matrix A = random_nodes(random, nodes, rows, columns, blocks, mean);
    const auto first_differs = [&] { return A.row_ptr[1] == 0 || A.nrows < 2; };
    while (first_differs()) A = random_nodes(random, nodes, rows, columns, blocks, mean);
    check_scaled(random, A, true);
  }
}

TEST_CASE("level matrices of what are no nodes: columns that differ, a row too many, rows that are too long") {
  std::mt19937_64 random(fresh_seed());
  std::vector<Row> rows(60);
  for (Index i = 0; i < 60; ++i)
    for (Index j = i / 3 * 3; j < std::min(60, i / 3 * 3 + 9); ++j) rows[i][j] = random_value(random);
  check_scaled(random, matrix_of(60, rows), true);
  auto other_column = rows;
  other_column[59].erase(57);
  other_column[59][0] = 1;
  check_scaled(random, matrix_of(60, other_column), false);
  auto a_row_more = rows;
  a_row_more.push_back({{60, 2.0}});
  check_scaled(random, matrix_of(61, a_row_more), false);
  std::vector<Row> too_long(4);
  for (Row& row : too_long)
    for (Index j = 0; j < 5000; ++j) row[j] = random_value(random);
  check_scaled(random, matrix_of(5000, too_long), false);
  check_scaled(random, matrix_of(5, {{{1, 2.0}}}), false);
  check_scaled(random, matrix_of(1, {{{0, 2.0}}, {{0, 3.0}}, {}}), false);
}

TEST_CASE("level matrices of nodes: the correction with the sweep after it") {
  std::mt19937_64 random(fresh_seed());
  Matrix P, AP;
  do {  // the first rows, which tell how many are a node, have entries
    const Matrix A = random_nodes(random, 200, 3, 3, 200, 5);
    P = random_nodes(random, 200, 3, 6, 20, 1), AP = spgemm(OpenMP{1}, A.view(), P.view());
  } while (AP.row_ptr[1] == 0);
  const auto left = numbers(random, AP.nrows), right = numbers(random, P.ncols), inverse = numbers(random, AP.nrows),
             other = numbers(random, AP.nrows);
  constexpr double omega = 0.7;
  check_bits(
      random, AP, true,
      [&](const auto& on, const auto& use) {
        using Space = typename std::decay_t<decltype(on)>::Space;
        const auto P_there = moved_to(on, P.view()), AP_there = moved_to(on, AP.view());
        const auto l = moved_to(on, left), r = moved_to(on, right), d = moved_to(on, inverse), o = moved_to(on, other);
        use(level_detail::CorrectionRows<std::int64_t, Space>{AP_there.view(), P_there.view(), omega, d, l, r},
            level_detail::CorrectionRows<std::int64_t, Space>{AP_there.view(), P_there.view(), 2 * omega, d, o, r});
      },
      [&](Index i) {
        std::vector<std::pair<Index, float>> row;
        for (auto e = AP.row_ptr[i]; e < AP.row_ptr[i + 1]; ++e) {
          double p = 0;
          for (auto f = P.row_ptr[i]; f < P.row_ptr[i + 1]; ++f)
            if (P.col_idx[f] == AP.col_idx[e]) p = P.values[f];
          const double factor = -omega * inverse[i];
          row.emplace_back(
              AP.col_idx[e],
              left[i] == 0 ? 0.0f : float(std::fma(factor, AP.values[e], p) * (left[i] * right[AP.col_idx[e]])));
        }
        return row;
      });
}
