// Coordinate files in any order: one pass counts the entries of each row, one puts them in place.
#include <atomic>
#include <bit>
#include <limits>
#include <utility>

#include <seidel/formats/matrix_market/passes.hpp>
#include <seidel/formats/matrix_market/rows.hpp>

namespace seidel::mm {

namespace {

/// The number of entries per row while they are counted; the next free place per row while they are placed. Each stretch
/// of the file owns some rows: most of those that it lists, if the file is by columns and the matrix is banded. It alone
/// counts and places entries of its own rows. Entries of rows of other stretches are counted and placed separately, by
/// atomic operations, behind the others.
struct Rows {
  std::int64_t* own;
  std::uint32_t* foreign;  // unused if there is only one stretch
  std::int64_t nrows;
  int stretches;

  Range of(int stretch) const { return even_share(nrows, stretch, stretches); }
};

/// Entries of each row, and of all lines. False if a line is found to be wrong.
template <bool expand>
bool count(const Reading& reading, const Chunks& chunks, const Rows& rows, std::int64_t& entries) {
  std::atomic<std::int64_t> all = 0;
  std::atomic<bool> good = true;
  const std::uint64_t nrows = std::uint64_t(reading.header.nrows), ncols = std::uint64_t(reading.header.ncols);
  chunks.for_each_of_stretches(rows.stretches, 1, [&](const char* first, const char* last, int stretch) {
    const Range mine = rows.of(stretch);
    std::int64_t* const own = rows.own + mine.first;
    const std::uint64_t owned = std::uint64_t(mine.last - mine.first);
    std::int64_t lines = 0;
    const auto add = [&](std::int64_t row) __attribute__((always_inline)) {
      if (std::uint64_t(row - mine.first) < owned)
        ++own[row - mine.first];
      else
        std::atomic_ref(rows.foreign[row]).fetch_add(1, std::memory_order_relaxed);
    };
    const auto take = [&](const Entry& e) __attribute__((always_inline)) {
      ++lines;
      add(e.row - 1);
      if (expand && e.row != e.col) add(e.col - 1);
    };
    const auto careful = [&](const char* p, const char* end) {
      Entry e;
      const Line line = parse_line(reading.header, p, end, e, nullptr);
      if (line == Line::entry) take(e);
      return line != Line::fault;
    };
    const auto quick = [&](const char* p) {  // only the indices are parsed
      Entry e;
      p = quick_index(skip_blanks(p), e.row);
      if (!p || std::uint64_t(e.row - 1) >= nrows || !is_blank(*p)) return false;
      if constexpr (expand) {
        p = quick_index(skip_blanks(p), e.col);
        if (!p || std::uint64_t(e.col - 1) >= ncols) return false;
      }
      take(e);
      return true;
    };
    // Line ends are found 64 bytes at a time, so that lines do not wait for each other.
    bool fine = true;
    const char* line = first;
    for (const char* p = first; fine && line < last && p + 64 + 8 <= chunks.end(); p += 64)
      for (std::uint64_t ends = line_ends(p); ends != 0 && line < last; ends &= ends - 1) {
        const char* end = p + std::countr_zero(ends);
        if (!quick(line) && !careful(line, end)) {
          fine = false;
          break;
        }
        line = end + 1;
      }
    while (fine && line < last) {
      const char* end = line_end(line, chunks.end());
      fine = careful(line, end);
      line = end + 1;
    }
    if (!fine) good = false;
    all += lines;
  });
  entries = all;
  return good;
}

struct Placed {
  bool good = true, below = false, above = false;
  ValueCounts values;

  void add(const Placed& other) {
    good &= other.good;
    below |= other.below;
    above |= other.above;
    values.add(other.values);
  }
};

/// Entries that are being placed.
class Target {
 public:
  Target(const Rows& rows, int stretch, Csr<double, std::int64_t>& A)
      : rows_(rows), mine_(rows.of(stretch)), col_idx_(A.col_idx.data()), values_(A.values.data()), nnz_(A.nnz()) {}
  [[gnu::always_inline]] void put(Index row, Index col, double value) {
    if (std::uint64_t(row - mine_.first) < std::uint64_t(mine_.last - mine_.first)) [[likely]] {
      store(rows_.own[row]++, col, value);
    } else {
      row_[count_] = row;
      col_[count_] = col;
      value_[count_++] = value;
      if (count_ == size) flush();
    }
  }
  /// Entries of foreign rows, in batches: an atomic operation waits for all stores before it, so places are taken first.
  [[gnu::noinline]] void flush() {
    std::int64_t at[size];
    for (int k = 0; k < count_; ++k)
      at[k] = std::atomic_ref(rows_.foreign[row_[k]]).fetch_add(1, std::memory_order_relaxed);
    for (int k = 0; k < count_; ++k) store(at[k], col_[k], value_[k]);
    count_ = 0;
  }

 private:
  [[gnu::always_inline]] void store(std::int64_t at, Index col, double value) {
    if (at >= nnz_) [[unlikely]]  // the file changed between the passes
      return;
    col_idx_[at] = col;
    values_[at] = value;
  }

  static constexpr int size = 128;
  const Rows rows_;
  const Range mine_;
  Index* const col_idx_;
  double* const values_;
  const std::int64_t nnz_;
  int count_ = 0;
  Index row_[size], col_[size];
  double value_[size];
};

template <Field field, bool expand>
Placed place_entries(const Reading& reading, const Chunks& chunks, const Rows& rows, Csr<double, std::int64_t>& A) {
  const std::uint64_t nrows = std::uint64_t(reading.header.nrows), ncols = std::uint64_t(reading.header.ncols);
  const bool skew = reading.header.symmetry == Symmetry::skew_symmetric;
  std::vector<Placed> parts(std::size_t(rows.stretches));
  const auto quick = [&](const char* p, Entry& e) __attribute__((always_inline)) {
    const char* next = quick_entry<field>(p, e);
    const bool fits = std::uint64_t(e.row - 1) < nrows && std::uint64_t(e.col - 1) < ncols;
    return next && fits && !(expand && skew && e.row == e.col) ? next : nullptr;
  };
  chunks.for_each_of_stretches(rows.stretches, 2, [&](const char* first, const char* last, int stretch) {
    Placed mine;
    Target target(rows, stretch, A);
    const auto put = [&](const Entry& e) __attribute__((always_inline)) {
      const Index row = Index(e.row - 1), col = Index(e.col - 1);
      if constexpr (expand) {
        const bool above = row < col;
        mine.above |= above;
        mine.below |= row > col;
        const Index flag = above ? from_above : 0;
        target.put(row, col | flag, e.value);
        if (row != col) target.put(col, row | flag, skew ? -e.value : e.value);
      } else {
        target.put(row, col, e.value);
      }
      return true;
    };
    mine.good = each_entry(reading.header, chunks.fence(), first, last, mine.values, quick, put);
    target.flush();
    parts[std::size_t(stretch)].add(mine);
  });
  Placed all;
  for (const Placed& part : parts) all.add(part);
  return all;
}

/// Puts the entries in place; row_ptr says where rows begin, before and afterwards.
Placed place_entries(const Reading& reading, const Chunks& chunks, const Rows& rows, Csr<double, std::int64_t>& A) {
  const bool expand = reading.header.symmetry != Symmetry::general;
  const Placed placed = with_field(reading.header.field, [&]<Field field>() {
    return expand ? place_entries<field, true>(reading, chunks, rows, A)
                  : place_entries<field, false>(reading, chunks, rows, A);
  });
  if (!placed.good) reading.explain();
  return placed;
}

}  // namespace

Csr<double, std::int64_t> read_out_of_order(const Reading& reading) {
  const Header& header = reading.header;
  const Chunks chunks(reading.source, header, reading.options);
  const bool expand = header.symmetry != Symmetry::general;
  Csr<double, std::int64_t> A = rows_of(reading);
  // Foreign places are stored in 32 bits.
  const bool few = header.entries < std::numeric_limits<std::uint32_t>::max() / 2;
  const int stretches =
      few ? int(std::max<std::int64_t>(1, std::min<std::int64_t>(reading.on().threads, chunks.count()))) : 1;
  Array<std::uint32_t> foreign(stretches > 1 ? header.nrows : 0, 0);
  const Rows rows{A.row_ptr.data(), foreign.data(), header.nrows, stretches};
  parallel_for(reading.on(), A.row_ptr.size(), [&](std::int64_t first, std::int64_t last) {
    std::fill(A.row_ptr.begin() + first, A.row_ptr.begin() + last, 0);
  });
  std::int64_t entries = 0;
  const bool good = expand ? count<true>(reading, chunks, rows, entries) : count<false>(reading, chunks, rows, entries);
  if (!good || entries != header.entries) reading.explain();
  std::int64_t nnz = 0;
  for (std::int64_t row = 0; row <= header.nrows; ++row) {
    const std::int64_t own = std::exchange(A.row_ptr[row], nnz);
    nnz += own;
    if (row < foreign.size()) nnz += std::exchange(foreign[row], std::uint32_t(nnz));
  }
  take_entries(reading, nnz, nnz, A);
  Placed placed = place_entries(reading, chunks, rows, A);
  reading.source.check_unchanged();
  const auto restore = [&] {  // placing turned the begin of each row into its end
    for (std::int64_t row = header.nrows; row > 0; --row)
      A.row_ptr[row] = foreign.empty() ? A.row_ptr[row - 1] : foreign[row - 1];
    A.row_ptr[0] = 0;
  };
  restore();
  const RowFacts facts = sort_rows(reading.on(), A.row_ptr, A.col_idx.data(), A.values.data());
  if (stretches > 1 && facts.thrice) {  // three are summed in the order of the file, which several threads do not keep
    foreign = {};
    placed = place_entries(reading, chunks, Rows{A.row_ptr.data(), nullptr, header.nrows, 1}, A);
    restore();
    sort_rows(reading.on(), A.row_ptr, A.col_idx.data(), A.values.data());
  }
  reading.report_values(placed.values);
  add_up(reading, facts, placed.below, placed.above, A);
  return A;
}

}  // namespace seidel::mm
