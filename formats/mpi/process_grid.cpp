// Processes in a grid, and errors that all of them share.
#include <seidel/formats/mpi/process_grid.hpp>

#include <seidel/formats/mpi/mpi_processes.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel {

std::string mpi_text(int status) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(status, text, &length);
  return {text, std::size_t(length)};
}

void mpi_check(int status, const char* what) {
  if (status != MPI_SUCCESS) throw BackendError(std::string(what) + " failed: " + mpi_text(status));
}

ProcessGrid::ProcessGrid(MPI_Comm all, int rows, int columns) : all_(all), rows_(rows), columns_(columns) {
  int size = 0;
  MPI_Comm_size(all, &size);
  MPI_Comm_rank(all, &rank_);
  if (rows < 1 || columns < 1 || std::int64_t(rows) * columns != size)
    throw UsageError("a grid of " + std::to_string(rows) + "x" + std::to_string(columns) + " needs " +
                     std::to_string(std::int64_t(rows) * columns) + " processes, found " + std::to_string(size) +
                     "\n  start as many: mpirun -np " + std::to_string(std::int64_t(rows) * columns));
  mpi_check(MPI_Comm_split(all, my_row(), my_column(), &row_), "making a row of processes");
  mpi_check(MPI_Comm_split(all, my_column(), my_row(), &column_), "making a column of processes");
}

ProcessGrid::~ProcessGrid() {
  if (row_ != MPI_COMM_NULL) MPI_Comm_free(&row_);
  if (column_ != MPI_COMM_NULL) MPI_Comm_free(&column_);
}

void together(MPI_Comm all, const std::function<void()>& work) { together(MpiProcesses(all), work); }

}  // namespace seidel
