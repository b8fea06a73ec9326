// What a user knows of the smooth error of A: --coordinates, --near-null.
#pragma once
#include <seidel/drivers/matrix_source.hpp>
#include <seidel/formats/multivector.hpp>
#include <seidel/solvers/preconditioners/list.hpp>

namespace seidel::drivers {

struct LoadedNearNull {
  MultiVector<double> vectors = MultiVector<double>(0, 0, Layout::column_major);
  Index unknowns_per_node = 0;

  NearNullVectors view() const { return {vectors.view(), unknowns_per_node}; }
};

/// Reads what was asked for; nothing if nothing was.
/// Errors  InputError: another number of rows or columns than A needs, entries that are not finite, dependent columns.
LoadedNearNull load_near_null(const SolveOptions& options, const LoadedMatrix& A);

}  // namespace seidel::drivers
