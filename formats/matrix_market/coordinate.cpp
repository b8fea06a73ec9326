// Coordinate files: selects how to read them, and does what is left when their entries are in place.
#include <algorithm>
#include <map>
#include <utility>

#include <seidel/formats/matrix_market/gzip.hpp>
#include <seidel/formats/matrix_market/passes.hpp>
#include <seidel/formats/matrix_market/rows.hpp>
#include <seidel/formats/runtime/shares.hpp>

namespace seidel::mm {

namespace {

/// Both (i, j) and (j, i) are listed at these places (row << 32 | column): throws an error at the second entry of the
/// pair, for the first such pair in the file.
[[noreturn]] void refuse_both_triangles(const Reading& reading, const std::vector<std::uint64_t>& places) {
  std::vector<const char*> first(2 * places.size(), nullptr);  // where a place was listed: from below, from above
  for_each_line(reading.source, reading.header.body, [&](const char* p, const char* end) {
    Entry entry;
    if (parse_line(reading.header, p, end, entry, nullptr) != Line::entry || entry.row == entry.col) return;
    const bool above = entry.row < entry.col;
    const std::uint64_t key =
        std::uint64_t(std::max(entry.row, entry.col) - 1) << 32 | std::uint64_t(std::min(entry.row, entry.col) - 1);
    const auto found = std::lower_bound(places.begin(), places.end(), key);
    if (found == places.end() || *found != key) return;
    const std::size_t k = 2 * std::size_t(found - places.begin());
    if (first[k + !above]) refuse_mirror_image(reading, entry, p, first[k + !above]);
    if (!first[k + above]) first[k + above] = p;
  });
  throw InputError(reading.source.file() + ": found entries on both sides of the diagonal, expected one triangle\n  " +
                   std::string(reading.options.repair_by) + " takes pairs that agree once");
}

/// Where the sum of duplicates overflows: throws an error at the first entry of the file that makes one infinite.
[[noreturn]] void refuse_overflow(const Reading& reading, const Csr<double, std::int64_t>& A) {
  struct Sum {
    double value;
    const char* first;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Sum> sums;  // so far, of entries whose sum is not finite in the end
  if (!is_gzip(reading.source.text()))  // else whoever inflates reads it again, as any file with a defect
    for_each_line(reading.source, reading.header.body, [&](const char* line, const char* end) {
      Entry entry;
      if (parse_line(reading.header, line, end, entry, nullptr) != Line::entry) return;
      const Index *first = A.col_idx.data() + A.row_ptr[entry.row - 1], *last = A.col_idx.data() + A.row_ptr[entry.row];
      if (std::isfinite(A.values[std::lower_bound(first, last, entry.col - 1) - A.col_idx.data()])) return;
      const auto [at, is_first] = sums.try_emplace({entry.row, entry.col}, Sum{entry.value, line});
      if (is_first) return;
      if (overflows(at->second.value, entry.value))
        raise(reading.source,
              {skip_blanks(line),
               "entry (" + std::to_string(entry.row) + ", " + std::to_string(entry.col) + ") again, as in line " +
                   std::to_string(line_of(reading.source, at->second.first)) + ", with a sum beyond the largest double",
               "a magnitude of at most 1.7976931348623157e308",
               "entries in one place are added up: scale the matrix, or list each entry once"});
      at->second.value += entry.value;
    });
  throw InputError(reading.source.file() + ": found duplicates whose sum overflows, expected finite sums\n  " +
                   "scale the matrix, or list each entry once");
}

}  // namespace

void refuse_mirror_image(const Reading& reading, const Entry& entry, const char* p, const char* other) {
  const auto pair = [](std::int64_t i, std::int64_t j) {
    return "(" + std::to_string(i) + ", " + std::to_string(j) + ")";
  };
  const std::string mirror = pair(entry.col, entry.row) + " of line " + std::to_string(line_of(reading.source, other));
  const Symmetry symmetry = reading.header.symmetry;
  if (reading.options.repair)
    raise(reading.source, {skip_blanks(p), "entry " + pair(entry.row, entry.col) + " that disagrees with " + mirror,
                           symmetry == Symmetry::symmetric        ? "the same value"
                           : symmetry == Symmetry::skew_symmetric ? "opposite values"
                                                                  : "conjugate values",
                           "only pairs that agree are repaired: say general in the banner, or correct the file"});
  raise(reading.source,
        {skip_blanks(p), "entry " + pair(entry.row, entry.col) + " as well as its mirror image " + mirror,
         "one of the two in a file that says " + std::string(name(symmetry)),
         std::string(reading.options.repair_by) +
             " takes pairs that agree once; if both are meant, say general in the banner"});
}

void take_entries(const Reading& reading, std::int64_t nnz, std::int64_t room, Csr<double, std::int64_t>& A) {
  reading.require(nnz * 12);
  A.take_entries(reading.on(), room);
}

Csr<double, std::int64_t> rows_of(const Reading& reading) {
  const Header& header = reading.header;
  reading.require((header.nrows + 1) * 8);
  return {Index(header.nrows), Index(header.ncols), Array<std::int64_t>(header.nrows + 1), {}, {}};
}

Csr<double, std::int64_t> room_in_order(const Reading& reading) {
  const Header& header = reading.header;
  Csr<double, std::int64_t> A = rows_of(reading);
  const bool triangle = header.symmetry != Symmetry::general;
  take_entries(reading, header.entries, triangle ? 2 * header.entries : header.entries, A);
  return A;
}

void add_up(const Reading& reading, const RowFacts& facts, bool below, bool above, Csr<double, std::int64_t>& A) {
  if (facts.equal) {
    if (below && above) {
      const auto places = listed_twice(A.row_ptr, A.col_idx.data(), A.values.data(), reading.options.repair);
      if (!places.empty()) refuse_both_triangles(reading, places);
    }
    const bool triangle = reading.header.symmetry != Symmetry::general;
    const Merged merged = merge_rows(reading.on(), A.row_ptr, A.col_idx.data(), A.values.data(), triangle);
    A.col_idx.truncate(merged.nnz);
    A.values.truncate(merged.nnz);
    if (merged.overflow) refuse_overflow(reading, A);
    reading.report.duplicates = merged.duplicates;
    reading.report.mirrored = merged.mirrored;
  } else if (above) {  // clears the flags
    for_each_index(reading.on(), A.nnz(), 1, [&](std::int64_t k) { A.col_idx[k] = column_of(A.col_idx[k]); });
  }
}

bool finish_in_order(const Reading& reading, const InOrder& in_order, Csr<double, std::int64_t>& A) {
  const bool triangle = reading.header.symmetry != Symmetry::general;
  if (!in_order.rows_ascend() || (triangle && !in_order.columns_ascend())) return false;
  reading.source.check_unchanged();
  reading.report_values(in_order.values());
  if (triangle) mirror(reading.on(), reading.header, in_order.order(), A);
  if (!in_order.columns_ascend())
    add_up(reading, sort_rows(reading.on(), A.row_ptr, A.col_idx.data(), A.values.data()), false, false, A);
  return true;
}

Csr<double, std::int64_t> read_coordinate(const Reading& reading) {
  const Chunks chunks(reading.source, reading.header, reading.options);
  for (const Order order : orders_of(reading.header, reading.header.body, chunks.end())) {
    Csr<double, std::int64_t> A = room_in_order(reading);
    InOrder in_order(reading.header, order, A, reading.on().threads);
    std::deque<Stretch> stretches(std::size_t(chunks.count()));
    const auto place = [&](std::int64_t c, const Chunks::Chunk& lines, int part) {
      Stretch& stretch = stretches[std::size_t(c)];
      stretch = {lines.first_entry, lines.last_entry};
      in_order.place(chunks.fence(), lines.first, lines.last, stretch, part);
      return in_order.good() && in_order.rows_ascend();
    };
    const std::int64_t entries = chunks.for_each_numbered(reading.on(), reading.header.entries, place);
    if (!in_order.good()) reading.explain();
    if (!in_order.rows_ascend()) continue;
    if (entries != reading.header.entries) reading.explain();
    in_order.join(stretches);
    if (finish_in_order(reading, in_order, A)) return A;
  }
  return read_out_of_order(reading);
}

}  // namespace seidel::mm
