// Coordinate files in order, general ones by rows and lower triangles by columns: the number of an entry is its place.
#include <seidel/formats/matrix_market/passes.hpp>

namespace seidel::mm {

namespace {

struct Rows {
  Index first = -1, last = -1;  // of a chunk, or -1 if it has no entries
};

template <Field field, bool triangle>
InOrder place(const Reading& reading, const Chunks& chunks, const std::vector<std::int64_t>& first_entry,
              Csr<double, std::int64_t>& A) {
  const std::uint64_t nrows = std::uint64_t(A.nrows), ncols = std::uint64_t(A.ncols);
  const bool skew = triangle && reading.header.symmetry == Symmetry::skew_symmetric;
  std::int64_t* const row_ptr = A.row_ptr.data();
  Index* const col_idx = A.col_idx.data();
  double* const values = A.values.data();
  std::atomic<bool> good = true, rows_ascend = true, columns_ascend = true;
  std::vector<ValueCounts> counts(std::size_t(reading.on().threads));
  std::vector<Rows> rows(std::size_t(chunks.count()));
  const auto quick = [&](const char* p, Entry& e) __attribute__((always_inline)) {
    const char* next = quick_entry<field>(p, e);
    const bool fits = std::uint64_t(e.row - 1) < nrows && std::uint64_t(e.col - 1) < ncols;
    return next && fits && !(skew && e.row == e.col) ? next : nullptr;
  };
  chunks.for_each(reading.on(), 2, 2, [&](std::int64_t c, const char* first, const char* last, int part) {
    if (!rows_ascend) return;
    std::int64_t k = first_entry[std::size_t(c)];
    const std::int64_t end = first_entry[std::size_t(c) + 1];
    Index row = -1, col = -1;
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
        if (row < 0) row = rows[std::size_t(c)].first = here;
        while (row < here) row_ptr[++row] = k;
      }
      col_idx[k] = col;
      values[k++] = e.value;
      return true;
    };
    if (!each_entry(reading, chunks, first, last, counts[std::size_t(part)], quick, put)) good = false;
    if (k < end) rows_ascend = false;
    if (!ascending) columns_ascend = false;
    rows[std::size_t(c)].last = row;
  });

  InOrder result{good, rows_ascend, columns_ascend, {}};
  for (const ValueCounts& part : counts) result.values.add(part);
  Index row = -1;  // rows that begin with a chunk, and those that end the matrix
  for (std::size_t c = 0; c < rows.size() && result.good && result.rows_ascend; ++c) {
    if (rows[c].first < 0) continue;
    const std::int64_t k = first_entry[c];
    result.rows_ascend = row <= rows[c].first;
    result.columns_ascend &= row != rows[c].first || col_idx[k - 1] < col_idx[k];
    while (row < rows[c].first) row_ptr[++row] = k;
    row = rows[c].last;
  }
  while (row < A.nrows) row_ptr[++row] = first_entry.back();
  return result;
}

template <Field field>
InOrder place(const Reading& reading, const Chunks& chunks, const std::vector<std::int64_t>& first_entry,
              Csr<double, std::int64_t>& A) {
  return reading.header.symmetry == Symmetry::general ? place<field, false>(reading, chunks, first_entry, A)
                                                      : place<field, true>(reading, chunks, first_entry, A);
}

}  // namespace

InOrder place_in_order(const Reading& reading, const Chunks& chunks, const std::vector<std::int64_t>& first_entry,
                       Csr<double, std::int64_t>& A) {
  switch (reading.header.field) {
    case Field::integer: return place<Field::integer>(reading, chunks, first_entry, A);
    case Field::pattern: return place<Field::pattern>(reading, chunks, first_entry, A);
    case Field::real: break;
  }
  return place<Field::real>(reading, chunks, first_entry, A);
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
