// Proof that a CSR matrix is what its format promises.
#include <seidel/formats/check.hpp>

#include <string>

#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/formats/runtime/shares.hpp>

namespace seidel {

namespace {

using std::to_string;

constexpr const char* sorting =
    "\n  a CooView of the entries and to_csr sort the rows and add up what stands in the same place";

void require_sizes(Index nrows, Index ncols) {
  if (nrows < 0 || ncols < 0)
    throw ShapeError("the matrix: found " + to_string(nrows) + " x " + to_string(ncols) +
                     ", expected sizes of at least 0");
}

template <class T>
void require_size(HostSpan<const T> found, std::int64_t expected, const std::string& array) {
  if (found.size() != expected)
    throw ShapeError("the matrix: found " + counted(found.size(), "entry", "entries") + " in " + array + ", expected " +
                     to_string(expected));
  if (expected > 0 && !found.data())
    throw ShapeError("the matrix: found a null pointer for " + array + ", expected that of " +
                     counted(expected, "entry", "entries"));
}

template <class Offset>
void check_row_ptr(const OpenMP& on, HostSpan<const Offset> row_ptr, std::int64_t nrows, std::int64_t nnz) {
  if (row_ptr[0] != 0)
    throw InputError(
        "row 1: found row_ptr[0] = " + to_string(row_ptr[0]) +
        ", expected 0\n  one-based arrays are converted before they are viewed: subtract 1 from row_ptr and col_idx");
  const std::int64_t bad =
      first_where(on, nrows, 1, [&](std::int64_t i) { return row_ptr[i + 1] < row_ptr[i] || row_ptr[i + 1] > nnz; });
  if (bad < nrows)
    throw InputError("row " + to_string(bad + 1) + ": found row_ptr[" + to_string(bad + 1) +
                     "] = " + to_string(row_ptr[bad + 1]) + ", expected " + to_string(row_ptr[bad]) + " ... " +
                     to_string(nnz) + "\n  row pointers start at 0, never decrease and end at the number of entries");
  if (row_ptr[nrows] != nnz)
    throw InputError((nrows > 0 ? "row " + to_string(nrows) : "the matrix") + ": found row_ptr[" + to_string(nrows) +
                     "] = " + to_string(row_ptr[nrows]) + ", expected " + to_string(nnz) + ", the number of entries");
}

/// Names the column of the row that is outside the matrix or out of order.
void report_row(std::int64_t row, const Index* first, const Index* last, Index ncols) {
  for (const Index* j = first; j < last; ++j) {
    const std::string where = "row " + to_string(row + 1) + ": found entry " + to_string(j - first + 1) +
                              " in column " + to_string(*j + std::int64_t(1));
    if (*j < 0 || *j >= ncols)
      throw InputError(where + ", expected 1 ... " + to_string(ncols) +
                       "\n  columns are stored from 0, and said from 1");
    if (j > first && *j == j[-1]) throw InputError(where + " again, expected distinct columns" + sorting);
    if (j > first && *j < j[-1])
      throw InputError(where + " after column " + to_string(j[-1] + std::int64_t(1)) + ", expected ascending columns" +
                       sorting);
  }
}

}  // namespace

template <class Real, class Offset>
void check(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  require_sizes(A.nrows, A.ncols);
  require_size(A.row_ptr, std::int64_t(A.nrows) + 1, "row_ptr");
  require_size(A.col_idx, A.nnz(), "col_idx");
  require_size(A.values, A.nnz(), "values");
  check_row_ptr(on, A.row_ptr, A.nrows, A.nnz());
  const std::int64_t bad = first_row_where(on, A.row_ptr, [&](std::int64_t i) {
    Index before = -1;
    bool wrong = false;
    for (std::int64_t k = A.row_ptr[i]; k < std::int64_t(A.row_ptr[i + 1]); ++k) {
      wrong |= A.col_idx[k] <= before;
      before = A.col_idx[k];
    }
    return wrong || before >= A.ncols;  // ascending, so the last one is the largest
  });
  if (bad < A.nrows) report_row(bad, A.col_idx.data() + A.row_ptr[bad], A.col_idx.data() + A.row_ptr[bad + 1], A.ncols);
}

template <class Real>
void check(const OpenMP& on, const CooView<Real, Host>& A) {
  require_sizes(A.nrows, A.ncols);
  require_size(A.row_idx, A.nnz(), "row_idx");
  require_size(A.col_idx, A.nnz(), "col_idx");
  require_size(A.values, A.nnz(), "values");
  const std::int64_t bad = first_where(on, A.nnz(), 1, [&](std::int64_t k) {
    return A.row_idx[k] < 0 || A.row_idx[k] >= A.nrows || A.col_idx[k] < 0 || A.col_idx[k] >= A.ncols;
  });
  if (bad < A.nnz())
    throw InputError("entry " + to_string(bad + 1) + ": found place (" + to_string(A.row_idx[bad] + std::int64_t(1)) +
                     ", " + to_string(A.col_idx[bad] + std::int64_t(1)) + "), expected a place of the " +
                     to_string(A.nrows) + " x " + to_string(A.ncols) +
                     " matrix\n  rows and columns are stored from 0, and said from 1");
}

template void check(const OpenMP&, const CsrView<double, std::int32_t, Host>&);
template void check(const OpenMP&, const CsrView<double, std::int64_t, Host>&);
template void check(const OpenMP&, const CsrView<float, std::int32_t, Host>&);
template void check(const OpenMP&, const CsrView<float, std::int64_t, Host>&);
template void check(const OpenMP&, const CooView<double, Host>&);
template void check(const OpenMP&, const CooView<float, Host>&);

}  // namespace seidel
