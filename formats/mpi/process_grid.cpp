// Processes in a grid, and errors that all of them share.
#include <seidel/formats/mpi/process_grid.hpp>

#include <new>

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

namespace {

enum Kind { fine, usage, input, resource, backend, unexpected };

}  // namespace

void together(MPI_Comm all, const std::function<void()>& work) {
  int kind = fine, rank = 0, size = 0;
  std::string message;
  try {
    work();
  } catch (const UsageError& error) {
    kind = usage, message = error.what();
  } catch (const InputError& error) {
    kind = input, message = error.what();
  } catch (const ResourceError& error) {
    kind = resource, message = error.what();
  } catch (const BackendError& error) {
    kind = backend, message = error.what();
  } catch (const std::bad_alloc&) {
    kind = resource, message = "out of memory; more processes take less each";
  } catch (const std::exception& error) {
    kind = unexpected, message = error.what();
  }
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  int mine = kind == fine ? size : rank, first = size;
  mpi_check(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, all), "agreeing on errors");
  if (first == size) return;
  int told[2] = {kind, int(message.size())};
  mpi_check(MPI_Bcast(told, 2, MPI_INT, first, all), "telling of an error");
  message.resize(std::size_t(told[1]));
  mpi_check(MPI_Bcast(message.data(), told[1], MPI_CHAR, first, all), "telling of an error");
  switch (told[0]) {
    case usage: throw UsageError(message);
    case input: throw InputError(message);
    case resource: throw ResourceError(message);
    case backend: throw BackendError(message);
    default: throw std::runtime_error(message);
  }
}

}  // namespace seidel
