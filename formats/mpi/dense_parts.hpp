// A dense matrix in a file, and the part of it that a process has.
#pragma once
#include <string>

#include <seidel/formats/block_cyclic.hpp>
#include <seidel/formats/dense_file/dense_file.hpp>
#include <seidel/formats/mpi/process_grid.hpp>
#include <seidel/formats/runtime/array.hpp>

namespace seidel {

/// Which part of a matrix: rows and columns are dealt out, each to so many parts; this process has those numbered.
struct DensePart {
  BlockCyclic rows, columns;
  int row_part = 0, column_part = 0;

  DenseShape shape() const { return {rows.n, columns.n}; }
  std::int64_t nrows() const { return rows.count(row_part); }
  std::int64_t ncols() const { return columns.count(column_part); }
};

/// Reads the part, row by row without gaps, all processes of `all` at once, each only what is its own.
/// Errors  on all of them: InputError as read_dense_head(), or if the file holds another shape or precision; ResourceError.
template <class Real>
Array<Real> read_part(MPI_Comm all, const std::string& path, const DensePart& part);

/// Writes the parts of the processes of `all`, which together are the whole matrix, each element once. The file appears
/// under its name when it is complete. Errors  ResourceError on all of them; then there is no file, or the older one.
template <class Real>
void write_parts(MPI_Comm all, const std::string& path, const DensePart& part, HostSpan<const Real> elements);

}  // namespace seidel
