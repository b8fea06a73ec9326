// Sweeps of many matrices, random and real: every back end against one core, by ==.
#include "../backends.hpp"
#include "matrices.hpp"

#include <cstdlib>
#include <filesystem>

#include <seidel/formats/matrix_market/matrix_market.hpp>
#include <seidel/formats/multivector.hpp>
#include <seidel/formats/permute.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/orders/orders.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Of a shape that `seed` draws: few or many rows, short or long, near the diagonal or anywhere, `dofs` rows of one
/// pattern after another, a row and a column that are full.
Matrix drawn(unsigned seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return Index(random() % n); };
  const Index dofs = below(3) == 0 ? 2 + below(5) : 1, points = 1 + below(seed % 8 == 0 ? 6000 : 900) / dofs;
  const Index per_row = below(seed % 5 == 0 ? 80 : 8), reach = 1 + below(seed % 3 == 0 ? 40 : std::uint64_t(points));
  const Index full = seed % 11 == 0 ? below(std::uint64_t(points)) : -1;
  std::vector<Row> rows;
  for (Index p = 0; p < points; ++p) {
    std::vector<Index> neighbours = {p};
    for (Index k = 0; k < per_row; ++k) {
      const Index q = p - reach + below(2 * std::uint64_t(reach) + 1);
      if (q >= 0 && q < points) neighbours.push_back(q);
    }
    if (full >= 0) neighbours.push_back(full);
    if (p == full)
      for (Index q = 0; q < points; ++q) neighbours.push_back(q);
    std::sort(neighbours.begin(), neighbours.end());
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
    for (Index d = 0; d < dofs; ++d) {
      Row row;
      for (const Index q : neighbours)
        for (Index e = 0; e < dofs; ++e) row.emplace(q * dofs + e, random_value(random));
      rows.push_back(std::move(row));
    }
  }
  return with_dominant_diagonal(matrix_of(points * dofs, rows));
}

/// What sweeps leave, one after another; right-hand sides change between them, so that no value of one may serve the
/// next.
template <class Real, class B>
std::vector<std::vector<Real>> swept(const B& on, const Matrix& matrix) {
  const auto A = copied_to<SpaceOf<B>>(on, as<Real, std::int32_t>(matrix).view());
  const GaussSeidel<Real, std::int32_t, B> sweeps(on, A.view());
  auto x = moved_to(on, random_values<Real>(matrix.nrows, 3));
  std::vector<std::vector<Real>> seen;
  for (const unsigned seed : {1u, 2u}) {
    const auto b = moved_to(on, random_values<Real>(matrix.nrows, seed));
    const auto see = [&](const auto& sweep) {
      sweep();
      sweeps.check();
      seen.push_back(moved_back(on, x));
    };
    see([&] { sweeps.symmetric_from_zero(b, x); });
    see([&] { sweeps.forward(b, x, Real(1.2)); });
    see([&] { sweeps.backward(b, x); });
    see([&] { sweeps.symmetric(b, x); });
  }
  constexpr std::int64_t k = 11;  // a strip and what is left
  const auto R = moved_to(on, random_values<Real>(matrix.nrows * k, 4));
  auto X = moved_to(on, random_values<Real>(matrix.nrows * k, 5));
  sweeps.symmetric_from_zero(
      MultiVectorView<const Real, SpaceOf<B>>{matrix.nrows, k, k, Layout::row_major, R.data()},
      MultiVectorView<Real, SpaceOf<B>>{matrix.nrows, k, matrix.nrows, Layout::column_major, X.data()});
  sweeps.check();
  seen.push_back(moved_back(on, X));
  return seen;
}

template <class Real>
void same_everywhere(const Matrix& A) {
  const auto expected = swept<Real>(OpenMP{1}, A);
  const auto check = [&](const auto& on) {
    const auto found = swept<Real>(on, A);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      CHECK(same_bits(found[i], expected[i]));
    }
  };
  check(OpenMP{2});
  check(OpenMP{3});
  if constexpr (built_with_cuda) {
    if (have_gpu())
      check(Cuda{});
    else
      skipped_cuda();
  }
}

}  // namespace

TEST_CASE("natural order on every back end equals one core on 100 random matrices") {
  const unsigned first = fresh_seed();
  for (unsigned seed = first; seed < first + 100; ++seed) {
    CAPTURE(seed);
    const Matrix A = drawn(seed);
    same_everywhere<double>(A);
    if (seed % 4 == 0) same_everywhere<float>(A);
  }
}

TEST_CASE("natural order on every back end equals one core on the matrices in data/") {
  int swept_ones = 0;
  for (const auto& file : std::filesystem::directory_iterator(SEIDEL_SOURCE_DIR "/data")) {
    const std::string name = file.path().string();
    if (!name.ends_with(".mtx.gz")) continue;
    CAPTURE(name);
    const Matrix A = read_matrix_market(name).matrix;
    try {
      same_everywhere<double>(A);
      ++swept_ones;
    } catch (const ZeroDiagonal&) {
      CHECK(name.find("tumor") != name.npos);
    }
  }
  CHECK(swept_ones == 7);
}

TEST_CASE("every order on every back end equals one core on the matrices in the folder SEIDEL_TEST_MATRICES" *
          doctest::skip(!std::getenv("SEIDEL_TEST_MATRICES"))) {
  const char* const folder = std::getenv("SEIDEL_TEST_MATRICES");
  int swept_ones = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().string();
    if (!name.ends_with(".mtx") && !name.ends_with(".mtx.gz")) continue;
    CAPTURE(name);
    Matrix A;
    try {
      A = read_matrix_market(name).matrix;
      (void)GaussSeidel<double, std::int64_t, OpenMP>(OpenMP{1}, A.view());
    } catch (const Error&) {
      continue;  // complex, not square, or without a full diagonal
    }
    MESSAGE(name);
    ++swept_ones;
    same_everywhere<double>(A);
    same_everywhere<double>(
        permuted(OpenMP{1}, A.view(), colour_order(OpenMP{1}, greedy_colours(OpenMP{1}, A.view())).span()));
  }
  MESSAGE(swept_ones << " matrices");
  CHECK(swept_ones > 0);
}
