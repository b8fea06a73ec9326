// Coordinate files, straight to rows: the first pass counts the entries of each row, the second puts them in place.

#include <bit>
#include <numeric>

#include <seidel/formats/matrix_market/passes.hpp>
#include <seidel/formats/matrix_market/rows.hpp>

namespace seidel::mm {

namespace {

/// ++place for one thread, or for several at once; what it was.
template <bool shared>
std::int64_t increment(std::int64_t& place) {
  if constexpr (shared)
    return std::atomic_ref(place).fetch_add(1, std::memory_order_relaxed);
  else
    return place++;
}

/// Entries of each row into counts, and of all lines. False if a line is seen to be wrong.
template <bool both_indices, bool shared>
bool count(const Reading& reading, const Chunks& chunks, HostSpan<std::int64_t> counts, std::int64_t& entries) {
  std::atomic<std::int64_t> all = 0;
  std::atomic<bool> good = true;
  const std::uint64_t nrows = std::uint64_t(reading.header.nrows), ncols = std::uint64_t(reading.header.ncols);
  chunks.for_each(reading.on(), 1, 2, [&](std::int64_t, const char* first, const char* last, int) {
    std::int64_t lines = 0, run_row = -1, run = 0;  // files are often sorted by rows: a run of one row is added at once
    const auto add = [&](std::int64_t row) {
      if constexpr (shared) {
        if (row == run_row) {
          ++run;
          return;
        }
        if (run > 0) std::atomic_ref(counts[run_row]).fetch_add(run, std::memory_order_relaxed);
        run_row = row;
        run = 1;
      } else {
        ++counts[row];
      }
    };
    const auto take = [&](const Entry& e) {
      ++lines;
      add(e.row - 1);
      if (both_indices && e.row != e.col) increment<shared>(counts[e.col - 1]);
    };
    const auto careful = [&](const char* p, const char* end) {
      Entry e;
      const Line line = parse_line(reading.header, p, end, e, nullptr);
      if (line == Line::entry) take(e);
      return line != Line::fault;
    };
    const auto quick = [&](const char* p) {  // the indices are all that is looked at
      Entry e;
      p = quick_index(skip_blanks(p), e.row);
      if (!p || std::uint64_t(e.row - 1) >= nrows || !is_blank(*p)) return false;
      if constexpr (both_indices) {
        p = quick_index(skip_blanks(p), e.col);
        if (!p || std::uint64_t(e.col - 1) >= ncols) return false;
      }
      take(e);
      return true;
    };
    // Line ends are found 64 bytes at a time, so that one line need not wait for the other.
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
    if (run > 0) std::atomic_ref(counts[run_row]).fetch_add(run, std::memory_order_relaxed);
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

/// Where entries go: next[row] is the place of the row's next entry.
struct Target {
  std::int64_t* next;
  Index* col_idx;
  double* values;
  std::int64_t nnz;  // a fence, should the file change between the passes

  [[gnu::always_inline]] void put(std::int64_t at, Index col, double value) const {
    if (at >= nnz) [[unlikely]]
      return;
    col_idx[at] = col;
    values[at] = value;
  }
};

/// Entries on their way to their places, by one thread: at once.
class Straight {
 public:
  explicit Straight(const Target& to) : to_(to) {}
  [[gnu::always_inline]] void put(Index row, Index col, double value) { to_.put(to_.next[row]++, col, value); }
  void flush() {}

 private:
  Target to_;
};

/// By several threads: some at a time, so that the places of those that follow one another in a row are taken together,
/// and taking places, which waits for all stores before it, is apart from storing.
class Together {
 public:
  explicit Together(const Target& to) : to_(to) {}
  [[gnu::always_inline]] void put(Index row, Index col, double value) {
    row_[count_] = row;
    col_[count_] = col;
    value_[count_++] = value;
    if (count_ == size) flush();
  }
  void flush() {
    std::int64_t at[size];
    for (int k = 0; k < count_;) {
      int run = 1;
      while (k + run < count_ && row_[k + run] == row_[k]) ++run;
      at[k] = std::atomic_ref(to_.next[row_[k]]).fetch_add(run, std::memory_order_relaxed);
      for (++k; --run > 0; ++k) at[k] = at[k - 1] + 1;
    }
    for (int k = 0; k < count_; ++k) to_.put(at[k], col_[k], value_[k]);
    count_ = 0;
  }

 private:
  static constexpr int size = 128;
  Target to_;
  int count_ = 0;
  Index row_[size], col_[size];
  double value_[size];
};

template <Field field, bool expand, bool shared>
Placed place_entries(const Reading& reading, const Chunks& chunks, const Target& target) {
  const std::uint64_t nrows = std::uint64_t(reading.header.nrows), ncols = std::uint64_t(reading.header.ncols);
  const bool skew = reading.header.symmetry == Symmetry::skew_symmetric;
  std::vector<Placed> parts(std::size_t(reading.on().threads));
  const auto quick = [&](const char* p, Entry& e) __attribute__((always_inline)) {
    const char* next = quick_entry<field>(p, e);
    const bool fits = std::uint64_t(e.row - 1) < nrows && std::uint64_t(e.col - 1) < ncols;
    return next && fits && !(expand && skew && e.row == e.col) ? next : nullptr;
  };
  const auto work = [&](std::int64_t, const char* first, const char* last, int part) {
    Placed mine;
    std::conditional_t<shared, Together, Straight> as_is(target), mirrored(target);
    const auto put = [&](const Entry& e) __attribute__((always_inline)) {
      const Index row = Index(e.row - 1), col = Index(e.col - 1);
      if constexpr (expand) {
        const bool above = row < col;
        mine.above |= above;
        mine.below |= row > col;
        const Index flag = above ? from_above : 0;
        as_is.put(row, col | flag, e.value);
        if (row != col) mirrored.put(col, row | flag, skew ? -e.value : e.value);
      } else {
        as_is.put(row, col, e.value);
      }
      return true;
    };
    mine.good = each_entry(reading.header, chunks.fence(), first, last, mine.values, quick, put);
    as_is.flush();
    mirrored.flush();
    parts[std::size_t(part)].add(mine);
  };
  chunks.for_each(OpenMP{shared ? reading.on().threads : 1}, 2, 2, work);
  Placed all;
  for (const Placed& part : parts) all.add(part);
  return all;
}

Placed place_entries(const Reading& reading, const Chunks& chunks, const Target& target, bool shared) {
  const auto with = [&]<Field field>(std::integral_constant<Field, field>) {
    const bool expand = reading.header.symmetry != Symmetry::general;
    if (expand)
      return shared ? place_entries<field, true, true>(reading, chunks, target)
                    : place_entries<field, true, false>(reading, chunks, target);
    return shared ? place_entries<field, false, true>(reading, chunks, target)
                  : place_entries<field, false, false>(reading, chunks, target);
  };
  switch (reading.header.field) {
    case Field::integer: return with(std::integral_constant<Field, Field::integer>{});
    case Field::pattern: return with(std::integral_constant<Field, Field::pattern>{});
    case Field::real: break;
  }
  return with(std::integral_constant<Field, Field::real>{});
}

/// Both (i, j) and (j, i) are listed at these places (row << 32 | column): throws what the second of a pair says, the
/// first such in the file.
[[noreturn]] void refuse_both_triangles(const Reading& reading, const std::vector<std::uint64_t>& places) {
  std::vector<const char*> first(2 * places.size(), nullptr);  // where a place was listed: from below, from above
  const std::string_view text = reading.source.text();
  const char* const end = text.data() + text.size();
  for (const char* p = reading.header.body; p < end;) {
    const char* e = line_end(p, end);
    Entry entry;
    if (parse_line(reading.header, p, e, entry, nullptr) == Line::entry && entry.row != entry.col) {
      const bool above = entry.row < entry.col;
      const std::uint64_t key =
          std::uint64_t(std::max(entry.row, entry.col) - 1) << 32 | std::uint64_t(std::min(entry.row, entry.col) - 1);
      const auto found = std::lower_bound(places.begin(), places.end(), key);
      if (found != places.end() && *found == key) {
        const std::size_t k = 2 * std::size_t(found - places.begin());
        if (const char* other = first[k + !above]) {
          const auto pair = [](std::int64_t i, std::int64_t j) {
            return "(" + std::to_string(i) + ", " + std::to_string(j) + ")";
          };
          const std::string symmetry(name(reading.header.symmetry));
          const std::string mirror =
              pair(entry.col, entry.row) + " of line " + std::to_string(line_of(reading.source, other));
          const bool skew = reading.header.symmetry == Symmetry::skew_symmetric;
          if (reading.options.repair)
            raise(reading.source,
                  {skip_blanks(p), "entry " + pair(entry.row, entry.col) + " that disagrees with " + mirror,
                   skew ? "opposite values" : "the same value",
                   "only pairs that agree are repaired: say general in the banner, or correct the file"});
          raise(reading.source,
                {skip_blanks(p), "entry " + pair(entry.row, entry.col) + " as well as its mirror image " + mirror,
                 "one of the two in a file that says " + symmetry,
                 "--repair takes pairs that agree once; if both are meant, say general in the banner"});
        }
        if (!first[k + above]) first[k + above] = p;
      }
    }
    p = e + 1;
  }
  throw InputError(reading.source.file() + ": found entries on both sides of the diagonal, expected one triangle\n  " +
                   "use --repair");
}

/// Entries of each row, and of all.
std::int64_t count_entries(const Reading& reading, const Chunks& chunks, HostSpan<std::int64_t> counts, bool shared) {
  const bool expand = reading.header.symmetry != Symmetry::general;
  parallel_for(reading.on(), counts.size(), [&](std::int64_t first, std::int64_t last) {
    std::fill(counts.begin() + first, counts.begin() + last, 0);
  });
  std::int64_t entries = 0;
  const bool good = expand   ? shared ? count<true, true>(reading, chunks, counts, entries)
                                      : count<true, false>(reading, chunks, counts, entries)
                      : shared ? count<false, true>(reading, chunks, counts, entries)
                             : count<false, false>(reading, chunks, counts, entries);
  if (!good || entries != reading.header.entries) reading.explain();
  return std::accumulate(counts.begin(), counts.end(), std::int64_t(0));
}

/// Puts the entries in place; row_ptr holds where rows begin, then and afterwards.
Placed place_entries(const Reading& reading, const Chunks& chunks, Csr<double, std::int64_t>& A, bool shared) {
  const Placed placed =
      place_entries(reading, chunks, Target{A.row_ptr.data(), A.col_idx.data(), A.values.data(), A.nnz()}, shared);
  if (!placed.good) reading.explain();
  std::copy_backward(A.row_ptr.begin(), A.row_ptr.end() - 1, A.row_ptr.end());  // they had become where rows end
  A.row_ptr[0] = 0;
  return placed;
}

/// Adds up what sorted rows have twice, if the file may; clears the flags.
void add_up(const Reading& reading, const RowFacts& facts, const Placed& placed, Csr<double, std::int64_t>& A) {
  if (facts.equal) {
    if (placed.below && placed.above) {
      const auto places = listed_twice(A.row_ptr, A.col_idx.data(), A.values.data(), reading.options.repair);
      if (!places.empty()) refuse_both_triangles(reading, places);
    }
    MergeCounts counts;
    const bool triangle = reading.header.symmetry != Symmetry::general;
    const std::int64_t nnz = merge_rows(reading.on(), A.row_ptr, A.col_idx.data(), A.values.data(), triangle, counts);
    A.col_idx.truncate(nnz);
    A.values.truncate(nnz);
    reading.report.duplicates = counts.duplicates;
    reading.report.mirrored = counts.mirrored;
  } else if (placed.above) {
    clear_flags(reading.on(), A.col_idx);
  }
}

}  // namespace

void take_entries(const Reading& reading, std::int64_t nnz, std::int64_t room, Csr<double, std::int64_t>& A) {
  A.col_idx = {};
  A.values = {};
  reading.require(nnz * 12);
  A.col_idx = Array<Index>(room);
  A.values = Array<double>(room);
}

Csr<double, std::int64_t> room_in_order(const Reading& reading) {
  const Header& header = reading.header;
  Csr<double, std::int64_t> A;
  A.nrows = Index(header.nrows);
  A.ncols = Index(header.ncols);
  reading.require((header.nrows + 1) * 8);
  A.row_ptr = Array<std::int64_t>(header.nrows + 1);
  const bool triangle = header.symmetry != Symmetry::general;
  take_entries(reading, header.entries, triangle ? 2 * header.entries : header.entries, A);
  return A;
}

bool finish_in_order(const Reading& reading, const InOrder& in_order, Csr<double, std::int64_t>& A) {
  const bool triangle = reading.header.symmetry != Symmetry::general;
  if (!in_order.rows_ascend() || (triangle && !in_order.columns_ascend())) return false;
  reading.source.check_unchanged();
  reading.report_values(in_order.values());
  if (in_order.order() == Order::triangle_by_columns) mirror_columns(reading.header, A);
  if (in_order.order() == Order::triangle_by_rows) mirror_rows(reading.header, A);
  if (!in_order.columns_ascend())
    add_up(reading, sort_rows(reading.on(), A.row_ptr, A.col_idx.data(), A.values.data()), {}, A);
  return true;
}

Csr<double, std::int64_t> read_coordinate(const Reading& reading) {
  const Chunks chunks(reading.source, reading.header, reading.options);
  const auto first_entry = number_entries(reading, chunks);
  Csr<double, std::int64_t> A = room_in_order(reading);
  for (const Order order : orders_of(reading.header)) {
    InOrder in_order(reading.header, order, A, reading.on().threads);
    std::vector<Stretch> stretches(std::size_t(chunks.count()));
    chunks.for_each(reading.on(), 2, 2, [&](std::int64_t c, const char* first, const char* last, int part) {
      Stretch& stretch = stretches[std::size_t(c)];
      stretch = {first_entry[std::size_t(c)], first_entry[std::size_t(c) + 1]};
      in_order.place(chunks.fence(), first, last, stretch, part);
    });
    in_order.join(stretches);
    if (!in_order.good()) reading.explain();
    if (finish_in_order(reading, in_order, A)) return A;
  }

  const bool shared = reading.on().threads > 1 && chunks.count() > 1;
  const std::int64_t nnz = count_entries(reading, chunks, A.row_ptr, shared);
  if (reading.header.symmetry != Symmetry::general) take_entries(reading, nnz, nnz, A);
  std::exclusive_scan(A.row_ptr.begin(), A.row_ptr.end(), A.row_ptr.begin(), std::int64_t(0));
  const Placed placed = place_entries(reading, chunks, A, shared);
  reading.source.check_unchanged();
  reading.report_values(placed.values);
  const RowFacts facts = sort_rows(reading.on(), A.row_ptr, A.col_idx.data(), A.values.data());
  if (shared && facts.thrice) {
    // Three are added in the order of the file, which several threads do not keep.
    place_entries(reading, chunks, A, false);
    sort_rows(reading.on(), A.row_ptr, A.col_idx.data(), A.values.data());
  }
  add_up(reading, facts, placed, A);
  return A;
}

}  // namespace seidel::mm
