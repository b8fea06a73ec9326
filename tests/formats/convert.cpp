// Conversions: every round trip gives the same bits, on any number of threads.
#include <seidel/formats/convert.hpp>

#include <algorithm>
#include <map>
#include <numeric>

#include <seidel/formats/check.hpp>

#include "../matrices.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

template <class Test>
void on_every_host(const Test& test) {
  test(Serial{});
  for (int threads : {1, 2, 3, 7}) {
    CAPTURE(threads);
    test(OpenMP{threads});
  }
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
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) rows[A.col_idx[k]].emplace_back(i, A.values[k]);
  return matrix_of(A.nrows, rows);
}

}  // namespace

TEST_CASE("triplets in any order become the same canonical matrix") {
  const unsigned seed = fresh_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (const auto& [name, A] : awkward_matrices()) {
    CAPTURE(name);
    std::vector<std::int64_t> order(A.nnz());
    std::iota(order.begin(), order.end(), 0);
    const auto check_order = [&](const char* which) {
      CAPTURE(which);
      const auto coo = triplets(A, order);
      on_every_host([&](auto on) {
        ToCsrReport report{-1};
        CHECK(same_matrix(to_csr<std::int64_t>(on, coo.view(), &report), A));
        CHECK(report.duplicates == 0);
        CHECK(same_matrix(to_csr<std::int32_t>(on, coo.view()), A));
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
  const unsigned seed = fresh_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
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
      for (const auto& [place, value] : sums) rows[place.first].emplace_back(place.second, value);
      const Matrix expected = matrix_of(n, rows);
      on_every_host([&](auto on) {
        ToCsrReport report;
        CHECK(same_matrix(to_csr<std::int64_t>(on, coo.view(), &report), expected));
        CHECK(report.duplicates == duplicates);
      });
    }
}

TEST_CASE("triplets outside the matrix are refused") {
  const Coo<double> coo{2, 2, std::vector<Index>{0, 2}, std::vector<Index>{0, 0}, std::vector<double>{1, 1}};
  CHECK_THROWS_AS(to_csr<std::int32_t>(Serial{}, coo.view()), InputError);
}

TEST_CASE("the transpose has the entries where they belong, and (A')' is A") {
  for (const auto& [name, A] : awkward_matrices()) {
    CAPTURE(name);
    const Matrix expected = reference_transpose(A);
    on_every_host([&](auto on) {
      const auto T = transpose(on, A.view());
      CHECK(same_matrix(T, expected));
      CHECK(same_matrix(transpose(on, T.view()), A));
      const auto small = as<float, std::int32_t>(A);
      CHECK(same_matrix(transpose(on, small.view()), as<float, std::int32_t>(expected)));
      const auto C = to_csc(on, A.view());
      CHECK(C.nrows == A.nrows);
      CHECK(C.ncols == A.ncols);
      CHECK(same_matrix(C.view().transposed(), expected.view()));
      CHECK(same_matrix(to_csr(on, C.view()), A));
    });
  }
}

TEST_CASE("random matrices survive every round trip") {
  const unsigned seed = fresh_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int repeat = 0; repeat < 6; ++repeat) {
    const Matrix A = random_matrix(unsigned(random()), Index(1 + random() % 20000), Index(1 + random() % 20000),
                                   1 + Index(random() % 8));
    CAPTURE(repeat);
    CHECK_NOTHROW(check(A.view()));
    on_every_host([&](auto on) {
      CHECK(same_matrix(transpose(on, transpose(on, A.view()).view()), A));
      CHECK(same_matrix(to_csr<std::int64_t>(on, to_ell(on, A.view()).view()), A));
      for (Index C : {1, 4, 32})
        for (Index sigma : {1, 64, 100000})
          CHECK(same_matrix(to_csr<std::int64_t>(on, to_sell(on, A.view(), C, sigma).view()), A));
      CHECK(same_matrix(with_offsets<std::int32_t>(on, A.view()), A));
      CHECK(same_matrix(with_offsets<std::int64_t>(on, with_offsets<std::int32_t>(on, A.view()).view()), A));
    });
  }
}

TEST_CASE("ELLPACK stands column by column, padded with zeros, and comes back the same") {
  int refused = 0;
  for (const auto& [name, A] : awkward_matrices()) {
    CAPTURE(name);
    std::int64_t width = 0;
    for (Index i = 0; i < A.nrows; ++i) width = std::max(width, A.row_ptr[i + 1] - A.row_ptr[i]);
    if (A.nrows * width > padding_at_most * A.nnz()) {
      CHECK_THROWS_AS(to_ell(Serial{}, A.view()), ResourceError);
      ++refused;
      continue;
    }
    on_every_host([&](auto on) {
      const auto E = to_ell(on, A.view());
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
      CHECK(same_matrix(to_csr<std::int32_t>(on, E.view()), A));
      const auto small = as<float, std::int32_t>(A);
      CHECK(same_matrix(to_csr<std::int64_t>(on, to_ell(on, small.view()).view()), small));
    });
  }
  CHECK(refused >= 3);  // the dense row, the long rows
}

TEST_CASE("SELL keeps rows of a window in descending length, stable, padded with zeros, and comes back the same") {
  for (const auto& [name, A] : awkward_matrices())
    for (Index C : {1, 3, 32})
      for (Index sigma : {1, 2, 64, 1 << 20}) {
        CAPTURE(name);
        CAPTURE(C);
        CAPTURE(sigma);
        Sell<double> S;
        try {
          S = to_sell(Serial{}, A.view(), C, sigma);
        } catch (const ResourceError&) {
          CHECK(C > 1);  // slices of one row need no padding
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
        for (int threads : {1, 2, 3, 7}) {
          const OpenMP on{threads};
          const auto T = to_sell(on, A.view(), C, sigma);
          CHECK(same_bits(T.slice_ptr, S.slice_ptr));
          CHECK(same_bits(T.row_length, S.row_length));
          CHECK(same_bits(T.permutation, S.permutation));
          CHECK(same_bits(T.col_idx, S.col_idx));
          CHECK(same_bits(T.values, S.values));
          CHECK(same_matrix(to_csr<std::int64_t>(on, T.view()), A));
        }
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
  const auto refusal = [&](auto convert) -> std::string {
    try {
      convert();
    } catch (const ResourceError& error) {
      return error.what();
    }
    return "";
  };
  for (int threads : {1, 3}) {
    const OpenMP on{threads};
    CHECK(refusal([&] { to_ell(on, A.view()); }) ==
          "to_ell: 1000000 rows of 1999999 entries, the longest of 1000000, would take 12 TB: found 500000 places for "
          "each entry, "
          "expected at most 8\n  take SELL (to_sell), which pads only within a slice, or keep CSR");
    CHECK(refusal([&] { to_sell(on, A.view()); }) ==
          "to_sell: 1000000 rows of 1999999 entries, the longest of 1000000, would take 400 MB: found 16 places for "
          "each entry, "
          "expected at most 8\n  sort rows of like length together (sigma above 1), or keep CSR");
  }
  CHECK(ell_bytes<double>(n, n) == std::int64_t(n) * n * 12 + 4 * std::int64_t(n));
  CHECK(ell_bytes<float>(10, 3) == 10 * 3 * 8 + 40);
  CHECK(ell_bytes<double>(INT32_MAX, INT32_MAX) == INT64_MAX);  // saturates
  CHECK(sell_bytes<double>(33, 64) == 64 * 12 + 3 * 8 + 64 * 4);
  CHECK(sell_bytes<double>(33, 64, 32, 64) == 64 * 12 + 3 * 8 + 64 * 4 + 33 * 4);
  CHECK_THROWS_AS(to_sell(Serial{}, A.view(), 0, 1), UsageError);
  CHECK_THROWS_AS(to_sell(Serial{}, A.view(), 32, 0), UsageError);
  CHECK_THROWS_AS(to_sell(Serial{}, A.view(), INT32_MAX, 1), UsageError);
}

TEST_CASE("exactly 8 places an entry are taken, one more is refused") {
  const auto matrix = [](Index last) {  // 64 rows, one of 8, the others as long as it needs
    std::vector<Row> rows(64);
    for (Index k = 0; k < last; ++k) rows[0].emplace_back(k, 1.0);
    for (Index i = 1; i < 64 && i <= 64 - last; ++i) rows[i].emplace_back(i, 1.0);
    return matrix_of(64, rows);
  };
  const Matrix even = matrix(8);  // 64 * 8 places, 8 + 56 = 64 entries
  CHECK(even.nnz() == 64);
  CHECK_NOTHROW(to_ell(Serial{}, even.view()));
  std::vector<Row> rows(64);
  for (Index k = 0; k < 8; ++k) rows[0].emplace_back(k, 1.0);
  for (Index i = 1; i < 56; ++i) rows[i].emplace_back(i, 1.0);  // 63 entries
  CHECK_THROWS_AS(to_ell(Serial{}, matrix_of(64, rows).view()), ResourceError);
}
