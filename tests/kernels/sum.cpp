// The one order of kernels/sum.hpp, against the same definition written another way.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include <seidel/kernels/sum.hpp>

using namespace seidel;

namespace {

/// The definition read literally: level by level, all in arrays.
double literal_sum(const std::vector<double>& a, const std::vector<double>& b) {
  const std::size_t n = a.size();
  if (n <= 64) {
    double s = 0;
    for (std::size_t k = 0; k < n; ++k) s = std::fma(a[k], b[k], s);
    return s;
  }
  std::vector<double> level;
  for (std::size_t first = 0; first < n; first += 2048) {
    std::vector<double> lane(32, 0.0);
    for (std::size_t k = first; k < std::min(n, first + 2048); ++k)
      lane[(k - first) % 32] = std::fma(a[k], b[k], lane[(k - first) % 32]);
    while (lane.size() > 1) {
      std::vector<double> half(lane.size() / 2);
      for (std::size_t l = 0; l < half.size(); ++l) half[l] = lane[l] + lane[l + half.size()];
      lane = half;
    }
    level.push_back(lane[0]);
  }
  while (level.size() > 1) {
    std::vector<double> next;
    for (std::size_t i = 0; i < level.size(); i += 2)
      next.push_back(i + 1 < level.size() ? level[i] + level[i + 1] : level[i]);
    level = next;
  }
  return level[0];
}

}  // namespace

TEST_CASE("a sum of products is the literal definition, at every seam") {
  for (std::size_t n :
       {0, 1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97, 2047, 2048, 2049, 4096, 4097, 6145, 10240, 14337, 100003}) {
    CAPTURE(n);
    std::mt19937_64 random(n);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> a(n), b(n);
    for (auto& v : a) v = uniform(random);
    for (auto& v : b) v = uniform(random);
    const auto term = [&](std::int64_t k, double s) { return std::fma(a[k], b[k], s); };
    CHECK(sum_of_products<double>(n, term) == literal_sum(a, b));
  }
}
