// Processes in a grid.
#pragma once
#include <mpi.h>

#include <functional>
#include <string>
#include <type_traits>

#include <seidel/formats/runtime/types.hpp>

namespace seidel {

/// What MPI says of it.
std::string mpi_text(int status);
/// Errors  BackendError with what MPI says of `status`, unless it is success. `what` reads on as "... failed".
void mpi_check(int status, const char* what);

template <class Real>
MPI_Datatype mpi_type() {
  return std::is_same_v<Real, double> ? MPI_DOUBLE : MPI_FLOAT;
}

/// rows x columns processes, of one communicator, row by row. The first of each row is its leader.
/// Errors  UsageError if there are not as many.
class ProcessGrid {
 public:
  ProcessGrid(MPI_Comm all, int rows, int columns);
  ~ProcessGrid();
  ProcessGrid(const ProcessGrid&) = delete;

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int my_row() const { return rank_ / columns_; }
  int my_column() const { return rank_ % columns_; }
  bool leads() const { return my_column() == 0; }
  MPI_Comm all() const { return all_; }
  MPI_Comm row() const { return row_; }        // of my row: ranks are columns
  MPI_Comm column() const { return column_; }  // of my column: ranks are rows

 private:
  MPI_Comm all_, row_ = MPI_COMM_NULL, column_ = MPI_COMM_NULL;
  int rows_, columns_, rank_ = 0;
};

/// As together() of formats/runtime/processes.hpp.
void together(MPI_Comm all, const std::function<void()>& work);

}  // namespace seidel
