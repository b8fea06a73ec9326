// Colours: the least free one in natural order, past 64 as well, and the order gathered by them.
#include <doctest/doctest.h>

#include <set>

#include "../backends.hpp"
#include "matrices.hpp"

#include <seidel/kernels/blas1/blas1.hpp>
#include <seidel/kernels/orders/orders.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

std::vector<Index> literal_colours(const Plain& A) {
  std::vector<std::vector<Index>> before(A.nrows());
  for (Index i = 0; i < A.nrows(); ++i)
    for (const auto& [j, value] : A.rows[i])
      if (i != j) before[std::max(i, j)].push_back(std::min(i, j));
  std::vector<Index> colour(A.nrows(), 0);
  for (Index i = 0; i < A.nrows(); ++i) {
    std::set<Index> taken;
    for (const Index j : before[i]) taken.insert(colour[j]);
    while (taken.count(colour[i])) ++colour[i];
  }
  return colour;
}

}  // namespace

TEST_CASE("each row takes the least colour that no coupled row before it has") {
  for (const auto& [name, plain] : awkward_to_sweep(fresh_seed())) {
    CAPTURE(name);
    const auto expected = literal_colours(plain);
    const auto check = [&](const auto& found) { CHECK(std::vector<Index>(found.begin(), found.end()) == expected); };
    on_every_backend([&](auto on) {
      const auto there = [&](const auto& A) { return moved_to(on, A.view()); };
      check(moved_back(on, greedy_colours(on, there(csr_of<double>(plain)).view())));
      check(moved_back(on, greedy_colours(on, there(csr_of<float, std::int64_t>(plain)).view())));
      const Array<Index> order =
          colour_order(OpenMP{1}, HostSpan<const Index>(expected.data(), std::int64_t(expected.size())));
      const auto colours = moved_to(on, expected);
      CHECK(moved_back(on, colour_order(on, colours.span())) == std::vector<Index>(order.begin(), order.end()));
      const Index last = expected.empty() ? 0 : *std::max_element(expected.begin(), expected.end());
      Array<Index> turn(last + 1);
      std::vector<Index> backwards = expected;
      for (Index c = 0; c <= last; ++c) turn[c] = last - c;
      for (Index& colour : backwards) colour = last - colour;
      CHECK(moved_back(on, colour_order(on, colours.span(), turn)) ==
            moved_back(on, colour_order(on, moved_to(on, backwards).span())));
    });
  }
}

TEST_CASE("a lattice has two colours, and the order by colours two wavefronts") {
  const Plain plain = poisson(9, 8, 7);
  const auto A = csr_of<double>(plain);
  const auto colours = greedy_colours(OpenMP{1}, A.view());
  CHECK(*std::max_element(colours.begin(), colours.end()) == 1);
  const auto order = colour_order(OpenMP{1}, colours);
  std::int64_t wrong = 0;
  for (Index p = 1; p < A.nrows; ++p)
    wrong += std::pair(colours[order[p - 1]], order[p - 1]) >= std::pair(colours[order[p]], order[p]);
  CHECK(wrong == 0);
  CHECK(wavefronts(csr_of<double>(permuted(plain, order)).view()).count() == 2);
  CHECK(colour_order(OpenMP{1}, HostSpan<const Index>{}).size() == 0);
}

TEST_CASE("a matrix that is not square has no colours") {
  const auto A = csr_of<double>(rows_of_lengths({1}, 3, 1));
  CHECK_THROWS_WITH_AS(greedy_colours(OpenMP{1}, A.view()),
                       "greedy_colours: found a 1 x 3 matrix, expected a square one", ShapeError);
}
