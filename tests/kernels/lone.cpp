// Rows without a strong coupling: which of them join an aggregate, and the same on every back end.
#include "graphs.hpp"

#include <map>
#include <set>

#include <seidel/kernels/aggregation/lone.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

struct Joined {
  std::vector<Index> before, of_row, neighbour_before, neighbour;
  std::int64_t lone, lone_before, dominated, dominated_before;
  bool operator==(const Joined&) const = default;
};

constexpr double theta = 0.25;

template <class B>
Joined joined(const B& on, const Matrix& A) {
  auto [there, scales, neighbour] = marked(on, A, Strength::to_both, theta);
  auto found = aggregates<B, std::int64_t>(on, there.view(), {there.view().row_ptr, neighbour}, scales, RootSets::one);
  Joined all;
  all.before = moved_back(on, found.of_row), all.neighbour_before = moved_back(on, neighbour);
  all.lone_before = found.lone, all.dominated_before = found.dominated;
  join_lone<B, std::int64_t>(on, there.view(), scales, theta, neighbour, found);
  all.of_row = moved_back(on, found.of_row), all.neighbour = moved_back(on, neighbour);
  all.lone = found.lone, all.dominated = found.dominated;
  return all;
}

/// Pairs of rows that are coupled strongly, in a chain of weaker couplings, and between two pairs a row of its own.
Matrix pairs_and_single_rows(Index pairs) {
  std::vector<Row> lower(std::size_t(3) * pairs);
  for (Index i = 1; i < 3 * pairs; ++i) lower[i][i - 1] = i % 3 == 1 ? -1 : -0.01;
  return symmetric(lower);
}

std::vector<NamedMatrix> matrices(unsigned seed) {
  auto all = graphs(seed);
  all.push_back({"pairs and single rows", pairs_and_single_rows(100)});
  return all;
}

}  // namespace

TEST_CASE("a lone row joins the aggregate that most of its couplings lead to, where these are half of it or more") {
  for (const auto& [name, A] : matrices(fresh_seed())) {
    CAPTURE(name);
    const Joined found = joined(OpenMP{1}, A);
    std::int64_t without = 0;
    for (Index i = 0; i < A.nrows; ++i) {
      const auto row = std::size_t(i);
      without += found.of_row[row] < 0;
      double diagonal = 0, beside = 0, largest = 0, sum = 0;
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (A.col_idx[k] == i)
          diagonal = A.values[k];
        else
          beside += std::abs(A.values[k]), largest = std::max(largest, -A.values[k]);
      std::map<Index, double> leads_to;
      std::set<Index> along;
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const Index j = A.col_idx[k], a = found.before[std::size_t(j)];
        if (j == i || a < 0 || !(-A.values[k] > 0) || -A.values[k] < theta * largest) continue;
        leads_to[a] -= A.values[k], sum -= A.values[k], along.insert(j);
      }
      const bool joins =
          found.before[row] < 0 && diagonal > 0 && beside >= 0.5 * diagonal && sum >= 0.5 * std::max(diagonal, beside);
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const Index j = A.col_idx[k];
        REQUIRE(found.neighbour[std::size_t(k)] ==
                (joins && along.contains(j) ? j : found.neighbour_before[std::size_t(k)]));
      }
      if (!joins) {
        REQUIRE(found.of_row[row] == found.before[row]);
        continue;
      }
      REQUIRE(leads_to.contains(found.of_row[row]));
      for (const auto& [a, coupling] : leads_to) REQUIRE(coupling <= leads_to[found.of_row[row]]);
    }
    CHECK(found.lone + found.dominated == without);
    CHECK(found.dominated == found.dominated_before);
    CHECK(found.lone <= found.lone_before);
    if (name == "pairs and single rows") {
      CHECK(found.lone_before > 0);
      CHECK(found.lone == 0);
    }
  }
}

TEST_CASE("lone rows join the same aggregates on every back end and with any number of threads") {
  for (const auto& [name, A] : matrices(fresh_seed())) {
    CAPTURE(name);
    const Joined expected = joined(OpenMP{1}, A);
    on_every_backend([&](auto on) { CHECK(joined(on, A) == expected); });
  }
}
