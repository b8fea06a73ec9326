// Aggregation of nodes: each step against its definition, and the same on every back end.
#include "../backends.hpp"
#include "../matrices.hpp"

#include <set>

#include <seidel/kernels/aggregation/aggregates.hpp>
#include <seidel/kernels/aggregation/near_null.hpp>
#include <seidel/kernels/aggregation/nodes.hpp>
#include <seidel/kernels/aggregation/tentative.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Symmetric, its diagonal dominant: `nodes` of `block` rows. `density` of the entries in a coupled block are stored.
Matrix in_blocks(unsigned seed, Index nodes, Index block, int mean, double density) {
  std::mt19937_64 random(seed);
  std::vector<Row> rows(std::size_t(nodes) * block);
  const auto couple = [&](Index I, Index J) {
    for (Index i = I * block; i < (I + 1) * block; ++i)
      for (Index j = J * block; j < (J + 1) * block; ++j)
        if (i != j && random_value(random) < 2 * density - 1)
          rows[std::size_t(i)][j] = rows[std::size_t(j)][i] = random_value(random);
  };
  for (Index I = 0; I < nodes; ++I) {
    couple(I, I);
    for (int k = 0; k < mean && I > 0; ++k) couple(I, Index(random() % std::uint64_t(I)));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double sum = 1;
    for (const auto& [j, a] : rows[i]) sum += std::abs(a);
    if (i % 61 != 7 || !rows[i].empty()) rows[i][Index(i)] = sum;
  }
  return matrix_of(Index(rows.size()), rows);
}

struct Case {
  std::string name;
  Matrix A;
  Index block;
};
std::vector<Case> cases(unsigned seed) {
  std::vector<Case> all;
  all.push_back({"one node", in_blocks(seed, 1, 3, 0, 1), 3});
  all.push_back({"two nodes", in_blocks(seed, 2, 3, 1, 1), 3});
  for (const Index block : {1, 2, 3, 6, 16}) all.push_back({"full blocks", in_blocks(seed, 900, block, 2, 1), block});
  all.push_back({"blocks with holes", in_blocks(seed, 700, 3, 4, 0.3), 3});
  all.push_back({"empty rows", in_blocks(seed, 2000, 1, 0, 0), 1});
  return all;
}

/// Column c of `count`: random, but column 2 depends on the two before it, and column 4 is zero.
std::vector<double> some_modes(unsigned seed, std::int64_t n, Index count) {
  std::mt19937_64 random(seed);
  std::vector<double> modes(std::size_t(n * count));
  for (Index c = 0; c < count; ++c)
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = [&](Index column) -> double& { return modes[std::size_t(column * n + i)]; };
      at(c) = c == 2 ? at(0) - 3 * at(1) : c == 4 ? 0 : random_value(random);
    }
  return modes;
}

constexpr double omega = 0.7;

struct Steps {
  Index per_node;
  std::vector<std::int64_t> node_ptr, row_ptr, P_ptr;
  std::vector<Index> node_col, of_node, col_idx, P_col;
  std::vector<double> node_values, values, P_values, coarse_modes, completed;
  bool operator==(const Steps&) const = default;
};

template <class B>
Steps steps(const B& on, const Matrix& A, Index block, const std::vector<double>& modes) {
  using Space = SpaceOf<B>;
  const auto owned = moved_to(on, A.view());
  const auto there = owned.view();
  poison(on);
  const auto scales = row_scales<B, std::int64_t>(on, there);
  const auto nodes = node_matrix<B, std::int64_t>(on, there, block, Blocks::any);
  const auto scales_of_nodes = row_scales<B, std::int64_t>(on, nodes.view());
  Array<Index, Space> neighbour(on, nodes.nnz());
  mark_strong<B, std::int64_t>(on, nodes.view(), scales_of_nodes, Strength::to_both, 0, neighbour);
  const auto found =
      aggregates<B, std::int64_t>(on, nodes.view(), {nodes.row_ptr, neighbour}, scales_of_nodes, RootSets::one);
  const auto B_there = moved_to(on, modes);
  auto made = tentative<B, std::int64_t>(
      on, there, scales.inverse_diagonal, found.of_row, found.count, block,
      {A.nrows, std::int64_t(modes.size()) / A.nrows, A.nrows, Layout::column_major, B_there.data()});
  const auto P = smoothed<B, std::int64_t>(on, there, scales.inverse_diagonal, omega, made.T.view());
  Steps result{unknowns_per_node<B, std::int64_t>(on, there),
               moved_back(on, nodes.row_ptr),
               moved_back(on, made.T.row_ptr),
               moved_back(on, P.row_ptr),
               moved_back(on, nodes.col_idx),
               moved_back(on, found.of_row),
               moved_back(on, made.T.col_idx),
               moved_back(on, P.col_idx),
               moved_back(on, nodes.values),
               moved_back(on, made.T.values),
               moved_back(on, P.values),
               moved_back(on, made.coarse_modes.elements()),
               {}};
  auto completed = copied_to<Space>(on, there);
  complete_coarse<B, std::int64_t>(on, completed.view(), completed.values, 1.5);
  result.completed = moved_back(on, completed.values);
  return result;
}

}  // namespace

TEST_CASE("unknowns per node are as many consecutive rows as have the same columns throughout") {
  const auto found = [](const Matrix& A) { return unknowns_per_node<OpenMP, std::int64_t>(OpenMP{2}, A.view()); };
  for (const Index block : {1, 2, 3, 4, 5, 6}) CHECK(found(in_blocks(1, 500, block, 3, 1)) == block);
  CHECK(found(in_blocks(1, 300, 8, 3, 1)) == 4);  // halves of them
  CHECK(found(in_blocks(1, 300, 7, 3, 1)) == 1);
  CHECK(found(in_blocks(1, 300, 3, 4, 0.9)) == 1);
  CHECK(found(matrix_of(0, {})) == 1);
  CHECK(found(matrix_of(1, {{{0, 1.0}}})) == 1);
  std::vector<Row> rows(601);  // a row more
  for (Index i = 0; i < 601; ++i) rows[std::size_t(i)] = i < 600 ? Row{{i / 3 * 3, 1.0}} : Row{{i, 1.0}};
  CHECK(found(matrix_of(601, rows)) == 1);
  rows.pop_back();
  CHECK(found(matrix_of(600, rows)) == 3);
  rows[599] = {{599, 1.0}};  // the last one only
  CHECK(found(matrix_of(600, rows)) == 1);
}

TEST_CASE("the matrix of nodes has the largest magnitude of each block") {
  for (const auto& [name, A, block] : cases(fresh_seed())) {
    CAPTURE(name);
    std::vector<Row> expected(std::size_t(A.nrows / block));
    for (Index i = 0; i < A.nrows; ++i)
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        double& a = expected[std::size_t(i / block)][A.col_idx[k] / block];
        const double largest = std::max(std::abs(a), std::abs(A.values[k]));
        a = A.col_idx[k] / block == i / block ? largest : -largest;
      }
    const Matrix wanted = matrix_of(A.nrows / block, expected);
    const bool full = unknowns_per_node<OpenMP, std::int64_t>(OpenMP{1}, A.view()) % block == 0;
    CHECK(full == (name != "blocks with holes" && block <= 6));
    for (const Blocks blocks : {Blocks::any, Blocks::full}) {
      if (blocks == Blocks::full && !full) continue;
      on_every_backend([&](auto on) {
        using B = decltype(on);
        const auto there = moved_to(on, A.view());
        poison(on);
        const auto nodes = node_matrix<B, std::int64_t>(on, there.view(), block, blocks);
        CHECK(moved_back(on, nodes.row_ptr) == moved_back(OpenMP{1}, wanted.row_ptr));
        CHECK(moved_back(on, nodes.col_idx) == moved_back(OpenMP{1}, wanted.col_idx));
        CHECK(moved_back(on, nodes.values) == moved_back(OpenMP{1}, wanted.values));
      });
    }
  }
}

TEST_CASE("the tentative prolongator is an orthonormal basis of the near-null vectors on each aggregate") {
  const unsigned seed = fresh_seed();
  for (const auto& [name, A, block] : cases(seed))
    for (const Index count : {1, 3, 7}) {
      CAPTURE(name);
      CAPTURE(count);
      const auto modes = some_modes(seed, A.nrows, count);
      const Steps s = steps(OpenMP{1}, A, block, modes);
      const Index aggregates = s.of_node.empty() ? 0 : 1 + *std::max_element(s.of_node.begin(), s.of_node.end());
      const std::int64_t coarse = std::int64_t(aggregates) * count;
      REQUIRE(std::int64_t(s.coarse_modes.size()) == coarse * count);
      const std::vector<long double> nothing(std::size_t(count), 0.0L);
      std::vector<std::vector<long double>> products(std::size_t(coarse), nothing);
      std::vector<std::int64_t> rows_of(std::size_t(aggregates) + 1);
      for (Index i = 0; i < A.nrows; ++i) {
        const Index a = s.of_node[std::size_t(i / block)];
        const auto first = s.row_ptr[std::size_t(i)];
        REQUIRE(s.row_ptr[std::size_t(i) + 1] - first == (a >= 0 ? count : 0));
        if (a < 0) continue;
        const bool zero_row = A.row_ptr[i] == A.row_ptr[i + 1];  // in a node whose other rows are not zero
        rows_of[std::size_t(a)] += !zero_row;
        for (Index c = 0; c < count; ++c) {
          REQUIRE(s.col_idx[std::size_t(first + c)] == a * count + c);
          long double back = 0;  // (T B_c)(i, c)
          for (Index p = 0; p < count; ++p) {
            const long double t = s.values[std::size_t(first + p)];
            back += t * s.coarse_modes[std::size_t(c * coarse + a * count + p)];
            products[std::size_t(a * count + c)][std::size_t(p)] += t * s.values[std::size_t(first + c)];
          }
          const double mode = zero_row ? 0 : modes[std::size_t(std::int64_t(c) * A.nrows + i)];
          REQUIRE(double(back) == doctest::Approx(mode).epsilon(1e-9));
        }
      }
      for (Index a = 0; a < aggregates; ++a)
        for (Index c = 0; c < count; ++c) {
          const bool dropped = s.coarse_modes[std::size_t(c * coarse + a * count + c)] == 0;
          // Random columns are independent, as far as there are rows for them.
          const int before = c - (c > 2) - (c > 4);
          CHECK(dropped == (c == 2 || c == 4 || before >= rows_of[std::size_t(a)]));
          for (Index p = 0; p < count; ++p) {
            const double product = double(products[std::size_t(a * count + c)][std::size_t(p)]);
            REQUIRE(std::abs(product - (p == c && !dropped ? 1 : 0)) <= 1e-6);
            if (p < c) CHECK(s.coarse_modes[std::size_t(p * coarse + a * count + c)] == 0);
          }
        }
    }
}

TEST_CASE("the smoothed prolongator is (I - omega D^-1 A) T") {
  const unsigned seed = fresh_seed();
  for (const auto& [name, A, block] : cases(seed)) {
    CAPTURE(name);
    const Steps s = steps(OpenMP{1}, A, block, some_modes(seed, A.nrows, 3));
    for (Index i = 0; i < A.nrows; ++i) {
      std::map<Index, long double> row;
      long double diagonal = 0;
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (A.col_idx[k] == i) diagonal = A.values[k];
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        for (auto t = s.row_ptr[std::size_t(A.col_idx[k])]; t < s.row_ptr[std::size_t(A.col_idx[k]) + 1]; ++t)
          row[s.col_idx[std::size_t(t)]] +=
              ((A.col_idx[k] == i) - omega * A.values[k] / diagonal) * s.values[std::size_t(t)];
      REQUIRE(s.P_ptr[std::size_t(i) + 1] - s.P_ptr[std::size_t(i)] == std::int64_t(row.size()));
      for (auto k = s.P_ptr[std::size_t(i)]; k < s.P_ptr[std::size_t(i) + 1]; ++k)
        REQUIRE(std::abs(s.P_values[std::size_t(k)] - double(row.at(s.P_col[std::size_t(k)]))) <= 1e-13);
    }
  }
}

TEST_CASE("a coarse matrix is divided by the correction, and zeros on its diagonal become ones") {
  const Matrix A = matrix_of(3, {{{0, 3.0}, {1, 0.0}, {2, 6.0}}, {{0, 0.0}, {1, 0.0}}, {{0, 6.0}, {2, 0.0}}});
  Matrix completed = copy_of(A);
  complete_coarse<OpenMP, std::int64_t>(OpenMP{1}, completed.view(), completed.values, 1.5);
  const std::vector<double> expected = {2, 0, 4, 0, 1, 4, 1};
  CHECK(std::vector<double>(completed.values.begin(), completed.values.end()) == expected);
}

TEST_CASE("aggregation of nodes has the same bits on every back end and with any number of threads") {
  const unsigned seed = fresh_seed();
  for (const auto& [name, A, block] : cases(seed))
    for (const Index count : {3, 7}) {
      CAPTURE(name);
      const auto modes = some_modes(seed, A.nrows, count);
      const Steps expected = steps(OpenMP{1}, A, block, modes);
      on_every_backend([&](auto on) { CHECK(steps(on, A, block, modes) == expected); });
    }
}

TEST_CASE("rigid-body modes change no distance between points, and are independent") {
  std::mt19937_64 random(fresh_seed());
  for (const std::int64_t dimensions : {2, 3}) {
    MultiVector<double> coordinates(20, dimensions, Layout::row_major);
    for (double& x : coordinates.elements()) x = 1000 + random_value(random);
    const auto points = std::as_const(coordinates).view();
    const auto modes = rigid_body_modes(points);
    const auto B = modes.view();
    REQUIRE(B.ncols == dimensions * (dimensions + 1) / 2);
    REQUIRE(B.nrows == dimensions * 20);
    for (std::int64_t m = 0; m < B.ncols; ++m) {
      double moved = 0;
      for (std::int64_t i = 0; i < 20; ++i)
        for (std::int64_t j = 0; j < i; ++j) {
          double longer = 0;
          for (std::int64_t d = 0; d < dimensions; ++d) {
            const double u = B(dimensions * i + d, m) - B(dimensions * j + d, m);
            longer += u * (points(i, d) - points(j, d));
            moved = std::max(moved, std::abs(B(dimensions * i + d, m)));
          }
          REQUIRE(std::abs(longer) <= 1e-12);
        }
      CHECK(moved > 0.5);
      CHECK(moved <= 1);  // about the middle, not about the origin
    }
  }
  CHECK_THROWS_AS(rigid_body_modes(MultiVectorView<const double, Host>{4, 1, 1, Layout::row_major, nullptr}),
                  ShapeError);
}
