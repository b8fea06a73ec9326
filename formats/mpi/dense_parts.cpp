// Parts of a file through MPI-IO: a darray type says where a process's blocks lie, so that each sees only its own.
#include <seidel/formats/mpi/dense_parts.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <seidel/formats/runtime/errors.hpp>

namespace seidel {

namespace {

/// A type of MPI that is given back.
class Datatype {
 public:
  explicit Datatype(MPI_Datatype type) : type_(type) { mpi_check(MPI_Type_commit(&type_), "making a type"); }
  ~Datatype() { MPI_Type_free(&type_); }
  Datatype(const Datatype&) = delete;
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_;
};

template <class Real>
Datatype view_of(const DensePart& part) {
  const int sizes[] = {int(part.rows.n), int(part.columns.n)};
  const int parts[] = {part.rows.nparts, part.columns.nparts};
  const auto kind = [](const BlockCyclic& of) { return of.nparts == 1 ? MPI_DISTRIBUTE_NONE : MPI_DISTRIBUTE_CYCLIC; };
  const auto block = [](const BlockCyclic& of) {
    return of.nparts == 1 ? MPI_DISTRIBUTE_DFLT_DARG : int(std::min(of.block, of.n));
  };
  const int kinds[] = {kind(part.rows), kind(part.columns)};
  const int blocks[] = {block(part.rows), block(part.columns)};
  MPI_Datatype type;
  mpi_check(MPI_Type_create_darray(parts[0] * parts[1], part.row_part * parts[1] + part.column_part, 2, sizes, kinds,
                                   blocks, parts, MPI_ORDER_C, mpi_type<Real>(), &type),
            "describing a part of a matrix");
  return Datatype(type);
}

/// One row of the part, so that counts stay below 2^31.
template <class Real>
Datatype row_of(const DensePart& part) {
  MPI_Datatype type;
  mpi_check(MPI_Type_contiguous(int(part.ncols()), mpi_type<Real>(), &type), "describing a row");
  return Datatype(type);
}

/// A file that all processes have open. The view is of the elements.
class SharedFile {
 public:
  SharedFile(MPI_Comm all, const std::string& path, int mode) : path_(path) {
    check(MPI_File_open(all, path.c_str(), mode, MPI_INFO_NULL, &file_), "opened");
  }
  ~SharedFile() {
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
  }
  SharedFile(const SharedFile&) = delete;

  /// Errors  ResourceError naming the file.
  void check(int status, const char* what) const {
    if (status != MPI_SUCCESS) throw ResourceError(path_ + ": cannot be " + what + ": " + mpi_text(status));
  }
  /// By `function` of MPI, all processes at once: `count` elements of that type. Errors  as check().
  void transfer(const auto& function, auto* elements, int count, MPI_Datatype type, const char* what) const {
    MPI_Status status;
    check(function(file_, elements, count, type, &status), what);
    int found = count;
    if (count > 0) MPI_Get_count(&status, type, &found);
    if (found != count) throw ResourceError(path_ + ": cannot be " + what + ": it ended too soon");
  }
  MPI_File file() const { return file_; }
  void close() { check(MPI_File_close(&file_), "written"); }

 private:
  std::string path_;
  MPI_File file_ = MPI_FILE_NULL;
};

/// Moves the elements of the part by `function` of MPI, row by row; no process may have more than the others wait for.
template <class Real>
void transfer(MPI_Comm all, const std::string& path, int mode, const DensePart& part, const auto& function,
              auto* elements, const char* what) {
  std::unique_ptr<SharedFile> shared;
  together(all, [&] { shared = std::make_unique<SharedFile>(all, path, mode); });
  together(all, [&] {
    const Datatype view = view_of<Real>(part);
    shared->check(MPI_File_set_view(shared->file(), DenseHead::bytes, mpi_type<Real>(), view, "native", MPI_INFO_NULL),
                  "viewed in parts");
  });
  const Datatype row = row_of<Real>(part);
  const int count = part.ncols() == 0 ? 0 : int(part.nrows());
  together(all, [&] { shared->transfer(function, elements, count, row, what); });
  together(all, [&] { shared->close(); });
}

bool is_empty(const DensePart& part) { return part.rows.n == 0 || part.columns.n == 0; }

/// Errors  InputError unless the file holds such a matrix, all of it.
void require_head(const std::string& path, const DenseHead& expected) {
  const DenseHead found = read_dense_head(path);
  const auto text = [](const DenseHead& head) {
    return std::to_string(head.shape.nrows) + " x " + std::to_string(head.shape.ncols) + " elements of " +
           std::string(to_string(head.precision));
  };
  if (text(found) != text(expected)) throw InputError(path + ": found " + text(found) + ", expected " + text(expected));
}

/// Makes the file under a temporary name, with its head, and takes all the room it needs.
void make_file(const std::string& path, const DenseHead& head) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw ResourceError(path + ": cannot be made: " + std::strerror(errno));
  const auto bytes = head.encoded();
  int failed = posix_fallocate(file, 0, head.file_bytes());
  if (!failed && pwrite(file, bytes.data(), bytes.size(), 0) != DenseHead::bytes) failed = errno;
  close(file);
  if (failed)
    throw ResourceError(path + ": no room for " + std::to_string(head.file_bytes()) +
                        " bytes: " + std::strerror(failed));
}

}  // namespace

template <class Real>
Array<Real> read_part(MPI_Comm all, const std::string& path, const DensePart& part) {
  Array<Real> elements;
  int rank = 0;
  MPI_Comm_rank(all, &rank);
  together(all, [&] {
    if (rank == 0) require_head(path, {part.shape(), precision_of<Real>});  // reading does not tell where a file ends
    elements = Array<Real>(part.nrows() * part.ncols());
  });
  if (!is_empty(part)) transfer<Real>(all, path, MPI_MODE_RDONLY, part, MPI_File_read_all, elements.data(), "read");
  return elements;
}

template <class Real>
void write_parts(MPI_Comm all, const std::string& path, const DensePart& part, HostSpan<const Real> elements) {
  int rank = 0;
  MPI_Comm_rank(all, &rank);
  const auto slash = path.rfind('/') + 1;  // 0 if there is none
  const std::string temporary = path.substr(0, slash) + "." + path.substr(slash) + ".part";
  try {
    together(all, [&] {
      if (rank == 0) make_file(temporary, {part.shape(), precision_of<Real>});
    });
    if (!is_empty(part))
      transfer<Real>(all, temporary, MPI_MODE_WRONLY, part, MPI_File_write_all, elements.data(), "written");
    together(all, [&] {
      if (rank == 0 && std::rename(temporary.c_str(), path.c_str()) != 0)
        throw ResourceError(path + ": cannot be given its name: " + std::strerror(errno));
    });
  } catch (...) {
    if (rank == 0) unlink(temporary.c_str());
    throw;
  }
}

template Array<double> read_part(MPI_Comm, const std::string&, const DensePart&);
template Array<float> read_part(MPI_Comm, const std::string&, const DensePart&);
template void write_parts(MPI_Comm, const std::string&, const DensePart&, HostSpan<const double>);
template void write_parts(MPI_Comm, const std::string&, const DensePart&, HostSpan<const float>);

}  // namespace seidel
