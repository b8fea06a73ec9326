// What is read depends neither on the order of a file nor on the threads.
#include "matrix_market.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <sstream>

#include <seidel/formats/generators/generate.hpp>

using namespace seidel;
using namespace seidel::tests;

TEST_CASE("the order of entries in a file and the threads never change a result") {
  const std::uint64_t seed = fresh_seed();
  std::mt19937_64 random(seed);
  // Rows of 0, a few, 25, 300 and 6000 entries: each way of sorting; and a dense column.
  std::vector<std::array<int, 2>> places;
  const auto add_row = [&](int row, int count) {
    std::vector<int> columns(6000);
    for (int k = 0; k < 6000; ++k) columns[k] = k + 1;
    std::shuffle(columns.begin(), columns.end(), random);
    for (int k = 0; k < count; ++k) places.push_back({row, columns[k]});
  };
  for (int row = 1; row <= 600; ++row)
    add_row(row, row == 7 ? 6000 : row % 30 == 0 ? 600 : row % 10 == 0 ? 25 : row % 3);
  const auto text_of = [&] {
    std::string text =
        "%%MatrixMarket matrix coordinate integer general\n600 6000 " + std::to_string(places.size()) + "\n";
    for (const auto& [row, col] : places)
      text += std::to_string(row) + " " + std::to_string(col) + " " + std::to_string(row * 10000 + col) + "\n";
    return text;
  };
  std::sort(places.begin(), places.end());
  const Matrix expected = std::move(parse_matrix_market(text_of(), "text", with(1, 1 << 20)).matrix);
  REQUIRE(expected.nnz() == std::int64_t(places.size()));
  for (int order = 0; order < 3; ++order) {
    if (order == 0)
      std::sort(places.begin(), places.end(),
                [](auto a, auto b) { return std::pair(a[1], a[0]) < std::pair(b[1], b[0]); });
    if (order == 1) std::reverse(places.begin(), places.end());
    if (order == 2) std::shuffle(places.begin(), places.end(), random);
    const std::string text = text_of();
    for (int threads : {1, 2, 3, 7})
      CHECK(same_matrix(parse_matrix_market(text, "text", with(threads, 1000)).matrix, expected));
  }
}

TEST_CASE("duplicates are added in the order of the file by every number of threads") {
  const std::uint64_t seed = fresh_seed();
  for (const char* symmetry : {"general", "symmetric", "skew-symmetric"}) {
    CAPTURE(symmetry);
    std::mt19937_64 random(seed);
    std::map<std::pair<int, int>, double> sums;
    const int n = 40, entries = 20000;
    std::ostringstream text;
    text.precision(17);
    text << "%%MatrixMarket matrix coordinate real " << symmetry << "\n" << n << " " << n << " " << entries << "\n";
    for (int k = 0; k < entries; ++k) {
      int row = 1 + int(random() % n), col = 1 + int(random() % n);
      if (symmetry[0] == 's' && row < col) std::swap(row, col);
      if (symmetry[1] == 'k' && row == col) row == n ? --col : ++row;
      const double value = std::ldexp(double(random() >> 11), int(random() % 60)) * (k % 2 ? 1 : -1);
      text << row << " " << col << " " << value << "\n";
      const auto add = [&](int i, int j, double v) {
        const auto [at, fresh] = sums.try_emplace({i, j}, v);
        if (!fresh) at->second += v;
      };
      add(row, col, value);
      if (symmetry[0] == 's' && row != col) add(col, row, symmetry[1] == 'k' ? -value : value);
    }
    std::vector<double> expected;
    for (const auto& [place, sum] : sums) expected.push_back(sum);
    std::int64_t distinct = 0;
    for (const auto& [place, sum] : sums) distinct += symmetry[0] == 'g' || place.first >= place.second;
    for (int threads : {1, 2, 3, 7}) {
      const auto file = parse_matrix_market(text.str(), "text", with(threads, 1000));
      CHECK(same_bits(file.matrix.values, Array<double>(expected)));
      CHECK(file.report.duplicates == entries - distinct);
    }
  }
}

TEST_CASE("one triangle, by columns or in another order, is the whole matrix") {
  for (const auto& [symmetry, whole_diagonal] : {std::pair(1, false), std::pair(1, true), std::pair(-1, false)}) {
    const Matrix A =
        whole_diagonal ? generate(OpenMP{1}, "spd:400:9") : matrix_of_any_bits(400, 400, 9, symmetry, fresh_seed());
    std::vector<std::string> by_columns, by_rows;  // a row of A to the right of the diagonal is a column below it
    for (Index i = 0; i < A.nrows; ++i)
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const Index j = A.col_idx[k];
        char line[64];
        std::snprintf(line, sizeof line, "%d %d %.17g\n", std::max(i, j) + 1, std::min(i, j) + 1,
                      i < j ? symmetry * A.values[k] : A.values[k]);
        if (i <= j) by_columns.push_back(line);
        if (i >= j) by_rows.push_back(line);
      }
    std::vector<std::string> late_swap = by_columns, with_duplicate = by_columns;
    std::swap(late_swap[late_swap.size() - 1], late_swap[late_swap.size() - 2]);
    with_duplicate.push_back(with_duplicate.back().substr(0, with_duplicate.back().rfind(' ')) + " -0\n");
    for (const auto* lines : {&by_columns, &by_rows, &late_swap, &with_duplicate}) {
      std::string text = std::string("%%MatrixMarket matrix coordinate real ") +
                         (symmetry == 1 ? "symmetric" : "skew-symmetric") + "\n400 400 " +
                         std::to_string(lines->size()) + "\n";
      for (const std::string& line : *lines) text += line;
      for (const int threads : {1, 2, 3, 7})
        CHECK(same_matrix(parse_matrix_market(text, "text", with(threads, 1000)).matrix, A));
    }
  }
}

TEST_CASE("a triangle of any shape is mirrored alike by every number of threads") {
  const Index n = 9000;
  const std::uint64_t seed = fresh_seed();
  std::mt19937_64 random(seed);
  const auto with_diagonal = [&](auto add, auto shape) {
    for (Index i = 0; i < n; ++i) add(i, i);
    shape(add);
  };
  // Rows move far, by one entry only, not at all, or all of them late.
  const std::pair<std::string, std::function<void(const std::function<void(Index, Index)>&)>> shapes[] = {
      {"band",
       [&](auto add) {
         for (Index i = 1; i < n; ++i)
           for (Index j : {i - 1, i - 7, i - 90})
             if (j >= 0) add(i, j);
       }},
      {"anything",
       [&](auto add) {
         for (int k = 0; k < 40000; ++k) add(Index(random() % n), Index(random() % n));
       }},
      {"first column",
       [&](auto add) {
         with_diagonal(add, [&](auto add) {
           for (Index i = 1; i < n; ++i) add(i, 0);
         });
       }},
      {"last row",
       [&](auto add) {
         with_diagonal(add, [&](auto add) {
           for (Index j = 0; j < n; ++j) add(n - 1, j);
         });
       }},
      {"one pair", [&](auto add) { with_diagonal(add, [&](auto add) { add(1, 0); }); }},
      {"a corner",
       [&](auto add) {
         for (Index i = n - 200; i < n; ++i)
           for (Index j = n - 200; j < i; ++j) add(i, j);
       }},
      {"opposite corner", [&](auto add) {
         for (Index i = n - 150; i < n; ++i)
           for (Index j = 0; j < 150; ++j) add(i, j);
       }}};
  for (const auto& one : shapes)
    for (const bool skew : {false, true}) {
      const auto& shape = one.second;
      CAPTURE(one.first);
      CAPTURE(skew);
      std::map<std::pair<Index, Index>, int> lower, all;
      shape([&](Index i, Index j) {
        if (i < j) std::swap(i, j);
        if (skew && i == j) return;
        const int value = int(random() % 1000) - 500;
        lower[{i, j}] = all[{i, j}] = value;
        if (i != j) all[{j, i}] = skew ? -value : value;
      });
      const auto text_of = [&](const char* symmetry, const auto& entries, bool by_columns) {
        std::string text = std::string("%%MatrixMarket matrix coordinate integer ") + symmetry + "\n" +
                           std::to_string(n) + " " + std::to_string(n) + " " + std::to_string(entries.size()) + "\n";
        std::vector<std::pair<std::pair<Index, Index>, int>> sorted(entries.begin(), entries.end());
        if (by_columns)
          std::stable_sort(sorted.begin(), sorted.end(),
                           [](auto a, auto b) { return a.first.second < b.first.second; });
        for (const auto& [at, value] : sorted)
          text +=
              std::to_string(at.first + 1) + " " + std::to_string(at.second + 1) + " " + std::to_string(value) + "\n";
        return text;
      };
      const Matrix expected =
          std::move(parse_matrix_market(text_of("general", all, false), "text", with(1, 1 << 20)).matrix);
      for (const bool by_columns : {true, false}) {
        const std::string text = text_of(skew ? "skew-symmetric" : "symmetric", lower, by_columns);
        for (const int threads : {1, 2, 3, 7}) {
          const Matrix A = std::move(parse_matrix_market(text, "text", with(threads, 1 << 14)).matrix);
          // -0 of a skew file is not the 0 of the general one
          CHECK(same_bits(A.row_ptr, expected.row_ptr));
          CHECK(same_bits(A.col_idx, expected.col_idx));
          CHECK(std::equal(A.values.begin(), A.values.end(), expected.values.begin()));
        }
      }
    }
}
