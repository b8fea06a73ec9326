// Shared by the readers of coordinate and array files.
#pragma once
#include <cmath>
#include <deque>
#include <optional>
#include <vector>

#include <seidel/formats/matrix_market/chunks.hpp>

namespace seidel::mm {

/// Facts about the values that one thread has parsed.
struct ValueCounts {
  std::int64_t zeros = 0, underflows = 0, nonfinite = 0, large_integers = 0;
  const char* first_nonfinite = nullptr;  // its line

  /// Of a value that was read as 0: where its word begins, in the line that ends at `end`.
  void add_zero(const char* value, const char* end) { ++(is_nonzero(value, end) ? underflows : zeros); }
  void add(const ValueCounts& other) {
    zeros += other.zeros;
    underflows += other.underflows;
    nonfinite += other.nonfinite;
    large_integers += other.large_integers;
    if (!first_nonfinite || (other.first_nonfinite && other.first_nonfinite < first_nonfinite))
      first_nonfinite = other.first_nonfinite;
  }
  static ValueCounts sum(const std::vector<ValueCounts>& parts) {
    ValueCounts all;
    for (const ValueCounts& part : parts) all.add(part);
    return all;
  }
};

struct Reading {
  const Source& source;
  const Header& header;
  const ReadOptions& options;
  ReadReport& report;

  OpenMP on() const { return {std::max(1, options.threads)}; }
  /// Errors  ResourceError if there is not so much memory.
  void require(std::int64_t bytes) const;
  void report_values(const ValueCounts& counts) const;
  /// Reads the file line by line and throws its first defect. Returns if there is none.
  void diagnose() const;
  /// For when something was wrong: diagnose(), which then throws.
  [[noreturn]] void explain() const;
};

/// The entry of the line at p is the mirror image of that of the line at `other`. Errors  InputError.
[[noreturn]] void refuse_mirror_image(const Reading& reading, const Entry& entry, const char* p, const char* other);

/// Calls take(entry) for the entries of the lines that begin in [first, last), until it returns false. quick(p, entry)
/// is tried first: it returns the byte after the line, or nullptr to call the careful parser. False if a line is wrong.
[[gnu::always_inline]] inline bool each_entry(const Header& header, const Fence& fence, const char* first,
                                              const char* last, ValueCounts& counts, const auto& quick,
                                              const auto& take) {
  bool good = true;
  for (const char* p = first; p < last;) {
    Entry e;
    if (p < fence.at) {
      if (const char* next = quick(p, e)) {
        if (e.value == 0) [[unlikely]]
          counts.add_zero(value_of(header, p), next);
        if (!take(e)) break;
        p = next;
        continue;
      }
    }
    const char* end = line_end(p, fence.end);
    const Line line = parse_line(header, p, end, e, nullptr);
    if (line == Line::fault) {
      good = false;
      break;
    }
    if (line == Line::entry) {
      if (e.value == 0) counts.add_zero(value_of(header, p), end);
      if (!std::isfinite(e.value)) counts.add({.nonfinite = 1, .first_nonfinite = p});
      if (header.field == Field::integer) counts.large_integers += std::abs(e.value) >= 0x1p53;
      if (!take(e)) break;
    }
    p = end + 1;
  }
  return good;
}

/// Visits the places of an array file in its order, from entry k on.
class ArrayPlace {
 public:
  ArrayPlace(const Header& header, std::int64_t k) : nrows_(header.nrows), symmetry_(header.symmetry) {
    if (symmetry_ == Symmetry::general) {
      col = nrows_ > 0 ? k / nrows_ : 0;
      row = nrows_ > 0 ? k % nrows_ : 0;
      return;
    }
    while (col < nrows_ && k >= nrows_ - top()) {
      k -= nrows_ - top();
      ++col;
    }
    row = top() + k;
  }
  void next() {
    if (++row < nrows_) return;
    ++col;
    row = top();
  }
  std::int64_t row = 0, col = 0;

 private:
  std::int64_t top() const {  // the first row listed in this column
    return symmetry_ == Symmetry::general ? 0 : col + (symmetry_ == Symmetry::skew_symmetric);
  }
  std::int64_t nrows_;
  Symmetry symmetry_;
};

/// Consecutive lines: the numbers of their entries and, after these are placed, their rows.
struct Stretch {
  std::int64_t first_entry, last_entry;
  Index first_row = -1, last_row = -1;  // -1 if there are no entries
};

/// Orders in which the number of an entry determines its place.
enum class Order { general_by_rows, triangle_by_columns, triangle_by_rows };  // the lower triangle
/// The orders that a file may have whose first lines are [first, last).
std::vector<Order> orders_of(const Header& header, const char* first, const char* last);

/// Puts each entry of a coordinate file at the place of its number: one pass, without counting rows. Right only if
/// rows_ascend. Of a triangle by columns this makes the upper triangle, of one by rows the lower one.
class InOrder {
 public:
  /// Fills row_ptr, col_idx and values of A, which are large enough.
  InOrder(const Header& header, Order order, Csr<double, std::int64_t>& A, int threads)
      : header_(header), order_(order), A_(A), values_(std::size_t(threads)) {}
  /// The lines that begin in [first, last). Any stretch by any thread, whose number is `part`; does not throw.
  void place(const Fence& fence, const char* first, const char* last, Stretch& stretch, int part);
  /// To be called when all are placed, in the order of the file.
  void join(const std::deque<Stretch>& stretches);
  bool good() const { return good_; }                      // no line was wrong
  bool rows_ascend() const { return rows_ascend_; }        // row_ptr is made
  bool columns_ascend() const { return columns_ascend_; }  // strictly in each row, so nothing is left to do
  ValueCounts values() const { return ValueCounts::sum(values_); }
  Order order() const { return order_; }

 private:
  template <Field field, Order order>
  void place_lines(const Fence& fence, const char* first, const char* last, Stretch& stretch, int part);

  const Header& header_;
  Order order_;
  Csr<double, std::int64_t>& A_;
  std::atomic<bool> good_ = true, rows_ascend_ = true, columns_ascend_ = true;
  std::vector<ValueCounts> values_;
};

/// The number of entries of the matrix; if symmetric an estimate, which assumes that the whole diagonal is listed once.
std::int64_t expected_nnz(const Header& header);
/// Makes the whole matrix of a triangle that InOrder placed, in place: there is room for 2 * entries. Takes 4 bytes
/// per row; linear time.
void mirror(const OpenMP& on, const Header& header, Order order, Csr<double, std::int64_t>& A);

/// Memory for the rows that the header declares, without entries.
Csr<double, std::int64_t> rows_of(const Reading& reading);
/// Address space for so many entries, of which at least `nnz` will be used: pages that are not touched take no memory.
void take_entries(const Reading& reading, std::int64_t nnz, std::int64_t room, Csr<double, std::int64_t>& A);
/// Memory for what the header declares, before the entries of a file in order are placed.
Csr<double, std::int64_t> room_in_order(const Reading& reading);
/// What remains after they are placed: the other triangle, unsorted rows, duplicates. False if they were not in order.
bool finish_in_order(const Reading& reading, const InOrder& in_order, Csr<double, std::int64_t>& A);
/// Sums duplicates in sorted rows, if the file may have any; `below` and `above`: entries listed on that side of the
/// diagonal. Clears the flags. Errors  InputError for a sum that overflows.
struct RowFacts;
void add_up(const Reading& reading, const RowFacts& facts, bool below, bool above, Csr<double, std::int64_t>& A);

/// What is known from the header; calls options.sized. `text_bytes`: of all text.
ReadReport report_of(const Source& source, const Header& header, const ReadOptions& options);

/// A gzip coordinate file in order, parsed while it is inflated: neither text nor packed bytes are kept. Returns nothing
/// if the file is of another kind or has a defect: then inflate all of it and read the text.
std::optional<MatrixFile> read_inflating(const Source& source, const ReadOptions& options);

/// A file in any order, from its text.
Csr<double, std::int64_t> read_out_of_order(const Reading& reading);

Csr<double, std::int64_t> read_coordinate(const Reading& reading);
Csr<double, std::int64_t> read_array(const Reading& reading);
/// A complex file, as ReadOptions::Complex::as_real_form says.
Csr<double, std::int64_t> read_real_form(const Reading& reading);

}  // namespace seidel::mm
