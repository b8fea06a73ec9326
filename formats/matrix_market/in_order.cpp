// Coordinate files in order, general ones by rows and lower triangles by columns or rows: the number of an entry is its place.
#include <atomic>
#include <cstring>

#include <seidel/formats/matrix_market/passes.hpp>

namespace seidel::mm {

std::vector<Order> orders_of(const Header& header) {
  if (header.symmetry == Symmetry::general) return {Order::general_by_rows};
  return {Order::triangle_by_columns, Order::triangle_by_rows};
}

InOrder::InOrder(const Header& header, Order order, Csr<double, std::int64_t>& A, int threads)
    : header_(header), order_(order), A_(A), values_(std::size_t(threads)) {
  const std::int64_t start = order == Order::triangle_by_rows ? triangle_start(header) : 0;
  col_idx_ = A.col_idx.data() + start;
  values_at_ = A.values.data() + start;
}

template <Field field, Order order>
void InOrder::place_lines(const Fence& fence, const char* first, const char* last, Stretch& stretch, int part) {
  constexpr bool by_columns = order == Order::triangle_by_columns;
  const std::uint64_t nrows = std::uint64_t(A_.nrows), ncols = std::uint64_t(A_.ncols);
  const bool skew = header_.symmetry == Symmetry::skew_symmetric;
  std::int64_t* const row_ptr = A_.row_ptr.data();
  Index* const col_idx = col_idx_;
  double* const values = values_at_;
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
    const Index here = Index((by_columns ? e.col : e.row) - 1);
    const Index before = std::exchange(col, Index((by_columns ? e.row : e.col) - 1));
    if (order != Order::general_by_rows && e.row < e.col) return false;
    if (here == row) {
      ascending &= before < col;
    } else {
      if (here < row) return false;
      if (row < 0) row = first_row = here;
      // Atomic: in a file that is out of order, which is read again, other stretches may have these rows too.
      while (row < here) std::atomic_ref(row_ptr[++row]).store(k, std::memory_order_relaxed);
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
  const auto with = [&]<Field field>(std::integral_constant<Field, field>) {
    switch (order_) {
      case Order::general_by_rows: return place_lines<field, Order::general_by_rows>(fence, first, last, stretch, part);
      case Order::triangle_by_columns:
        return place_lines<field, Order::triangle_by_columns>(fence, first, last, stretch, part);
      case Order::triangle_by_rows:
        return place_lines<field, Order::triangle_by_rows>(fence, first, last, stretch, part);
    }
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
    if (row == s.first_row && col_idx_[k - 1] >= col_idx_[k]) columns_ascend_ = false;
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

void mirror_columns(const Header& header, Csr<double, std::int64_t>& A) {
  const bool skew = header.symmetry == Symmetry::skew_symmetric;
  const std::int64_t entries = header.entries;
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

void mirror_rows(const Header& header, Csr<double, std::int64_t>& A) {
  const bool skew = header.symmetry == Symmetry::skew_symmetric;
  const std::int64_t expected = triangle_start(header);
  Index* col_idx = A.col_idx.data() + expected;
  double* values = A.values.data() + expected;
  Array<Index> above(A.nrows, 0);  // entries of each row above the diagonal that are yet to come
  std::int64_t start = 0;
  for (Index row = 0; row < A.nrows; ++row)
    for (std::int64_t k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k)
      if (col_idx[k] != row) ++above[col_idx[k]], ++start;
  if (start > expected) {  // not all of the diagonal is listed
    std::memmove(A.col_idx.data() + start, col_idx, std::size_t(header.entries) * sizeof(Index));
    std::memmove(A.values.data() + start, values, std::size_t(header.entries) * sizeof(double));
  }
  col_idx = A.col_idx.data() + start;
  values = A.values.data() + start;
  // From the first row to the last: a row moves down, to where the rows before it end, and its mirror image goes to
  // those.
  std::int64_t to = 0, first = 0;
  for (Index row = 0; row < A.nrows; ++row) {
    const std::int64_t last = A.row_ptr[row + 1];
    A.row_ptr[row] = to;
    for (std::int64_t k = first; k < last; ++k) {
      const Index col = col_idx[k];
      const double value = values[k];
      A.col_idx[to] = col;
      A.values[to++] = value;
      if (col == row) continue;
      const std::int64_t at = A.row_ptr[col + 1] - above[col]--;
      A.col_idx[at] = row;
      A.values[at] = skew ? -value : value;
    }
    to += above[row];
    first = last;
  }
  A.row_ptr[A.nrows] = to;
  A.col_idx.truncate(to);
  A.values.truncate(to);
}

}  // namespace seidel::mm
