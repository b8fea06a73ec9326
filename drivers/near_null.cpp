// What a user knows of the smooth error of A: --coordinates, --near-null.
#include <algorithm>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/solve_problem.hpp>
#include <seidel/drivers/vector_source.hpp>
#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/aggregation/near_null.hpp>
#include <seidel/kernels/aggregation/nodes.hpp>
#include <seidel/solvers/null_space.hpp>

namespace seidel::drivers {

namespace {

/// A matrix of which every entry is there.
MultiVector<double> dense(const CsrView<double, std::int64_t, Host>& A) {
  MultiVector<double> columns(A.nrows, A.ncols, Layout::column_major);
  std::fill(columns.elements().begin(), columns.elements().end(), 0);
  for (Index i = 0; i < A.nrows; ++i)
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) columns.view()(i, A.col_idx[k]) = A.values[k];
  return columns;
}

LoadedMatrix load_coordinates(const SolveOptions& options) {
  if (is_generator(options.coordinates))
    return {.name = options.coordinates, .matrix = generate_coordinates(options.coordinates), .file = {}};
  require_file("--coordinates", options.coordinates, true);
  LoadedMatrix points = load_matrix(options.coordinates, options, false);
  require_finite(*points.file);
  for (const std::string& repair : points.file->repairs) say(options, points.name + ": " + repair);
  return points;
}

/// The first column that is a sum of multiples of those before it, or zero; -1 where there is none.
std::int64_t first_dependent_column(const MultiVector<double>& columns) {
  const auto at = columns.view();
  if (at.nrows == 0) return 0;
  std::vector<double> all;
  for (std::int64_t c = 0; c < at.ncols; ++c) {
    all.insert(all.end(), &at(0, c), &at(0, c) + at.nrows);
    if (NullSpace::spanned_by(all, Index(at.nrows)).dimension() <= c) return c;
  }
  return -1;
}

}  // namespace

LoadedNearNull load_near_null(const SolveOptions& options, const LoadedMatrix& A) {
  const std::int64_t n = A.matrix.nrows;
  if (!options.coordinates.empty()) {
    const LoadedMatrix points = load_coordinates(options);
    const std::int64_t dimensions = points.matrix.ncols;
    if ((dimensions != 2 && dimensions != 3) || points.matrix.nrows * dimensions != n)
      throw InputError(formatted("{}: found {}, expected {}: a row of coordinates per point, {} has {}", points.name,
                                 formatted("{} x {}", count(points.matrix.nrows), count(dimensions)),
                                 n % 3 == 0   ? formatted("{} x 3", count(n / 3))
                                 : n % 2 == 0 ? formatted("{} x 2", count(n / 2))
                                              : "2 or 3 unknowns per point",
                                 A.name, plural(n, "row")));
    const MultiVector<double> coordinates = dense(points.matrix.view());
    return {rigid_body_modes(coordinates.view()), Index(dimensions)};
  }
  if (options.near_null.empty()) return {};
  const std::vector<Array<double>> vectors = load_vectors("--near-null", options.near_null, n, A.name, options);
  if (vectors.size() > max_unknowns_per_node)
    throw InputError(formatted("{}: found {} columns, expected at most {}: one per vector", options.near_null,
                               vectors.size(), max_unknowns_per_node));
  LoadedNearNull loaded{.vectors = {n, std::int64_t(vectors.size()), Layout::column_major}};
  for (std::size_t c = 0; c < vectors.size(); ++c)
    std::copy(vectors[c].begin(), vectors[c].end(), loaded.vectors.elements().begin() + std::int64_t(c) * n);
  if (const std::int64_t column = first_dependent_column(loaded.vectors); column >= 0)
    throw InputError(
        formatted("{}: found column {}, a sum of multiples of those before it, or zero, expected "
                  "independent ones\n  leave it out",
                  options.near_null, column + 1));
  return loaded;
}

}  // namespace seidel::drivers
