// Conversions: every round trip gives the same bits, on every back end and any number of threads.
#include <seidel/formats/convert.hpp>

#include <algorithm>
#include <map>
#include <numeric>

#include <seidel/formats/check.hpp>

#include "../backends.hpp"
#include "../matrices.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

/// A matrix of any format in the memory of a back end, from poisoned memory where that is a GPU's, and back.
template <class B, class View>
auto there(const B& on, const View& A) {
  poison(on);
  return moved_to(on, A);
}
template <class B, class Real>
Coo<Real, typename B::Space> there(const B& on, const CooView<Real, Host>& A) {
  using Space = typename B::Space;
  poison(on);
  return {A.nrows, A.ncols, copied_to<Space>(on, A.row_idx), copied_to<Space>(on, A.col_idx),
          copied_to<Space>(on, A.values)};
}
template <class B, class Matrix>
auto here(const B& on, const Matrix& A) {
  return copied_to<Host>(on, A.view());
}

/// Triplets of A in the order given.
Coo<double> triplets(const Matrix& A, const std::vector<std::int64_t>& order) {
  std::vector<Index> row_of(A.nnz());
  for (Index i = 0; i < A.nrows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) row_of[k] = i;
  Coo<double> to{A.nrows, A.ncols, Array<Index>(A.nnz()), Array<Index>(A.nnz()), Array<double>(A.nnz())};
  for (std::int64_t k = 0; k < A.nnz(); ++k)
    to.row_idx[k] = row_of[order[k]], to.col_idx[k] = A.col_idx[order[k]], to.values[k] = A.values[order[k]];
  return to;
}

/// Transposed by sorting places.
Matrix reference_transpose(const Matrix& A) {
  std::vector<Row> rows(A.ncols);
  for (Index i = 0; i < A.nrows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) rows[A.col_idx[k]].emplace(i, A.values[k]);
  return matrix_of(A.nrows, rows);
}

}  // namespace

TEST_CASE("triplets in any order become the same canonical matrix") {
  std::mt19937_64 random(fresh_seed());
  for (const auto& [name, A] : awkward_matrices()) {
    CAPTURE(name);
    std::vector<std::int64_t> order(A.nnz());
    std::iota(order.begin(), order.end(), 0);
    const auto check_order = [&](const char* which) {
      CAPTURE(which);
      const auto coo = triplets(A, order);
      on_every_backend([&](auto on) {
        const auto moved = there(on, coo.view());
        ToCsrReport report{-1};
        CHECK(same_matrix(here(on, to_csr<std::int64_t>(on, moved.view(), &report)), A));
        CHECK(report.duplicates == 0);
        CHECK(same_matrix(here(on, to_csr<std::int32_t>(on, moved.view())), A));
      });
    };
    check_order("by rows");
    std::reverse(order.begin(), order.end());
    check_order("backwards");
    std::shuffle(order.begin(), order.end(), random);
    check_order("shuffled");
  }
}

TEST_CASE("entries in the same place are added in order of appearance and counted") {
  std::mt19937_64 random(fresh_seed());
  for (const bool by_rows : {false, true})
    for (const int n : {1, 5, 300, 2000, 60000}) {
      CAPTURE(n);
      const std::int64_t nnz = 5000 + 10 * n;
      Coo<double> coo{n, n, Array<Index>(nnz), Array<Index>(nnz), Array<double>(nnz)};
      for (std::int64_t k = 0; k < nnz; ++k) {
        coo.row_idx[k] = k % 3 == 0 ? n / 2 : Index(random() % n);
        coo.col_idx[k] = Index(random() % std::min(n, n == 2000 ? 4 : 200));  // four: short rows, many in one place
        coo.values[k] = random_value(random);
      }
      if (by_rows) std::sort(coo.row_idx.begin(), coo.row_idx.end());
      std::map<std::pair<Index, Index>, double> sums;
      std::int64_t duplicates = 0;
      for (std::int64_t k = 0; k < nnz; ++k) {
        const auto [at, first] = sums.try_emplace({coo.row_idx[k], coo.col_idx[k]}, coo.values[k]);
        if (!first) at->second += coo.values[k], ++duplicates;
      }
      std::vector<Row> rows(n);
      for (const auto& [place, value] : sums) rows[place.first].emplace(place.second, value);
      const Matrix expected = matrix_of(n, rows);
      on_every_backend([&](auto on) {
        ToCsrReport report;
        CHECK(same_matrix(here(on, to_csr<std::int64_t>(on, there(on, coo.view()).view(), &report)), expected));
        CHECK(report.duplicates == duplicates);
      });
    }
}

TEST_CASE("triplets outside the matrix are refused") {
  const std::vector<Index> zeros{0, 0};
  for (const auto& wrong : {std::vector<Index>{0, 2}, std::vector<Index>{-1, 5}}) {
    const auto refused_alike = [&](const Coo<double>& coo) {
      const std::string said = refusal([&] { to_csr<std::int32_t>(OpenMP{1}, coo.view()); });
      CHECK(said.substr(0, 6) == "entry ");
      on_every_backend([&](auto on) {
        const auto moved = there(on, coo.view());
        CHECK_THROWS_AS(to_csr<std::int32_t>(on, moved.view()), InputError);
        CHECK(refusal([&] { to_csr<std::int32_t>(on, moved.view()); }) == said);
      });
    };
    refused_alike({2, 2, wrong, zeros, std::vector<double>{1, 1}});
    refused_alike({2, 2, zeros, wrong, std::vector<double>{1, 1}});
  }
  const Coo<double> uneven{2, 2, std::vector<Index>{0}, zeros, std::vector<double>{1, 1}};
  on_every_backend([&](auto on) {
    const auto moved = there(on, uneven.view());
    CHECK_THROWS_AS(to_csr<std::int32_t>(on, moved.view()), ShapeError);
  });
}

TEST_CASE("the transpose has the entries where they belong, and (A')' is A") {
  for (const auto& [name, A] : awkward_matrices()) {
    CAPTURE(name);
    const Matrix expected = reference_transpose(A);
    on_every_backend([&](auto on) {
      const auto moved = there(on, A.view());
      const auto T = transpose(on, moved.view());
      CHECK(same_matrix(here(on, T), expected));
      CHECK(same_matrix(here(on, transpose(on, T.view())), A));
      const auto small = there(on, as<float, std::int32_t>(A).view());
      CHECK(same_matrix(here(on, transpose(on, small.view())), as<float, std::int32_t>(expected)));
      const auto C = to_csc(on, moved.view());
      CHECK(C.nrows == A.nrows);
      CHECK(C.ncols == A.ncols);
      CHECK(same_matrix(copied_to<Host>(on, C.view().transposed()), expected));
      CHECK(same_matrix(here(on, to_csr(on, C.view())), A));
    });
  }
}

TEST_CASE("random matrices survive every round trip") {
  std::mt19937_64 random(fresh_seed());
  for (int repeat = 0; repeat < 6; ++repeat) {
    const Matrix A = random_matrix(unsigned(random()), Index(1 + random() % 20000), Index(1 + random() % 20000),
                                   1 + Index(random() % 8));
    CAPTURE(repeat);
    CHECK_NOTHROW(check(A.view()));
    on_every_backend([&](auto on) {
      const auto moved = there(on, A.view());
      CHECK(same_matrix(here(on, transpose(on, transpose(on, moved.view()).view())), A));
      CHECK(same_matrix(here(on, to_csr<std::int64_t>(on, to_ell(on, moved.view()).view())), A));
      for (Index C : {1, 4, 32})
        for (Index sigma : {1, 64, 100000})
          CHECK(same_matrix(here(on, to_csr<std::int64_t>(on, to_sell(on, moved.view(), C, sigma).view())), A));
      const auto narrow = with_offsets<std::int32_t>(on, moved.view());
      CHECK(same_matrix(here(on, narrow), A));
      CHECK(same_matrix(here(on, with_offsets<std::int64_t>(on, narrow.view())), A));
    });
  }
}

TEST_CASE("ELLPACK stands column by column, padded with zeros, and comes back the same") {
  int refused = 0;
  for (const auto& [name, A] : awkward_matrices()) {
    CAPTURE(name);
    std::int64_t width = 0;
    for (Index i = 0; i < A.nrows; ++i) width = std::max(width, A.row_ptr[i + 1] - A.row_ptr[i]);
    if (A.nrows * width > max_padding * A.nnz()) {
      on_every_backend([&](auto on) { CHECK_THROWS_AS(to_ell(on, there(on, A.view()).view()), ResourceError); });
      ++refused;
      continue;
    }
    on_every_backend([&](auto on) {
      const auto moved = to_ell(on, there(on, A.view()).view());
      const auto E = here(on, moved);
      CHECK(E.width == width);
      CHECK(E.nnz == A.nnz());
      std::int64_t wrong = 0;
      for (Index i = 0; i < A.nrows; ++i) {
        const std::int64_t length = A.row_ptr[i + 1] - A.row_ptr[i];
        wrong += E.row_length[i] != length;
        for (Index k = 0; k < width; ++k) {
          const std::int64_t at = E.view().at(i, k), from = A.row_ptr[i] + k;
          wrong += E.col_idx[at] != (k < length ? A.col_idx[from] : 0) ||
                   E.values[at] != (k < length ? A.values[from] : 0.0);
        }
      }
      CHECK(wrong == 0);
      CHECK(same_matrix(here(on, to_csr<std::int32_t>(on, moved.view())), A));
      const auto small = as<float, std::int32_t>(A);
      CHECK(same_matrix(here(on, to_csr<std::int64_t>(on, to_ell(on, there(on, small.view()).view()).view())), small));
    });
  }
  CHECK(refused >= 3);  // the dense row, the long rows
}

TEST_CASE("SELL keeps rows of a window in descending length, stable, padded with zeros, and comes back the same") {
  for (const NamedMatrix& named : awkward_matrices())
    for (Index C : {1, 3, 32})
      for (Index sigma : {1, 2, 64, 1 << 20}) {
        const Matrix& A = named.matrix;
        CAPTURE(named.name);
        CAPTURE(C);
        CAPTURE(sigma);
        Sell<double> S;
        try {
          S = to_sell(OpenMP{1}, A.view(), C, sigma);
        } catch (const ResourceError&) {
          CHECK(C > 1);  // slices of one row need no padding
          on_every_backend(
              [&](auto on) { CHECK_THROWS_AS(to_sell(on, there(on, A.view()).view(), C, sigma), ResourceError); });
          continue;
        }
        const auto V = S.view();
        std::int64_t wrong = 0, nnz = 0;
        for (std::int64_t p = 0; p < C * V.nslices(); ++p) {
          if (p >= A.nrows) {
            wrong += S.row_length[p] != 0;
            continue;
          }
          const Index i = V.row_at(p);
          wrong += S.row_length[p] != A.row_ptr[i + 1] - A.row_ptr[i];
          wrong += i / sigma != p / sigma;  // it stays in its window
          if (p % sigma && (S.row_length[p] > S.row_length[p - 1] ||
                            (S.row_length[p] == S.row_length[p - 1] && i <= V.row_at(p - 1))))
            wrong += sigma > 1;
          nnz += S.row_length[p];
        }
        for (std::int64_t s = 0; s < V.nslices(); ++s) {
          Index width = 0;
          for (std::int64_t p = s * C; p < (s + 1) * C; ++p) width = std::max(width, S.row_length[p]);
          wrong += S.slice_ptr[s + 1] - S.slice_ptr[s] != std::int64_t(C) * width;
          for (std::int64_t p = s * C; p < (s + 1) * C; ++p)
            for (Index k = S.row_length[p]; k < width; ++k) {
              const std::int64_t at = S.slice_ptr[s] + std::int64_t(k) * C + p % C;
              wrong += S.col_idx[at] != 0 || S.values[at] != 0;
            }
        }
        CHECK(wrong == 0);
        CHECK(nnz == A.nnz());
        CHECK(S.permutation.empty() == (sigma == 1 || A.nrows == 0));
        on_every_backend([&](auto on) {
          const auto moved = to_sell(on, there(on, A.view()).view(), C, sigma);
          const auto T = here(on, moved);
          CHECK(T.nnz == S.nnz);
          CHECK(same_bits(T.slice_ptr, S.slice_ptr));
          CHECK(same_bits(T.row_length, S.row_length));
          CHECK(same_bits(T.permutation, S.permutation));
          CHECK(same_bits(T.col_idx, S.col_idx));
          CHECK(same_bits(T.values, S.values));
          CHECK(same_matrix(here(on, to_csr<std::int64_t>(on, moved.view())), A));
        });
      }
}

TEST_CASE("a padded format is refused in numbers before anything is allocated") {
  // A million rows, one of them full: 12 TB in ELLPACK. Had it been allocated, the message would be another.
  const Index n = 1000000;
  Matrix A{n, n, Array<std::int64_t>(n + 1), Array<Index>(2 * n - 1), Array<double>(2 * n - 1, 1.0)};
  A.row_ptr[0] = 0;
  for (Index i = 0; i < n; ++i) A.row_ptr[i + 1] = A.row_ptr[i] + (i == 77 ? n : 1);
  for (Index i = 0; i < n; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) A.col_idx[k] = i == 77 ? Index(k - A.row_ptr[i]) : i;
  CHECK_NOTHROW(check(A.view()));
  on_every_backend([&](auto on) {
    const auto moved = there(on, A.view());
    CHECK(refusal([&] { to_ell(on, moved.view()); }) ==
          "to_ell: 1000000 rows of 1999999 entries, the longest of 1000000, would take 12 TB: found 500000 places for "
          "each entry, "
          "expected at most 8\n  take SELL (to_sell), which pads only within a slice, or keep CSR");
    CHECK(refusal([&] { to_sell(on, moved.view()); }) ==
          "to_sell: 1000000 rows of 1999999 entries, the longest of 1000000, would take 400 MB: found 16 places for "
          "each entry, "
          "expected at most 8\n  sort rows of like length together (sigma above 1), or keep CSR");
    CHECK_THROWS_AS(to_sell(on, moved.view(), 0, 1), UsageError);
    CHECK_THROWS_AS(to_sell(on, moved.view(), 32, 0), UsageError);
    CHECK_THROWS_AS(to_sell(on, moved.view(), INT32_MAX, 1), UsageError);
  });
  CHECK(ell_bytes(n, n, 8) == std::int64_t(n) * n * 12 + 4 * std::int64_t(n));
  CHECK(ell_bytes(10, 3, 4) == 10 * 3 * 8 + 40);
  CHECK(ell_bytes(INT32_MAX, INT32_MAX, 8) == INT64_MAX);  // saturates
  CHECK(sell_bytes(33, 64, 32, 1, 8) == 64 * 12 + 3 * 8 + 64 * 4);
  CHECK(sell_bytes(33, 64, 32, 64, 8) == 64 * 12 + 3 * 8 + 64 * 4 + 33 * 4);
}

TEST_CASE("exactly 8 places per entry are taken, one more is refused") {
  const auto matrix = [](Index last) {  // 64 rows, one of 8, the others as long as it needs
    std::vector<Row> rows(64);
    for (Index k = 0; k < last; ++k) rows[0].emplace(k, 1.0);
    for (Index i = 1; i < 64 && i <= 64 - last; ++i) rows[i].emplace(i, 1.0);
    return matrix_of(64, rows);
  };
  const Matrix even = matrix(8);  // 64 * 8 places, 8 + 56 = 64 entries
  CHECK(even.nnz() == 64);
  on_every_backend([&](auto on) { CHECK_NOTHROW(to_ell(on, there(on, even.view()).view())); });
  std::vector<Row> rows(64);
  for (Index k = 0; k < 8; ++k) rows[0].emplace(k, 1.0);
  for (Index i = 1; i < 56; ++i) rows[i].emplace(i, 1.0);  // 63 entries
  const Matrix odd = matrix_of(64, rows);
  on_every_backend([&](auto on) { CHECK_THROWS_AS(to_ell(on, there(on, odd.view()).view()), ResourceError); });
}
