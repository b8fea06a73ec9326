// What reading a coordinate and an array file have in common.
#pragma once
#include <cmath>
#include <vector>

#include <seidel/formats/matrix_market/chunks.hpp>

namespace seidel::mm {

/// What values are met, gathered by a thread.
struct ValueCounts {
  std::int64_t zeros = 0, nonfinite = 0;
  const char* first_nonfinite = nullptr;  // its line

  void add(const ValueCounts& other) {
    zeros += other.zeros;
    nonfinite += other.nonfinite;
    if (!first_nonfinite || (other.first_nonfinite && other.first_nonfinite < first_nonfinite))
      first_nonfinite = other.first_nonfinite;
  }
};

struct Reading {
  const Source& source;
  const Header& header;
  const ReadOptions& options;
  ReadReport& report;

  OpenMP on() const { return {std::max(1, options.threads)}; }
  /// Errors  ResourceError if so much memory is not there.
  void require(std::int64_t bytes) const;
  void report_values(const ValueCounts& counts) const;
  /// Goes through the file line by line and throws its first defect. Returns if there is none.
  void diagnose() const;
  /// For when something was wrong: diagnose(), which then throws.
  [[noreturn]] void explain() const;
};

/// The number of entries listed before each chunk, and behind the last of all. Goes through the file once, at the speed
/// of memory unless there are comments or blank lines. Errors  as explain(), if they are not as many as promised.
std::vector<std::int64_t> number_entries(const Reading& reading, const Chunks& chunks);

/// Calls take(entry) for the entries of the lines that begin in [first, last), until it answers false. quick(p, entry)
/// is asked first: the byte after the line, or nullptr if the careful parser must look. False if a line is wrong.
template <class Quick, class Take>
[[gnu::always_inline]] inline bool each_entry(const Reading& reading, const Chunks& chunks, const char* first,
                                              const char* last, ValueCounts& counts, const Quick& quick,
                                              const Take& take) {
  std::int64_t zeros = 0;
  bool good = true;
  for (const char* p = first; p < last;) {
    Entry e;
    if (p < chunks.fence()) {
      if (const char* next = quick(p, e)) {
        zeros += e.value == 0;
        if (!take(e)) break;
        p = next;
        continue;
      }
    }
    const char* end = line_end(p, chunks.end());
    const Line line = parse_line(reading.header, p, end, e, nullptr);
    if (line == Line::fault) {
      good = false;
      break;
    }
    if (line == Line::entry) {
      zeros += e.value == 0;
      if (!std::isfinite(e.value)) counts.add({0, 1, p});
      if (!take(e)) break;
    }
    p = end + 1;
  }
  counts.zeros += zeros;
  return good;
}

/// The entries of a coordinate file, each at the place that its number says: one pass, no row counted. Right only if
/// rows_ascend. Of files that list the lower triangle, column by column as most do, this makes the upper triangle.
struct InOrder {
  bool good = true;            // no line was wrong
  bool rows_ascend = true;     // row_ptr is made
  bool columns_ascend = true;  // strictly in each row, so that nothing is left to do
  ValueCounts values;
};
InOrder place_in_order(const Reading& reading, const Chunks& chunks, const std::vector<std::int64_t>& first_entry,
                       Csr<double, std::int64_t>& A);

/// The whole matrix from its upper triangle, whose columns ascend, in place: there is room for 2 * entries. Takes 4 bytes
/// a row; linear time, one thread. It moves what is there, at 4 ns an entry, and only lines are worth several.
void mirror(Csr<double, std::int64_t>& A, std::int64_t entries, Symmetry symmetry);

Csr<double, std::int64_t> read_coordinate(const Reading& reading);
Csr<double, std::int64_t> read_array(const Reading& reading);

}  // namespace seidel::mm
