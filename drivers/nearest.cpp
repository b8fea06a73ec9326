// What was probably meant by a misspelt word.
#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

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

/// What we call otherwise than other programs, and what they call it.
const std::pair<std::string_view, std::vector<std::string_view>> other_names[] = {
    {"--precond", {"--preconditioner", "--pc", "--pc-type"}},
    {"--method", {"--solver", "--ksp", "--ksp-type"}},
    {"--x0", {"--guess", "--initial-guess"}},
    {"--max-iterations", {"--maxiter", "--max-iter", "--maxit", "--maxits", "--max-it", "--niter", "--iterations"}},
    {"--time-limit", {"--timeout"}},
    {"--tol", {"--tolerance", "--rtol"}},
    {"--out", {"--output"}},
    {"--rhs", {"--b"}},
    {"--backend", {"--gpu", "--cuda", "--device"}},
    {"--threads", {"--num-threads", "-j", "-t"}},
    {"cuda", {"gpu"}},
    {"openmp", {"cpu", "omp"}},
    {"symgs", {"sgs", "ssor", "sor", "gauss-seidel"}},
    {"jacobi", {"diagonal"}},
    {"ilu0", {"ilu"}},
    {"ic0", {"ic", "icc"}},
    {"cg", {"pcg"}},
    {"bicgstab", {"bicg"}},
    {"direct", {"lu", "cholesky"}},
    {"gmres", {"fgmres"}},
    {"amg", {"multigrid"}},
    {"multigrid", {"amg"}},
    {"colours", {"multicolor", "multicolour"}},
};

}  // namespace

std::string lower_case(std::string word) {
  for (char& letter : word) letter = char(std::tolower(static_cast<unsigned char>(letter)));
  return word;
}

std::string nearest(const std::string& typed, const std::vector<std::string>& names) {
  std::string word = lower_case(typed);
  std::replace(word.begin(), word.end(), '_', '-');
  if (word.size() > 2 && word[0] == '-' && word[1] != '-') word = "-" + word;
  for (const auto& [ours, others] : other_names)
    if (std::ranges::find(others, word) != others.end() && std::ranges::find(names, ours) != names.end())
      return std::string(ours);
  std::string best;
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  std::size_t least = std::min(letters, std::max<std::size_t>(1, letters / 3) + 1);
  for (const auto& name : names) {
    std::size_t distance = edits(word, name);
    if (word.size() >= 2 && name.starts_with(word)) distance = 1;
    if (distance < least) least = distance, best = name;
  }
  return best;
}

}  // namespace seidel::drivers
