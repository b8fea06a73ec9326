// Matrices with one awkward feature each.
#include <seidel/formats/convert.hpp>
#include <seidel/formats/generators/list.hpp>

namespace seidel::generators {

namespace {

/// Row i of tridiagonal (-1, 2, -1): calls visit(column, value) from left to right.
void tridiagonal_row(std::int64_t n, std::int64_t i, const auto& visit) {
  if (i > 0) visit(i - 1, -1.0);
  visit(i, 2.0);
  if (i + 1 < n) visit(i + 1, -1.0);
}

/// Tridiagonal (-1, 2, -1), but the middle row is -1/N everywhere off the diagonal. `copies`: the number of copies made.
Matrix dense_row(const OpenMP& on, const Spec& spec, int copies) {
  spec.require_arguments(1, 1);
  const std::int64_t n = spec.integer(0, 1, INT32_MAX), middle = n / 2;
  const std::int64_t nnz = 4 * n - 3 - (middle > 0) - (middle + 1 < n);
  require_room(spec, n, n, nnz, (copies - 1) * (12 * nnz + 8 * (n + 1)));
  return by_entries(on, spec, n, n, [&](std::int64_t i, const auto& visit) {
    if (i != middle) return tridiagonal_row(n, i, visit);
    for (std::int64_t j = 0; j < n; ++j) visit(j, j == i ? 2.0 : -1 / double(n));
  });
}

Matrix with_dense_row(const OpenMP& on, const Spec& spec, std::uint64_t) { return dense_row(on, spec, 1); }

Matrix with_dense_column(const OpenMP& on, const Spec& spec, std::uint64_t) {
  return transpose(on, dense_row(on, spec, 2).view());
}

/// Tridiagonal (-1, 2, -1) without rows 1, 4, 7 ... and columns 2, 7, 12 ..., counted from 0.
Matrix empty_rows(const OpenMP& on, const Spec& spec, std::uint64_t) {
  spec.require_arguments(1, 1);
  const std::int64_t n = spec.integer(0, 1, INT32_MAX);
  require_room(spec, n, n, 24 * (n / 15));  // of 15 rows 10 have 3 entries, of which a fifth is left out
  return by_entries(on, spec, n, n, [&](std::int64_t i, const auto& visit) {
    if (i % 3 == 1) return;
    tridiagonal_row(n, i, [&](std::int64_t j, double value) {
      if (j % 5 != 2) visit(j, value);
    });
  });
}

}  // namespace

constinit const Generator denserow{"denserow", "denserow:N", "denserow:100000",
                                   "tridiagonal (-1, 2, -1) with a full row in the middle; nonsymmetric",
                                   with_dense_row};
constinit const Generator densecolumn{"densecolumn", "densecolumn:N", "densecolumn:100000",
                                      "tridiagonal (-1, 2, -1) with a full column in the middle; nonsymmetric",
                                      with_dense_column};
constinit const Generator emptyrows{
    "emptyrows", "emptyrows:N", "emptyrows:100000",
    "tridiagonal (-1, 2, -1) with every third row and every fifth column empty; singular", empty_rows};

}  // namespace seidel::generators
