// Coordinate files in order, general ones by rows and lower triangles by columns or rows: the number of an entry is its place.
#include <atomic>

#include <seidel/formats/matrix_market/passes.hpp>

namespace seidel::mm {

namespace {

/// Whether one entry may follow another in this order.
bool follows(Order order, const Entry& before, const Entry& e) {
  switch (order) {
    case Order::general_by_rows: return before.row <= e.row;
    case Order::triangle_by_columns:
      return e.row >= e.col && std::pair(before.col, before.row) < std::pair(e.col, e.row);
    case Order::triangle_by_rows: return e.row >= e.col && std::pair(before.row, before.col) < std::pair(e.row, e.col);
  }
  return false;
}

}  // namespace

std::vector<Order> orders_of(const Header& header, const char* first, const char* last) {
  std::vector<Order> orders = {Order::general_by_rows};
  if (header.symmetry != Symmetry::general) orders = {Order::triangle_by_columns, Order::triangle_by_rows};
  Entry before{0, 0, 0};
  for (int lines = 0; lines < 1000 && first < last; ++lines) {
    const char* end = line_end(first, last);
    Entry e;
    if (parse_line(header, first, end, e, nullptr) == Line::entry) {
      std::erase_if(orders, [&](Order order) { return !follows(order, before, e); });
      before = e;
    }
    first = end + 1;
  }
  return orders;
}

template <Field field, Order order>
void InOrder::place_lines(const Fence& fence, const char* first, const char* last, Stretch& stretch, int part) {
  constexpr bool by_columns = order == Order::triangle_by_columns;
  const std::uint64_t nrows = std::uint64_t(A_.nrows), ncols = std::uint64_t(A_.ncols);
  const bool skew = header_.symmetry == Symmetry::skew_symmetric;
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
  with_field(header_.field, [&]<Field field>() {
    switch (order_) {
      case Order::general_by_rows: return place_lines<field, Order::general_by_rows>(fence, first, last, stretch, part);
      case Order::triangle_by_columns:
        return place_lines<field, Order::triangle_by_columns>(fence, first, last, stretch, part);
      case Order::triangle_by_rows:
        return place_lines<field, Order::triangle_by_rows>(fence, first, last, stretch, part);
    }
  });
}

void InOrder::join(const std::deque<Stretch>& stretches) {
  if (!good_ || !rows_ascend_) return;
  Index row = -1;  // rows at the start of a stretch and at the end of the matrix
  const auto begin_rows_until = [&](Index last, std::int64_t k) {  // all, where the file names a few of very many
    std::int64_t* const starts = A_.row_ptr.data() + row + 1;
    parallel_for(OpenMP{int(values_.size())}, last - std::int64_t(row),
                 [&](std::int64_t first, std::int64_t end) { std::fill(starts + first, starts + end, k); });
  };
  for (const Stretch& s : stretches) {
    if (s.first_row < 0) continue;
    const std::int64_t k = s.first_entry;
    if (row > s.first_row) {
      rows_ascend_ = false;
      return;
    }
    if (row == s.first_row && A_.col_idx[k - 1] >= A_.col_idx[k]) columns_ascend_ = false;
    begin_rows_until(s.first_row, k);
    row = s.last_row;
  }
  begin_rows_until(A_.nrows, header_.entries);
}

}  // namespace seidel::mm
