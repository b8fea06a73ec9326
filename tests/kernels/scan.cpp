// Exclusive scans: the literal sums, on every back end.
#include <seidel/kernels/primitives/scan.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>

#include "../backends.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

template <class Offset>
std::vector<Offset> literal_scan(const std::vector<std::int32_t>& counts) {
  std::vector<Offset> offsets;
  Offset sum = 0;
  for (const std::int32_t count : counts) offsets.push_back(sum), sum += count;
  return offsets;
}

template <class Offset, class B>
std::vector<Offset> scanned(const B& on, const std::vector<std::int32_t>& counts) {
  const auto from = moved_to(on, counts);
  auto to = moved_to(on, std::vector<Offset>(counts.size(), -1));
  exclusive_scan(on, from.span(), to.span());
  return moved_back(on, to);
}

std::vector<std::int32_t> random_counts(std::int64_t n, std::int32_t max) {
  std::mt19937_64 random(std::uint64_t(n) + 1);
  std::uniform_int_distribution<std::int32_t> count(0, max);
  std::vector<std::int32_t> counts(static_cast<std::size_t>(n));
  for (auto& c : counts) c = count(random);
  return counts;
}

void check_scans(std::int64_t n) {
  CAPTURE(n);
  const auto max_count = std::min<std::int64_t>(1000, std::numeric_limits<std::int32_t>::max() / (n + 1));
  const auto counts = random_counts(n, std::int32_t(max_count));  // whose sum fits in 32 bits
  const auto narrow = literal_scan<std::int32_t>(counts);
  const auto wide = literal_scan<std::int64_t>(counts);
  on_every_backend([&](const auto& on) {
    CHECK(scanned<std::int32_t>(on, counts) == narrow);
    CHECK(scanned<std::int64_t>(on, counts) == wide);
  });
}

}  // namespace

TEST_CASE("an exclusive scan is the sums before each entry, at every seam") {
  // Around 4 counts of a vector, a warp, its four vectors, a tile, 32 tiles looked back at, and shares of threads.
  for (const std::int64_t n : {0, 1, 2}) check_scans(n);
  for (const std::int64_t seam : {4, 128, 512, 4096, 8192, 16384, 32 * 4096, 33 * 4096, 65 * 4096})
    for (const std::int64_t off : {-1, 0, 1}) check_scans(seam + off);
}

TEST_CASE("an exclusive scan is right for every size to 20,000 and some to 20 million") {
  if (!std::getenv("SEIDEL_LONG_TESTS"))
    return skipped("it takes minutes: set SEIDEL_LONG_TESTS=1 in the environment to run it");
  for (std::int64_t n = 0; n <= 20'000; ++n) check_scans(n);
  for (std::int64_t n = 20'001; n <= 20'000'000; n += n / 2) check_scans(n);
}

TEST_CASE("a scan of millions of large counts is right beyond 32 bits") {
  for (const std::int64_t n : {3'000'001, 20'000'000}) {
    CAPTURE(n);
    const auto counts = random_counts(n, std::numeric_limits<std::int32_t>::max());
    const auto expected = literal_scan<std::int64_t>(counts);
    CHECK(expected.back() > std::int64_t(1) << 50);
    on_every_backend([&](const auto& on) { CHECK(scanned<std::int64_t>(on, counts) == expected); });
  }
}

TEST_CASE("a scan takes negative counts, spans that begin anywhere, and 32-bit offsets in the memory of the counts") {
  auto counts = random_counts(20'011, 9);
  for (std::size_t i = 0; i < counts.size(); i += 3) counts[i] = -counts[i];
  const auto wide = literal_scan<std::int64_t>(counts);
  const auto narrow = literal_scan<std::int32_t>(counts);
  on_every_backend([&](const auto& on) {
    CHECK(scanned<std::int64_t>(on, counts) == wide);
    auto padded = counts;
    padded.insert(padded.begin(), 77);
    auto both = moved_to(on, padded);
    const auto n = std::int64_t(counts.size());
    auto inside = both.span().subspan(1, n);
    using Space = typename std::decay_t<decltype(on)>::Space;
    exclusive_scan(on, Span<const std::int32_t, Space>(inside), inside);
    auto expected = narrow;
    expected.insert(expected.begin(), 77);
    CHECK(moved_back(on, both) == expected);
  });
}

TEST_CASE("a scan into another number of offsets is refused") {
  const Array<std::int32_t> counts(5, 1);
  Array<std::int64_t> offsets(4);
  CHECK_THROWS_AS(exclusive_scan(OpenMP{1}, counts.span(), offsets.span()), ShapeError);
}
