// The first steps of `seidel solve`: what was read, and what it looks like.
#pragma once
#include <seidel/drivers/matrix_source.hpp>
#include <seidel/drivers/near_null.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/csr.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/statistics.hpp>

namespace seidel::drivers {

/// Everything that was read.
struct Loaded {
  LoadedMatrix matrix = {};
  Array<double> b = {}, x0 = {};           // empty: A * ones, made by inspect(); zeros
  std::vector<Array<double>> more_b = {};  // the right-hand sides after the first
  LoadedNearNull near_null = {};
  double seconds = 0;
  Array<std::int32_t> row_ptr = {};  // of 32 bits, or empty

  std::size_t columns() const { return 1 + more_b.size(); }
  HostSpan<const double> column(std::size_t j) const { return j == 0 ? b : more_b[j - 1]; }
  /// Calls look() while right-hand side j is `b`.
  auto with_column(std::size_t j, const auto& look) {
    const auto exchange = [&] {
      if (j > 0) std::swap(b, more_b[j - 1]);
    };
    exchange();
    auto seen = look();
    exchange();
    return seen;
  }

  CsrView<double, std::int64_t, Host> wide() const { return matrix.matrix.view(); }
  CsrView<double, std::int32_t, Host> narrow() const {
    const auto& A = matrix.matrix;
    return {A.nrows, A.ncols, row_ptr, A.col_idx, A.values};
  }
};

/// The matrix in the memory of the GPU that solves with it, and b = A * ones.
struct LoadedThere {
  Csr<double, std::int32_t, Device> narrow = {};  // one of the two
  Csr<double, std::int64_t, Device> wide = {};
  Array<double, Device> b = {};

  std::int64_t bytes() const {
    return 12 * (narrow.nnz() + wide.nnz()) + 4 * narrow.row_ptr.size() + 8 * (wide.row_ptr.size() + b.size());
  }
  /// look(A) with the one that is there.
  auto with_matrix(const auto& look) const { return narrow.row_ptr.empty() ? look(wide.view()) : look(narrow.view()); }
};

/// What the entries of A show.
struct Inspected {
  MatrixProperties properties = {};
  RowStatistics rows = {};
};

Loaded load(const SolveOptions& options);
/// Row pointers of 32 bits, half the bytes to read in each product, where they hold the number of entries.
void narrow(const SolveOptions& options, Loaded& loaded);
/// Whether every row of A sums to zero: then A * ones = 0 tells nothing of a solver.
inline bool ones_vanish(const MatrixProperties& properties, const RowStatistics& rows) {
  return rows.nrows > 0 && properties.zero_row_sums == rows.nrows;
}
/// Whether fewer rows than columns have entries: then A x = A * ones has smaller solutions than ones.
inline bool has_dependent_columns(const RowStatistics& rows) { return rows.nrows - rows.empty_rows < rows.ncols; }
/// The x of the right-hand side that is made: ones, or, where A * ones = 0, signs.
Array<double> known_solution(Index n, bool ones_vanish);
/// Brings the matrix to where it is solved, once.
LoadedThere upload(const Cuda& on, const Loaded& loaded);
/// Looks at A where it lies, and makes b there unless one was given. Errors  ShapeError, InputError for what cannot be
/// solved.
Inspected inspect(const SolveOptions& options, const Placement& where, Loaded& loaded, LoadedThere& there);

}  // namespace seidel::drivers
