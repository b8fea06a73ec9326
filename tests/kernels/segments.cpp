// The procedures of ScanTrans and MergeTrans, each on its own, against what the standard library says.
#include <seidel/kernels/primitives/segments.hpp>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "../backends.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

/// How the keys of a test are spread.
struct Spread {
  const char* name;
  Index (*key)(std::mt19937_64& random, std::int64_t place, std::int64_t n);
};
constexpr Spread spreads[] = {
    {"anywhere", [](std::mt19937_64& random, std::int64_t, std::int64_t) { return Index(random() % (1u << 30)); }},
    {"few", [](std::mt19937_64& random, std::int64_t, std::int64_t) { return Index(random() % 3); }},
    {"one", [](std::mt19937_64&, std::int64_t, std::int64_t) { return Index(7); }},
    {"ascending", [](std::mt19937_64&, std::int64_t place, std::int64_t) { return Index(place); }},
    {"descending", [](std::mt19937_64&, std::int64_t place, std::int64_t n) { return Index(n - place); }},
};

std::vector<Index> keys_of(const Spread& spread, std::int64_t n) {
  std::mt19937_64 random(std::uint64_t(n) + 1);
  std::vector<Index> keys(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) keys[std::size_t(k)] = spread.key(random, k, n);
  return keys;
}

using Pairs = std::vector<std::pair<Index, Index>>;
Pairs pairs_of(const std::vector<Index>& keys, const std::vector<Index>& numbers) {
  Pairs pairs;
  for (std::size_t k = 0; k < keys.size(); ++k) pairs.emplace_back(keys[k], numbers[k]);
  return pairs;
}
void stable_sort_segments(Pairs& pairs, std::int64_t length) {
  for (std::size_t first = 0; first < pairs.size(); first += std::size_t(length))
    std::stable_sort(pairs.begin() + std::ptrdiff_t(first),
                     pairs.begin() + std::ptrdiff_t(std::min(pairs.size(), first + std::size_t(length))),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
}

template <class B>
void check_sorts_and_merges(const B& on, const std::vector<Index>& keys, std::int64_t length, MergeBy by) {
  std::vector<Index> numbers(keys.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  auto k = moved_to(on, keys), m = moved_to(on, numbers);
  auto k2 = moved_to(on, std::vector<Index>(keys.size(), -1)), m2 = moved_to(on, std::vector<Index>(keys.size(), -1));
  KeyedNumbers<typename B::Space> from{k.span(), m.span()}, to{k2.span(), m2.span()};
  sort_segments(on, length, from);
  Pairs expected = pairs_of(keys, numbers);
  stable_sort_segments(expected, length);
  REQUIRE(pairs_of(moved_back(on, k), moved_back(on, m)) == expected);
  const auto n = std::int64_t(keys.size());
  bool is_in_first = true;
  for (std::int64_t sorted = length; sorted < n; sorted *= 2, is_in_first = !is_in_first) {
    merge_segments(on, by, sorted, from, to);
    std::swap(from, to);
    stable_sort_segments(expected, 2 * sorted);  // sorted parts stay so: a merge that prefers the left
    const auto found =
        is_in_first ? pairs_of(moved_back(on, k2), moved_back(on, m2)) : pairs_of(moved_back(on, k), moved_back(on, m));
    REQUIRE(found == expected);
  }
}

template <class B>
void check_pointers(const B& on, const std::vector<Index>& indices, Index n) {
  std::vector<std::int32_t> expected(std::size_t(n) + 1, 0);
  for (const Index i : indices) ++expected[std::size_t(i) + 1];
  std::partial_sum(expected.begin(), expected.end(), expected.begin());
  const auto from = moved_to(on, indices);
  auto pointers = moved_to(on, std::vector<std::int32_t>(std::size_t(n) + 1, -1));
  indices_to_pointers(on, from.span(), pointers.span());
  REQUIRE(moved_back(on, pointers) == expected);
  auto back = moved_to(on, std::vector<Index>(indices.size(), -1));
  pointers_to_indices(on, std::as_const(pointers).span(), back.span());
  auto sorted = indices;
  std::sort(sorted.begin(), sorted.end());
  REQUIRE(moved_back(on, back) == sorted);
}

void check_all(std::int64_t n) {
  CAPTURE(n);
  for (const Spread& spread : spreads) {
    CAPTURE(spread.name);
    const auto keys = keys_of(spread, n);
    const Index limit = Index(n) + 3;
    auto below = keys;
    for (Index& key : below) key %= limit;
    on_every_backend([&](const auto& on) {
      for (const MergeBy by : {MergeBy::path, MergeBy::splitters}) {
        check_sorts_and_merges(on, keys, 128, by);
        if (n < 3000) check_sorts_and_merges(on, keys, 1, by), check_sorts_and_merges(on, keys, 1000, by);
      }
      check_pointers(on, below, limit);
    });
  }
}

}  // namespace

TEST_CASE("segments are sorted and merged, pointers and indices made of each other, for every size to some hundred") {
  for (std::int64_t n = 0; n <= 300; ++n) check_all(n);
}

TEST_CASE("segments are sorted and merged at the seams of tiles, splitters and shares of threads") {
  for (const std::int64_t seam : {1024, 2048, 4096, 16384, 32768, 65536})
    for (const std::int64_t off : {-1, 0, 1}) check_all(seam + off);
}

TEST_CASE("segments are sorted and merged for every size to 20,000 and some to 20 million") {
  if (!std::getenv("SEIDEL_LONG_TESTS"))
    return skipped("it takes hours: set SEIDEL_LONG_TESTS=1 in the environment to run it");
  for (std::int64_t n = 0; n <= 20'000; ++n) check_all(n);
  for (std::int64_t n = 20'001; n <= 20'000'000; n += n / 2) check_all(n);
}

TEST_CASE("segments of no length, or too long to be sorted, are refused") {
  Array<Index> keys(10), numbers(10), few(9);
  const KeyedNumbers<Host> pairs{keys.span(), numbers.span()};
  CHECK_THROWS_AS(sort_segments(OpenMP{1}, 0, pairs), UsageError);
  CHECK_THROWS_AS(sort_segments(OpenMP{1}, max_sorted_segment + 1, pairs), UsageError);
  CHECK_THROWS_AS(merge_segments(OpenMP{1}, MergeBy::path, 0, pairs, pairs), UsageError);
  CHECK_THROWS_AS(sort_segments(OpenMP{1}, 4, KeyedNumbers<Host>{keys.span(), few.span()}), ShapeError);
  CHECK_THROWS_AS(merge_segments(OpenMP{1}, MergeBy::path, 4, pairs, {few.span(), numbers.span()}), ShapeError);
}
