// Coordinate files in order, general ones by rows and lower triangles by columns: the number of an entry is its place.
#include <seidel/formats/matrix_market/passes.hpp>

namespace seidel::mm {

InOrder::InOrder(const Header& header, Csr<double, std::int64_t>& A, int threads)
    : header_(header), A_(A), values_(std::size_t(threads)) {}

template <Field field, bool triangle>
void InOrder::place_lines(const Fence& fence, const char* first, const char* last, Stretch& stretch, int part) {
  const std::uint64_t nrows = std::uint64_t(A_.nrows), ncols = std::uint64_t(A_.ncols);
  const bool skew = triangle && header_.symmetry == Symmetry::skew_symmetric;
  std::int64_t* const row_ptr = A_.row_ptr.data();
  Index* const col_idx = A_.col_idx.data();
  double* const values = A_.values.data();
  const auto quick = [&](const char* p, Entry& e) __attribute__((always_inline)) {
    const char* next = quick_entry<field>(p, e);
    const bool fits = std::uint64_t(e.row - 1) < nrows && std::uint64_t(e.col - 1) < ncols;
    return next && fits && !(skew && e.row == e.col) ? next : nullptr;
  };
  std::int64_t k = stretch.first_entry;
  const std::int64_t end = stretch.last_entry;
  Index first_row = -1, row = -1, col = -1;
  bool ascending = true;
  const auto put = [&](const Entry& e) __attribute__((always_inline)) {
    if (k == end) [[unlikely]]  // the file changed meanwhile
      return false;
    // A column of the lower triangle is a row of the upper one.
    const Index here = Index((triangle ? e.col : e.row) - 1);
    const Index before = std::exchange(col, Index((triangle ? e.row : e.col) - 1));
    if (triangle && col < here) return false;
    if (here == row) {
      ascending &= before < col;
    } else {
      if (here < row) return false;
      if (row < 0) row = first_row = here;
      while (row < here) row_ptr[++row] = k;
    }
    col_idx[k] = col;
    values[k++] = e.value;
    return true;
  };
  ValueCounts counts;
  if (!each_entry(header_, fence, first, last, counts, quick, put)) good_ = false;
  if (k < end) rows_ascend_ = false;
  if (!ascending) columns_ascend_ = false;
  values_[std::size_t(part)].add(counts);
  stretch.first_row = first_row;
  stretch.last_row = row;
}

void InOrder::place(const Fence& fence, const char* first, const char* last, Stretch& stretch, int part) {
  if (!rows_ascend_) return;
  const bool triangle = header_.symmetry != Symmetry::general;
  const auto with = [&]<Field field>(std::integral_constant<Field, field>) {
    triangle ? place_lines<field, true>(fence, first, last, stretch, part)
             : place_lines<field, false>(fence, first, last, stretch, part);
  };
  switch (header_.field) {
    case Field::real: return with(std::integral_constant<Field, Field::real>{});
    case Field::integer: return with(std::integral_constant<Field, Field::integer>{});
    case Field::pattern: return with(std::integral_constant<Field, Field::pattern>{});
  }
}

void InOrder::join(const std::vector<Stretch>& stretches) {
  if (!good_ || !rows_ascend_) return;
  Index row = -1;  // rows that begin with a stretch, and those that end the matrix
  for (const Stretch& s : stretches) {
    if (s.first_row < 0) continue;
    const std::int64_t k = s.first_entry;
    if (row > s.first_row) {
      rows_ascend_ = false;
      return;
    }
    if (row == s.first_row && A_.col_idx[k - 1] >= A_.col_idx[k]) columns_ascend_ = false;
    while (row < s.first_row) A_.row_ptr[++row] = k;
    row = s.last_row;
  }
  while (row < A_.nrows) A_.row_ptr[++row] = header_.entries;
}

ValueCounts InOrder::values() const {
  ValueCounts all;
  for (const ValueCounts& part : values_) all.add(part);
  return all;
}

void mirror(Csr<double, std::int64_t>& A, std::int64_t entries, Symmetry symmetry) {
  const bool skew = symmetry == Symmetry::skew_symmetric;
  Array<Index> below(A.nrows, 0);  // entries of each row below the diagonal that are yet to come
  std::int64_t nnz = entries;
  for (Index row = 0; row < A.nrows; ++row)
    for (std::int64_t k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k)
      if (A.col_idx[k] != row) ++below[A.col_idx[k]], ++nnz;
  // From the last row to the first: a row moves up, to where the rows behind it have left, and its mirror image goes to
  // those, each from its last entry to its first.
  std::int64_t last = entries;
  A.row_ptr[A.nrows] = nnz;
  for (Index row = A.nrows - 1; row >= 0; --row) {
    const std::int64_t first = A.row_ptr[row];
    std::int64_t to = A.row_ptr[row + 1];
    A.row_ptr[row] = to - (last - first) - below[row];
    for (std::int64_t k = last; k-- > first;) {
      const Index col = A.col_idx[k];
      const double value = A.values[k];
      A.col_idx[--to] = col;
      A.values[to] = skew ? -value : value;  // the file has the mirror image
      if (col == row) continue;
      const std::int64_t at = A.row_ptr[col] + --below[col];
      A.col_idx[at] = row;
      A.values[at] = value;
    }
    last = first;
  }
  A.col_idx.truncate(nnz);
  A.values.truncate(nnz);
}

}  // namespace seidel::mm
