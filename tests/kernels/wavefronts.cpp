// Wavefronts: each row once, after (or before) all that it is coupled to, and not later than it must.
#include <doctest/doctest.h>

#include <random>

#include "matrices.hpp"

#include <seidel/kernels/orders/orders.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// The definition read literally, from the union of both patterns.
std::vector<std::int64_t> literal_wavefronts(const Plain& A) {
  std::vector<std::vector<Index>> before(A.nrows());
  for (Index i = 0; i < A.nrows(); ++i)
    for (const auto& [j, value] : A.rows[i])
      if (i != j) before[std::max(i, j)].push_back(std::min(i, j));
  std::vector<std::int64_t> of(A.nrows(), 0);
  for (Index i = 0; i < A.nrows(); ++i)
    for (const Index j : before[i]) of[i] = std::max(of[i], of[j] + 1);
  return of;
}

/// The most rows in a sequence in which each is coupled to the one before.
std::int64_t longest_chain(const Plain& A) {
  std::int64_t longest = 0, rows = 0;
  for (Index i = 0; i < A.nrows(); ++i) {
    rows = i > 0 && (A.rows[i].contains(i - 1) || A.rows[i - 1].contains(i)) ? rows + 1 : 1;
    longest = std::max(longest, rows);
  }
  return longest;
}

}  // namespace

TEST_CASE("wavefronts are what their definition says, ascending within one") {
  for (const auto& [name, plain] : awkward_to_sweep(fresh_seed())) {
    CAPTURE(name);
    const auto A = csr_of<double, std::int64_t>(plain);
    const Wavefronts found = wavefronts(OpenMP{2}, A.view());
    const auto expected = literal_wavefronts(plain);
    REQUIRE(found.rows.size() == A.nrows);
    REQUIRE(found.start.front() == 0);
    REQUIRE(found.start.back() == A.nrows);
    std::int64_t wrong = 0, seen = 0;
    for (std::int64_t w = 0; w < found.count(); ++w) {
      wrong += found.start[w] >= found.start[w + 1];
      for (std::int64_t p = found.start[w]; p < found.start[w + 1]; ++p, ++seen) {
        wrong += expected[found.rows[p]] != w;
        wrong += p > found.start[w] && found.rows[p - 1] >= found.rows[p];
      }
    }
    CHECK(wrong == 0);
    CHECK(seen == A.nrows);
  }
}

TEST_CASE("a chain has as many wavefronts as rows, a diagonal one, a lattice nx + ny + nz - 2") {
  Plain chain{50, std::vector<std::map<Index, double>>(50)}, diagonal = chain;
  for (Index i = 0; i < 50; ++i) chain.rows[i][i] = diagonal.rows[i][i] = 1;
  for (Index i = 0; i + 1 < 50; ++i) chain.rows[i][i + 1] = 1;  // stored above the diagonal only: A' couples as well
  CHECK(wavefronts(OpenMP{1}, csr_of<double>(chain).view()).count() == 50);
  CHECK(wavefronts(OpenMP{1}, csr_of<double>(diagonal).view()).count() == 1);
  CHECK(wavefronts(OpenMP{1}, csr_of<double>(poisson(7, 5, 4)).view()).count() == 14);
  CHECK(wavefronts(OpenMP{1}, csr_of<double>(Plain{}).view()).count() == 0);
  CHECK_THROWS_WITH_AS(wavefronts(OpenMP{1}, csr_of<double>(rows_of_lengths({1}, 3, 1)).view()),
                       "wavefronts: found a 1 x 3 matrix, expected a square one", ShapeError);
}

TEST_CASE("a chain of rows is found if there is one so long, and has no fewer wavefronts than rows") {
  Plain links{300, std::vector<std::map<Index, double>>(300)};  // broken at random, a twentieth of them
  std::mt19937_64 random(fresh_seed());
  for (Index i = 1; i < 300; ++i)
    if (random() % 20 > 0) random() % 2 ? links.rows[i][i - 1] = 1 : links.rows[i - 1][i] = 1;
  auto matrices = awkward_to_sweep(fresh_seed());
  matrices.push_back({"links", links});
  for (const auto& [name, plain] : matrices) {
    CAPTURE(name);
    const auto A = csr_of<double, std::int64_t>(plain);
    const std::int64_t longest = longest_chain(plain);
    CHECK(wavefronts(OpenMP{1}, A.view()).count() >= longest);
    for (const std::int64_t length : {2, 3, 4, 7, 10, 50, int(longest), int(longest) + 1}) {
      if (length < 2) continue;
      CAPTURE(length);
      CHECK(has_chain(A.view(), length) == (longest >= length));
    }
  }
}
