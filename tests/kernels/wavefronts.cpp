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

}  // namespace

TEST_CASE("wavefronts are what their definition says, ascending within one") {
  for (const auto& [name, plain] : awkward_to_sweep(fresh_seed())) {
    CAPTURE(name);
    const auto A = csr_of<double, std::int64_t>(plain);
    const Wavefronts found = wavefronts(A.view());
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
  CHECK(wavefronts(csr_of<double>(chain).view()).count() == 50);
  CHECK(wavefronts(csr_of<double>(diagonal).view()).count() == 1);
  CHECK(wavefronts(csr_of<double>(poisson(7, 5, 4)).view()).count() == 14);
  CHECK(wavefronts(csr_of<double>(Plain{}).view()).count() == 0);
  CHECK_THROWS_WITH_AS(wavefronts(csr_of<double>(rows_of_lengths({1}, 3, 1)).view()),
                       "wavefronts: found a 1 x 3 matrix, expected a square one", ShapeError);
}

TEST_CASE("some rows among themselves have the wavefronts of that block, no more than the matrix has") {
  std::mt19937_64 random(fresh_seed());
  for (const auto& [name, plain] : awkward_to_sweep(fresh_seed())) {
    CAPTURE(name);
    const auto A = csr_of<double, std::int64_t>(plain);
    const std::int64_t all = wavefronts(A.view()).count();
    CHECK(count_of_wavefronts(A.view(), 0, A.nrows) == all);
    for (int turn = 0; turn < 10; ++turn) {
      const Index last = Index(random() % (A.nrows + 1)), first = Index(random() % (last + 1));
      Plain block{last - first, {}};
      for (Index i = first; i < last; ++i) {
        block.rows.emplace_back();
        for (const auto& [j, value] : plain.rows[i])
          if (j >= first && j < last) block.rows.back()[j - first] = value;
      }
      const std::int64_t count = count_of_wavefronts(A.view(), first, last);
      CHECK(count == wavefronts(csr_of<double>(block).view()).count());
      CHECK(count <= all);
    }
  }
}

TEST_CASE("levels are those of the farthest row from the first of its component, counted as far as is asked") {
  for (const auto& [name, plain] : awkward_to_sweep(fresh_seed())) {
    CAPTURE(name);
    Plain both = plain;  // with the pattern of A + A'
    for (Index i = 0; i < plain.nrows(); ++i)
      for (const auto& [j, value] : plain.rows[i]) both.rows[j].emplace(i, value);
    std::int64_t most = 0;
    constexpr std::int64_t unmet = -1;
    std::vector<std::int64_t> level(both.nrows(), unmet);
    for (Index first = 0; first < both.nrows(); ++first) {
      if (level[first] != unmet) continue;
      level[first] = 0;
      for (bool changed = true; changed;) {  // as Bellman and Ford do
        changed = false;
        for (Index i = 0; i < both.nrows(); ++i)
          for (const auto& [j, value] : both.rows[i])
            if (level[i] != unmet && (level[j] == unmet || level[j] > level[i] + 1))
              level[j] = level[i] + 1, changed = true;
      }
    }
    for (const std::int64_t of : level) most = std::max(most, of + 1);
    const auto A = csr_of<double, std::int64_t>(both);
    CHECK(count_of_levels(A.view(), both.nrows() + 1) == most);
    for (const std::int64_t enough : {std::int64_t(0), most / 2, most})
      CHECK(count_of_levels(A.view(), enough) == enough);
  }
  CHECK(count_of_levels(csr_of<double>(poisson(7, 5, 4)).view(), 100) == 14);
}
