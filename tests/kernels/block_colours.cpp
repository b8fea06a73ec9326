// Colours of blocks: the least free one block after block, and what the order by them promises of a sweep.
#include "../backends.hpp"
#include "matrices.hpp"

#include <set>

#include <seidel/kernels/symgs/block_colours.hpp>
#include <seidel/kernels/symgs/wavefronts.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

std::vector<Index> literal_block_colours(const Plain& A, Index size) {
  const std::int64_t nblocks = (A.nrows() + size - 1) / size;
  std::vector<std::set<Index>> before(nblocks);
  for (Index i = 0; i < A.nrows(); ++i)
    for (const auto& [j, value] : A.rows[i])
      if (i / size != j / size) before[std::max(i, j) / size].insert(std::min(i, j) / size);
  std::vector<Index> colour(nblocks, 0);
  for (std::int64_t block = 0; block < nblocks; ++block) {
    std::set<Index> taken;
    for (const Index other : before[block]) taken.insert(colour[other]);
    while (taken.count(colour[block])) ++colour[block];
  }
  return colour;
}

}  // namespace

TEST_CASE("each block takes the least colour that no coupled block before it has, with any number of threads") {
  const unsigned seed = fresh_seed();
  CAPTURE(seed);
  for (const auto& named : awkward_to_sweep(seed))
    for (const Index size : {1, 7, 128}) {
      const Plain& plain = named.plain;
      CAPTURE(named.name);
      CAPTURE(size);
      const auto expected = literal_block_colours(plain, size);
      const auto check = [&](const auto& found) { CHECK(std::vector<Index>(found.begin(), found.end()) == expected); };
      check(block_colours(Serial{}, csr_of<double>(plain).view(), size));
      for (int threads : {1, 2, 3, 7})
        check(block_colours(OpenMP{threads}, csr_of<float, std::int64_t>(plain).view(), size));
    }
}

TEST_CASE("the order by blocks keeps rows of a block together and as they stood, blocks of a colour apart") {
  const unsigned seed = fresh_seed();
  CAPTURE(seed);
  for (const auto& named : awkward_to_sweep(seed)) {
    const Plain& plain = named.plain;
    CAPTURE(named.name);
    constexpr Index size = 50;
    const auto A = csr_of<double>(plain);
    const auto colours = block_colours(Serial{}, A.view(), size);
    const auto order = block_colour_order(OpenMP{2}, A.view(), size);
    REQUIRE(order.size() == plain.nrows());
    const auto key = [&](std::int64_t k) { return std::pair(colours[order[k] / size], order[k]); };
    std::int64_t wrong = 0;
    for (std::int64_t k = 1; k < order.size(); ++k) wrong += !(key(k - 1) < key(k));
    CHECK(wrong == 0);
    Index ncolours = 0;
    for (const Index c : colours) ncolours = std::max(ncolours, c + 1);
    CHECK(wavefronts(Serial{}, csr_of<double>(permuted(plain, order)).view()).count() <= std::int64_t(ncolours) * size);
  }
}

TEST_CASE("blocks of no rows and matrices that are not square are refused") {
  const auto A = csr_of<double>(poisson3d(3, 3, 3));
  CHECK_THROWS_AS(block_colours(Serial{}, A.view(), 0), UsageError);
  CHECK_THROWS_AS(block_colours(Serial{}, csr_of<double>(rows_of_lengths({1, 1}, 3, 1)).view()), ShapeError);
}
