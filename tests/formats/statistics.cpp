// Row statistics by the formula, and the bytes of each format.
#include <seidel/formats/statistics.hpp>

#include "../backends.hpp"
#include "../matrices.hpp"

using namespace seidel;
using namespace seidel::tests;

TEST_CASE("row statistics are those of the definition, on every back end") {
  for (const auto& [name, A] : awkward_matrices()) {
    CAPTURE(name);
    std::int64_t max = 0, min = INT64_MAX, empty = 0, longest = -1;
    for (Index i = 0; i < A.nrows; ++i) {
      const std::int64_t length = A.row_ptr[i + 1] - A.row_ptr[i];
      if (longest < 0 || length > max) longest = i;
      max = std::max(max, length), min = std::min(min, length), empty += length == 0;
    }
    long double variance = 0;
    const long double mean = A.nrows ? (long double)A.nnz() / A.nrows : 0;
    for (Index i = 0; i < A.nrows; ++i) {
      const long double d = (long double)(A.row_ptr[i + 1] - A.row_ptr[i]) - mean;
      variance += d * d / A.nrows;
    }
    const auto verify = [&](const RowStatistics& s) {
      CHECK(s.nrows == A.nrows);
      CHECK(s.ncols == A.ncols);
      CHECK(s.nnz == A.nnz());
      CHECK(s.max == max);
      CHECK(s.min == (A.nrows ? min : 0));
      CHECK(s.empty_rows == empty);
      CHECK(s.longest_row == longest);
      CHECK(s.mean == double(mean));
      CHECK(std::fabs(s.variance - double(variance)) <= 4e-16 * double(variance));
      CHECK(s.padding_indicator == (max ? double(mean) / double(max) : 1));
    };
    on_every_backend([&](const auto& on) { verify(row_statistics(on, moved_to(on, A.view()).view())); });
    verify(row_statistics(OpenMP{2}, as<float, std::int32_t>(A).view()));
  }
}

TEST_CASE("the first of the longest rows is named, whatever the threads") {
  std::vector<Row> rows(40000, {{3, 1.0}});
  for (const Index longest : {39999, 20001, 20000, 11}) {
    rows[longest] = {{3, 1.0}, {7, 1.0}};
    const Matrix A = matrix_of(9, rows);
    on_every_backend(
        [&](const auto& on) { CHECK(row_statistics(on, moved_to(on, A.view()).view()).longest_row == longest); });
  }
}

TEST_CASE("the variance of equal rows is exactly zero") {
  const std::vector<Row> rows(999, {{0, 1.0}, {7, 1.0}, {8, 1.0}});
  CHECK(row_statistics(OpenMP{1}, matrix_of(9, rows).view()).variance == 0);
}

TEST_CASE("the bytes of each format are the same numbers on every back end") {
  for (const auto& named : awkward_matrices()) {
    CAPTURE(named.name);
    const FormatBytes expected = format_bytes(OpenMP{1}, named.matrix.view());
    on_every_backend([&](const auto& on) {
      const FormatBytes found = format_bytes(on, moved_to(on, named.matrix.view()).view());
      CHECK(found.csr32 == expected.csr32);
      CHECK(found.csr64 == expected.csr64);
      CHECK(found.coo == expected.coo);
      CHECK(found.ell == expected.ell);
      CHECK(found.sell == expected.sell);
      CHECK(found.ell_padding == expected.ell_padding);
      CHECK(found.sell_padding == expected.sell_padding);
    });
  }
}

TEST_CASE("the bytes of each format are those of the arrays that conversion makes") {
  const auto bytes = [](const auto&... arrays) {
    return (std::int64_t(0) + ... + (arrays.size() * std::int64_t(sizeof(arrays[0]))));
  };
  for (const auto& [name, A] : awkward_matrices()) {
    CAPTURE(name);
    for (int threads : {1, 3}) {
      const OpenMP on{threads};
      const FormatBytes found = format_bytes(on, A.view());
      const auto small = with_offsets<std::int32_t>(on, A.view());
      CHECK(found.csr64 == bytes(A.row_ptr, A.col_idx, A.values));
      CHECK(found.csr32 == bytes(small.row_ptr, small.col_idx, small.values));
      CHECK(found.coo == 16 * A.nnz());
      bool ell_taken = true, sell_taken = true;
      try {
        const auto E = to_ell(on, A.view());
        CHECK(found.ell == bytes(E.row_length, E.col_idx, E.values));
      } catch (const ResourceError&) {
        ell_taken = false;
      }
      try {
        const auto S = to_sell(on, A.view());
        CHECK(found.sell == bytes(S.slice_ptr, S.row_length, S.permutation, S.col_idx, S.values));
      } catch (const ResourceError&) {
        sell_taken = false;
      }
      CHECK(ell_taken == (found.ell_padding <= max_padding));
      CHECK(sell_taken == (found.sell_padding <= max_padding));
    }
  }
}
