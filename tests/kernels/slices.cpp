// Slices of a sweep: rows that do not need each other, each row once and in an order that a sweep may take.
#include "../backends.hpp"
#include "matrices.hpp"

#include <seidel/kernels/symgs/host/slices.hpp>
#include <seidel/kernels/symgs/reference.hpp>

using namespace seidel;
using namespace seidel::tests;
using namespace seidel::symgs_detail;

namespace {

/// `width` chains side by side, so that each wavefront has as many rows.
Plain chains(Index width, Index length) {
  Plain A{width * length, std::vector<std::map<Index, double>>(width * length)};
  for (Index i = 0; i < A.nrows(); ++i) {
    A.rows[i][i] = 4;
    if (i >= width) A.rows[i][i - width] = 1;
  }
  return A;
}

/// Nine rows for each pair of lengths left and right of the diagonal; the rows that they need have no others.
Plain lengths_on_both_sides(const std::vector<Index>& lengths) {
  const Index side = 2049, middle = Index(9 * lengths.size() * lengths.size()), n = 2 * side + middle;
  Plain A{n, std::vector<std::map<Index, double>>(n)};
  for (Index i = 0; i < n; ++i) A.rows[i][i] = 4;
  Index i = side;
  for (const Index lower : lengths)
    for (const Index upper : lengths)
      for (int copy = 0; copy < 9; ++copy, ++i) {
        for (Index k = 0; k < lower; ++k) A.rows[i][k] = 1. / (1 + k + i % 7);
        for (Index k = 0; k < upper; ++k) A.rows[i][n - 1 - k] = 1. / (2 + k + i % 5);
      }
  return with_dominant_diagonal(std::move(A));
}

/// What is wrong with the runs of A swept by so many threads; rows in slices, and in shifted ones, are counted.
struct Found {
  std::int64_t wrong = 0, in_slices = 0, shifted = 0;
};
/// Columns of a row, less the row.
std::vector<Index> pattern(const Plain& A, Index i) {
  std::vector<Index> columns;
  for (const auto& [j, value] : A.rows[i]) columns.push_back(j - i);
  return columns;
}
Found look_at(const Plain& plain, int threads) {
  const auto A = csr_of<double>(plain);
  Schedule schedule = threads > 1 ? Schedule(OpenMP{threads}, A.row_ptr.span(), A.col_idx.span()) : Schedule(A.nrows);
  const auto runs =
      cut_into_runs<std::int32_t>(OpenMP{threads}, std::as_const(A.row_ptr), std::as_const(A.col_idx), schedule);
  const Index* const rows = std::as_const(schedule).rows();
  Found found;
  std::vector<std::int64_t> slice_of(A.nrows, -1), stretch_of(A.nrows, -1);
  std::int64_t nslices = 0, place = 0, lower = 0, lower_columns = 0;
  std::int64_t nstretches = 0;
  schedule.each_stretch([&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = first; p < last; ++p) stretch_of[rows[p]] = nstretches;
    ++nstretches;
  });
  for (const auto& run : runs) {
    found.wrong += run.first != place || run.last <= run.first || run.count() % run.height != 0;
    found.wrong += run.height < 1 || run.height > slice_height;
    found.wrong += run.height != 1 && std::max(run.lower, run.upper) > short_sum;
    found.wrong += run.shifted && run.height == 1;
    found.wrong += stretch_of[rows[run.first]] != stretch_of[rows[run.last - 1]];
    found.wrong += run.lower_at != lower || run.lower_columns_at != lower_columns;
    if (run.height > 1) found.in_slices += run.count();
    if (run.shifted) found.shifted += run.count();
    bool shifted = run.height > 1;
    for (std::int64_t p = run.first; p < run.last; ++p)
      shifted &= pattern(plain, rows[p]) == pattern(plain, rows[run.first]);
    found.wrong += run.shifted && !shifted;
    for (; place < run.last; ++place) {
      const Index i = rows[place];
      found.wrong += slice_of[i] != -1;
      slice_of[i] = nslices + (place - run.first) / run.height;
      const auto diagonal = plain.rows[i].find(i);
      found.wrong += run.lower != std::distance(plain.rows[i].begin(), diagonal);
      found.wrong += run.upper != std::distance(diagonal, plain.rows[i].end()) - 1;
    }
    nslices += run.count() / run.height;
    lower += run.count() * run.lower;
    lower_columns += (run.shifted ? 1 : run.count()) * run.lower;
  }
  found.wrong += place != A.nrows;
  std::int64_t upper = 0, upper_columns = 0;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    found.wrong += run->upper_at != upper || run->upper_columns_at != upper_columns;
    upper += run->count() * run->upper;
    upper_columns += run->rows_with_columns() * run->upper;
  }
  for (Index i = 0; i < A.nrows; ++i)
    for (const auto& [j, value] : plain.rows[i])
      if (i != j && stretch_of[i] == stretch_of[j]) found.wrong += (i < j) != (slice_of[i] < slice_of[j]);
  return found;
}

}  // namespace

TEST_CASE("slices hold each row once, after the rows before it that A or A' couples it to") {
  const unsigned seed = fresh_seed();
  for (const int threads : {1, 2, 3}) {
    CAPTURE(threads);
    for (const auto& [name, plain] : awkward_to_sweep(seed)) {
      CAPTURE(name);
      CHECK(look_at(plain, threads).wrong == 0);
    }
    CHECK(look_at(lengths_on_both_sides({0, 1, 63, 64, 65, 2048, 2049}), threads).wrong == 0);
  }
}

TEST_CASE("what sweeps will hold is known to the byte before they are made") {
  std::vector<Plain> matrices{lengths_on_both_sides({0, 1, 63, 64, 65, 2048, 2049}), poisson(24, 21, 10)};
  for (const Index width : {3, 4, 7, 8, 13}) matrices.push_back(with_dominant_diagonal(chains(width, 300)));
  for (auto& named : awkward_to_sweep(fresh_seed())) matrices.push_back(std::move(named.plain));
  for (const Plain& plain : matrices)
    for (const int threads : {1, 2, 3}) {
      CAPTURE(threads);
      const auto fp64 = csr_of<double>(plain);
      const auto fp32 = csr_of<float>(plain);
      const OpenMP on{threads};
      CHECK(SweepAnalysis(on, fp64.view()).bytes() == GaussSeidel(on, fp64.view()).bytes());
      CHECK(SweepAnalysis(on, fp32.view()).bytes() == GaussSeidel(on, fp32.view()).bytes());
    }
}

TEST_CASE("rows that do not need each other fill slices, from 4 rows of equal lengths on; long rows do not") {
  for (const Index width : {1, 3, 4, 7, 8, 9, 11, 12, 15, 16, 17}) {
    CAPTURE(width);
    const Found found = look_at(chains(width, 40), 1);
    CHECK(found.wrong == 0);
    CHECK(found.in_slices == 40 * (width % 8 >= 4 ? width : width / 8 * 8));
    CHECK(found.shifted == found.in_slices);
  }
  const Found found = look_at(lengths_on_both_sides({1, 64, 65}), 1);
  CHECK(found.wrong == 0);
  CHECK(found.in_slices < 2 * 2049 + 9 * 9 - 5 * 9);  // rows of 65 stand alone
  CHECK(found.in_slices >= 2 * 2040);
}

TEST_CASE("rows of one shape are shifted slices; a hole in one row, or one that lies elsewhere, is seen") {
  // Chains side by side, each coupled to a row far away.
  const Index width = 16, length = 60, n = width * length;
  const auto coupled_to = [&](const auto& far_of) {
    Plain A = chains(width, length);
    for (Index i = 0; i < n; ++i) {
      const Index far = far_of(i);
      if (far >= 0 && far < n) A.rows[i][far] = .5;
    }
    return A;
  };
  const auto shifted = [&](const Plain& A) {
    const Found found = look_at(A, 1);
    CHECK(found.wrong == 0);
    return found.shifted;
  };
  const Index distance = 10 * width;
  const std::int64_t all = shifted(coupled_to([&](Index i) { return i + distance; }));
  CHECK(all == n);
  // Every fifth row of the same lengths has it one row on: no slice of 8 neighbours is shifted any more, but those that
  // rows of one shape fill by themselves.
  const std::int64_t elsewhere = shifted(coupled_to([&](Index i) { return i + distance + (i % 5 == 0); }));
  CHECK(elsewhere < all);
  CHECK(elsewhere >= 0);
  // Every fifth row lacks it: such rows find slices of their own.
  const std::int64_t hole = shifted(coupled_to([&](Index i) { return i % 5 == 0 ? -1 : i + distance; }));
  CHECK(hole < all);
}

TEST_CASE("rows at the seams of slices and of the sum have the same bits on every back end") {
  std::vector<Plain> matrices{lengths_on_both_sides({0, 1, 63, 64, 65, 2048, 2049})};
  for (const Index width : {1, 4, 7, 8, 9, 13, 17}) matrices.push_back(with_dominant_diagonal(chains(width, 300)));
  matrices.push_back(poisson(24, 21, 10));  // ends within a tile, and within a slice
  Plain holes = poisson(16, 16, 20);
  for (Index i = 0; i < holes.nrows(); i += 5) holes.rows[i].erase(i + 16), holes.rows[i].erase(i - 256);
  matrices.push_back(holes);
  for (const Plain& plain : matrices) {
    const auto A_host = csr_of<double>(plain);
    const auto b = random_values<double>(plain.nrows(), 5);
    std::vector<double> expected(plain.nrows(), 0);
    for (const auto direction : {Direction::forward, Direction::backward})
      reference_sweep(A_host.view(), direction, b.data(), expected.data(), 1.0);
    on_every_backend([&](auto on) {
      const auto A = moved_to(on, A_host.view());
      const GaussSeidel<double, std::int32_t, decltype(on)> sweeps(on, A.view());
      auto x = moved_to(on, poisoned<double>(plain.nrows()));
      sweeps.symmetric_from_zero(moved_to(on, b), x);
      on.synchronize();
      CHECK(differing(moved_back(on, x), expected) == 0);
    });
  }
}
