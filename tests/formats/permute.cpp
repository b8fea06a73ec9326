// Permutations of unknowns.
#include <seidel/formats/permute.hpp>

#include <numeric>
#include <string>

#include <seidel/formats/check.hpp>

#include "../backends.hpp"
#include "../matrices.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

std::vector<Index> random_permutation(std::mt19937_64& random, Index n) {
  std::vector<Index> p(n);
  std::iota(p.begin(), p.end(), 0);
  std::shuffle(p.begin(), p.end(), random);
  return p;
}

HostSpan<const Index> span(const std::vector<Index>& p) { return {p.data(), std::int64_t(p.size())}; }

template <class B>
std::string refusal(const B& on, const std::vector<Index>& p, Index n) {
  return tests::refusal<Error>([&] { inverse_permutation(on, moved_to(on, p).span(), n); });
}

}  // namespace

TEST_CASE("a permuted matrix has entry (p[i], p[j]) at (i, j), and the inverse permutation takes it back") {
  std::mt19937_64 random(fresh_seed());
  for (const auto& [name, A] : awkward_matrices()) {
    if (A.nrows != A.ncols) {
      CHECK_THROWS_AS(permuted(OpenMP{1}, A.view(), span(random_permutation(random, A.nrows))), ShapeError);
      continue;
    }
    CAPTURE(name);
    const Index n = A.nrows;
    const auto p = random_permutation(random, n);
    std::vector<Index> inverse(n);
    for (Index k = 0; k < n; ++k) inverse[p[k]] = k;
    std::vector<Row> rows(n);
    for (Index k = 0; k < n; ++k)
      for (std::int64_t e = A.row_ptr[p[k]]; e < A.row_ptr[p[k] + 1]; ++e)
        rows[k].emplace(inverse[A.col_idx[e]], A.values[e]);
    const Matrix expected = matrix_of(n, rows);
    on_every_backend([&](auto on) {
      poison(on);
      const auto order = moved_to(on, p), back = moved_to(on, inverse);
      CHECK(same_bits(moved_back(on, inverse_permutation(on, order.span(), n)), inverse));
      const auto B = permuted(on, moved_to(on, A.view()).view(), order.span());
      CHECK(same_matrix(copied_to<Host>(on, B.view()), expected));
      CHECK(same_matrix(copied_to<Host>(on, permuted(on, B.view(), back.span()).view()), A));
      const auto small = copied_to<typename decltype(on)::Space>(on, as<float, std::int32_t>(A).view());
      CHECK(same_matrix(copied_to<Host>(on, permuted(on, small.view(), order.span()).view()),
                        as<float, std::int32_t>(expected)));
    });
  }
}

TEST_CASE("what is not a permutation is refused with its first fault, whatever the threads") {
  on_every_backend([](auto on) {
    CHECK(refusal(on, {0, 1}, 3) == "permutation: found 2 entries, expected 3");
    CHECK(refusal(on, {0, 3, -1}, 3) == "permutation: found entry 2 to be 3, expected 0 ... 2");
    CHECK(refusal(on, {0, -1, 3}, 3) == "permutation: found entry 2 to be -1, expected 0 ... 2");
    CHECK(refusal(on, {2, 1, 2}, 3) == "permutation: found 2 as entries 1 and 3, expected each of 0 ... 2 once");
    std::vector<Index> p(50000);
    std::iota(p.begin(), p.end(), 0);
    p[49999] = 17, p[30000] = 100, p[100] = 30000;
    p[40000] = 3;
    CHECK(refusal(on, p, 50000) == "permutation: found 3 as entries 4 and 40001, expected each of 0 ... 49999 once");
  });
}
