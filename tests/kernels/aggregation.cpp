// Aggregation: each step against its definition, and the same on every back end.
#include "graphs.hpp"

#include <set>

#include <seidel/kernels/aggregation/prolongator.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

struct Steps {
  std::vector<Index> neighbour, of_row, col_idx;
  std::vector<std::int64_t> row_ptr;
  std::vector<double> values, again, hashed;
  std::int64_t count, lone, dominated;
  bool operator==(const Steps&) const = default;
};

constexpr double theta = 0.25, omega = 0.7;

template <class B>
Steps steps(const B& on, const Matrix& A, RootSets sets) {
  using Space = SpaceOf<B>;
  const auto [there, scales, neighbour] = marked(on, A, Strength::to_both, theta);
  const auto found = aggregates<B, std::int64_t>(on, there.view(), {there.view().row_ptr, neighbour}, scales, sets);
  const auto strong = packed_strong<B>(on, neighbour);
  auto P = prolongator<B, std::int64_t>(on, there.view(), strong, found, omega);
  const auto values = moved_back(on, P.values);
  const auto entries = entries_of_prolongator<B, std::int64_t>(on, there.view(), strong, found.of_row, P);
  P.values = Array<double, Space>(on, P.nnz());
  update_prolongator<B, std::int64_t>(on, there.view(), entries, omega, P);
  Array<double, Space> start(on, A.nrows);
  fill_start<B, std::int64_t>(on, there.view().row_ptr, scales.inverse_diagonal, start);
  return {moved_back(on, neighbour),
          moved_back(on, found.of_row),
          moved_back(on, P.col_idx),
          moved_back(on, P.row_ptr),
          values,
          moved_back(on, P.values),
          moved_back(on, start),
          found.count,
          found.lone,
          found.dominated};
}

std::vector<std::set<Index>> strong_neighbours(const Matrix& A, const std::vector<Index>& neighbour) {
  std::vector<std::set<Index>> sets(A.nrows);
  for (Index i = 0; i < A.nrows; ++i)
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (neighbour[std::size_t(k)] >= 0) sets[std::size_t(i)].insert(neighbour[std::size_t(k)]);
  return sets;
}

}  // namespace

TEST_CASE("a coupling is strong as the definition says, at every scale of the matrix") {
  for (const auto& [name, A] : graphs(fresh_seed()))
    for (const double scale : {1.0, 0x1p-600, 0x1p+600, -1.0}) {
      CAPTURE(name);
      CAPTURE(scale);
      Matrix scaled = copy_of(A);
      for (double& a : scaled.values) a *= scale;
      const auto neighbour = steps(OpenMP{1}, scaled, RootSets::one).neighbour;
      std::vector<long double> largest(A.nrows);
      for (Index i = 0; i < A.nrows; ++i)
        for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
          if (A.col_idx[k] != i) largest[std::size_t(i)] = std::max(largest[std::size_t(i)], (long double)-A.values[k]);
      for (Index i = 0; i < A.nrows; ++i)
        for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
          const Index j = A.col_idx[k];
          const long double c = -A.values[k];  // powers of two: every comparison is exact
          const bool strong =
              j != i && c > 0 && c * c >= theta * theta * largest[std::size_t(i)] * largest[std::size_t(j)];
          REQUIRE(neighbour[std::size_t(k)] == (strong ? j : ~j));
        }
    }
}

TEST_CASE("numbers in place of random ones are distinct in each round, and never a mark") {
  for (const int round : {0, 1, 99}) {
    std::vector<std::uint32_t> numbers;
    for (Index i = 0; i < 100000; ++i) numbers.push_back(aggregation_detail::hashed(i, round));
    for (Index i = 0; i < 100000; ++i) numbers.push_back(aggregation_detail::hashed(0x7fffffff - i, round));
    std::sort(numbers.begin(), numbers.end());
    CHECK(std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end());
    CHECK(numbers.front() >= 1);
    CHECK(numbers.back() <= 0x80000000u);
  }
}

TEST_CASE("roots are independent at distance 2, and no row could be added") {
  for (const auto& [name, A] : graphs(fresh_seed())) {
    CAPTURE(name);
    const auto neighbour = steps(OpenMP{1}, A, RootSets::one).neighbour;
    const auto near = strong_neighbours(A, neighbour);
    Array<RootState> state(A.nrows, RootState::undecided);
    if (A.nrows > 0) state[A.nrows / 2] = RootState::outside;
    const Array<Index> graph(neighbour);
    independent_set<OpenMP, std::int64_t>(OpenMP{1}, {A.view().row_ptr, graph}, state);
    const auto inside = [&](Index v) { return state[v] != RootState::outside; };
    for (Index v = 0; v < A.nrows; ++v) {
      if (!inside(v)) continue;
      int roots = 0;
      std::set<Index> ball = {v};
      for (const Index w : near[std::size_t(v)])
        if (inside(w)) {
          ball.insert(w);
          for (const Index u : near[std::size_t(w)])
            if (inside(u)) ball.insert(u);
        }
      for (const Index w : ball) roots += state[w] == RootState::root;
      REQUIRE(state[v] == (state[v] == RootState::root ? RootState::root : RootState::covered));
      REQUIRE(roots >= 1);
      if (state[v] == RootState::root) REQUIRE(roots == 1);
    }
  }
}

TEST_CASE("every coupled row is in one aggregate, beside another row of it, and no other row is in any") {
  for (const auto& [name, A] : graphs(fresh_seed()))
    for (const RootSets sets : {RootSets::one, RootSets::two}) {
      CAPTURE(name);
      const Steps found = steps(OpenMP{1}, A, sets);
      const auto near = strong_neighbours(A, found.neighbour);
      std::vector<int> size(std::size_t(found.count));
      std::int64_t without = 0;
      for (Index i = 0; i < A.nrows; ++i) {
        const Index a = found.of_row[std::size_t(i)];
        REQUIRE((a >= 0) == !near[std::size_t(i)].empty());
        REQUIRE(a < found.count);
        without += a < 0;
        if (a < 0) continue;
        ++size[std::size_t(a)];
        bool beside = false;
        for (const Index j : near[std::size_t(i)]) beside = beside || found.of_row[std::size_t(j)] == a;
        REQUIRE(beside);
      }
      for (const int s : size) REQUIRE(s >= 2);
      CHECK(found.lone + found.dominated == without);
    }
}

TEST_CASE("the prolongator is (I - omega D^-1 A_F) T, cut to four entries per row with its sums kept") {
  for (const auto& [name, A] : graphs(fresh_seed())) {
    CAPTURE(name);
    const Steps found = steps(OpenMP{1}, A, RootSets::two);
    CHECK(found.again == found.values);
    for (Index i = 0; i < A.nrows; ++i) {
      std::map<Index, long double> row;  // before the cut
      long double diagonal = 0, weak = 0;
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (A.col_idx[k] == i)
          diagonal = A.values[k];
        else if (found.neighbour[std::size_t(k)] < 0)
          weak += A.values[k];
      if (diagonal + weak > 0.05 * diagonal) diagonal += weak;
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (const Index j = A.col_idx[k]; j == i || found.neighbour[std::size_t(k)] >= 0)
          if (const Index a = found.of_row[std::size_t(j)]; a >= 0 && found.of_row[std::size_t(i)] >= 0)
            row[a] += j == i ? 1 - omega : -omega * A.values[k] / diagonal;
      check_cut(row, found.col_idx, found.values, found.row_ptr[std::size_t(i)], found.row_ptr[std::size_t(i) + 1]);
    }
  }
}

TEST_CASE("aggregation has the same bits on every back end and with any number of threads") {
  const unsigned seed = fresh_seed();
  auto all = graphs(seed);
  all.push_back({"a large lattice", lattice(300, 200, 1, 0.3)});
  all.push_back({"large and random", random_graph(seed, 30000, 5)});
  for (const auto& [name, A] : all)
    for (const RootSets sets : {RootSets::one, RootSets::two}) {
      CAPTURE(name);
      const Steps expected = steps(OpenMP{1}, A, sets);
      on_every_backend([&](auto on) { CHECK(steps(on, A, sets) == expected); });
    }
}
