// Symmetric positive definite, entries at random positions.
#include <cmath>

#include <seidel/formats/convert.hpp>
#include <seidel/formats/generators/hash.hpp>
#include <seidel/formats/generators/list.hpp>
#include <seidel/formats/runtime/quantity.hpp>

namespace seidel::generators {

namespace {

/// Calls visit(column) for the off-diagonal columns of row i, in B or in its transpose T, ascending.
void each_beside(const Matrix& B, const Matrix& T, std::int64_t i, const auto& visit) {
  std::int64_t b = B.row_ptr[i], t = T.row_ptr[i];
  const std::int64_t b_end = B.row_ptr[i + 1], t_end = T.row_ptr[i + 1];
  while (b < b_end || t < t_end) {
    const Index j = b == b_end ? T.col_idx[t] : t == t_end ? B.col_idx[b] : std::min(B.col_idx[b], T.col_idx[t]);
    if (j != i) visit(j);
    b += b < b_end && B.col_idx[b] == j;
    t += t < t_end && T.col_idx[t] == j;
  }
}

Matrix make_spd(const OpenMP& on, const Spec& spec, std::uint64_t seed) {
  spec.require_arguments(2, 2);
  const std::int64_t n = spec.integer(0, 1, INT32_MAX), per_row = spec.integer(1, 1, n), beside = per_row - 1;
  require_room(spec, n, n, n * per_row, saturating_product(24, n * per_row));
  // B has half of the entries at random positions; its mirror image has the other half.
  const auto half = [&](std::int64_t i) { return (i + 1) * beside / 2 - i * beside / 2; };
  const Matrix B = by_rows(on, spec, n, n, half, [&](std::int64_t i, Index* columns, double* values) {
    distinct_columns(Stream(seed, Draw::columns, std::uint64_t(i)), n, half(i), columns);
    std::fill(values, values + half(i), 0.0);
  });
  const Matrix T = transpose(on, B.view());
  return by_rows(
      on, spec, n, n,
      [&](std::int64_t i) {
        std::int64_t length = 1;
        each_beside(B, T, i, [&](Index) { ++length; });
        return length;
      },
      [&](std::int64_t i, Index* columns, double* values) {
        double sum = 0;
        std::int64_t at = 0, diagonal = -1;
        const auto set = [&](std::int64_t j, double value) { columns[at] = Index(j), values[at++] = value; };
        each_beside(B, T, i, [&](Index j) {
          if (j > i && diagonal < 0) diagonal = at, set(i, 0);
          const std::uint64_t lower = std::uint64_t(std::min<std::int64_t>(i, j)),
                              upper = std::uint64_t(std::max<std::int64_t>(i, j));
          set(j, signed_uniform(Stream(seed, Draw::values, lower)(upper)));
          sum += std::fabs(values[at - 1]);
        });
        if (diagonal < 0) diagonal = at, set(i, 0);
        values[diagonal] = 1 + sum;
      });
}

}  // namespace

constinit const Generator spd{"spd", "spd:N:NNZROW", "spd:100000:9",
                              "symmetric, about NNZROW entries per row, values uniform in (-1, 1), strictly diagonally "
                              "dominant: positive definite",
                              make_spd};

}  // namespace seidel::generators
