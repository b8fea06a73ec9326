// What was probably meant by a misspelt word.
#include <algorithm>
#include <numeric>

#include <seidel/drivers/options.hpp>

namespace seidel::drivers {

namespace {

/// Letters to insert, delete, replace or swap with their neighbour.
std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t(0));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& names) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto& name : names) {
    std::size_t distance = edits(word, name);
    if (word.size() >= 2 && name.starts_with(word)) distance = 1;
    if (distance < least) least = distance, best = name;
  }
  return best;
}

}  // namespace seidel::drivers
