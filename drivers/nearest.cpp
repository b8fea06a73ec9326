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

/// What other programs call what we call otherwise.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"--preconditioner", "--precond"},
    {"--pc", "--precond"},
    {"--solver", "--method"},
    {"--ksp", "--method"},
    {"--ksp-type", "--method"},
    {"--pc-type", "--precond"},
    {"--guess", "--x0"},
    {"--initial-guess", "--x0"},
    {"--maxiter", "--max-iterations"},
    {"--max-iter", "--max-iterations"},
    {"--maxit", "--max-iterations"},
    {"--maxits", "--max-iterations"},
    {"--max-it", "--max-iterations"},
    {"--niter", "--max-iterations"},
    {"--iterations", "--max-iterations"},
    {"--timeout", "--time-limit"},
    {"--tolerance", "--tol"},
    {"--rtol", "--tol"},
    {"--output", "--out"},
    {"--b", "--rhs"},
    {"--gpu", "--backend"},
    {"--cuda", "--backend"},
    {"--device", "--backend"},
    {"--num-threads", "--threads"},
    {"-j", "--threads"},
    {"-t", "--threads"},
    {"gpu", "cuda"},
    {"cpu", "openmp"},
    {"omp", "openmp"},
    {"sgs", "symgs"},
    {"ssor", "symgs"},
    {"sor", "symgs"},
    {"gauss-seidel", "symgs"},
    {"diagonal", "jacobi"},
    {"ilu", "ilu0"},
    {"ic", "ic0"},
    {"icc", "ic0"},
    {"pcg", "cg"},
    {"bicg", "bicgstab"},
    {"lu", "direct"},
    {"cholesky", "direct"},
    {"fgmres", "gmres"},
    {"multigrid", "amg"},
    {"amg", "multigrid"},
    {"multicolor", "colours"},
    {"multicolour", "colours"},
};

}  // namespace

std::string lower_case(std::string word) {
  for (char& letter : word) letter = char(std::tolower(static_cast<unsigned char>(letter)));
  return word;
}

std::string nearest(const std::string& typed, const std::vector<std::string>& names) {
  std::string word = lower_case(typed);
  std::replace(word.begin(), word.end(), '_', '-');
  for (const auto& [other, ours] : other_names)
    if (other == word && std::find(names.begin(), names.end(), ours) != names.end()) return std::string(ours);
  std::string best;
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  std::size_t least = std::max<std::size_t>(1, letters / 3) + 1;
  for (const auto& name : names) {
    std::size_t distance = edits(word, name);
    if (word.size() >= 2 && name.starts_with(word)) distance = 1;
    if (distance < least) least = distance, best = name;
  }
  return best;
}

}  // namespace seidel::drivers
