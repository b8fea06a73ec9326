// What the tests of Matrix Market files share.
#pragma once
#include "../backends.hpp"
#include "../matrices.hpp"

#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <seidel/formats/matrix_market/matrix_market.hpp>

namespace seidel::tests {

/// `per_row` entries per row on average, of any finite bits; symmetry 1 or -1 mirrors them.
inline Matrix matrix_of_any_bits(Index nrows, Index ncols, int per_row, int symmetry, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Row> rows(nrows);
  for (std::int64_t k = 0; k < std::int64_t(nrows) * per_row; ++k) {
    const Index row = Index(random() % std::uint64_t(nrows)), col = Index(random() % std::uint64_t(ncols));
    double value = std::bit_cast<double>(random());
    if (k % 3 == 0) value = double(std::int64_t(random() % 2001) - 1000) / 8;
    if (std::isnan(value)) value = -0.0;
    if (symmetry == 0 || row != col) rows[row][col] = value;
    if (symmetry != 0 && row != col) rows[col][row] = symmetry * value;
    if (symmetry == 1 && row == col) rows[row][row] = value;
  }
  return matrix_of(ncols, rows);
}

inline ReadOptions with(int threads, std::int64_t chunk_bytes) {
  const ReadOptions options{.threads = threads, .chunk_bytes = chunk_bytes};
  return options;
}

}  // namespace seidel::tests
