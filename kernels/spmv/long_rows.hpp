// Long rows of a CSR matrix as a GPU takes them: each warp a piece of at most 2048 entries, a block of the one order of sums.
#pragma once
#include <algorithm>
#include <cstdint>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/sum.hpp>

namespace seidel::spmv_detail {

/// A row of up to so many entries is work for a few threads.
inline constexpr int moderate_row = 256;

/// What a warp adds up at a time.
struct Piece {
  std::int64_t first;   // its first entry
  std::int16_t length;  // the last piece of a cut row may have a single entry
  /// How many rows it stands for: spmm/ joins rows with the same columns in the piece of the first; 0 in those of the others.
  std::int16_t rows = 1;
  Index to;  // the row; for a piece of a cut row ~slot, where its sum is kept until the row is finished
};

/// A row of more than 2048 entries, cut.
struct CutRow {
  Index row, first_slot, pieces;
};

/// How many there are of each.
struct LongRowCounts {
  Index long_pieces = 0;      // of rows of more than 256 entries
  Index moderate_pieces = 0;  // rows of 65 ... 256 entries
  Index joined_rows = 0;      // of those: taken together with the row before (spmm/)
  Index cut_rows = 0, slots = 0;

  SEIDEL_HD std::int64_t pieces() const { return std::int64_t(long_pieces) + moderate_pieces; }
  std::int64_t rows() const { return std::int64_t(long_pieces) + moderate_pieces - slots + cut_rows; }
  std::int64_t bytes() const {
    return pieces() * std::int64_t(sizeof(Piece)) + cut_rows * std::int64_t(sizeof(CutRow)) +
           std::int64_t(sizeof(LongRowCounts));
  }
};

/// Pieces in device memory: those of rows of more than 256 entries stand at the front, the others at the back. No bit of a
/// result depends on their order.
struct LongRowsView {
  LongRowCounts room;  // at least as many as there are
  Piece* pieces = nullptr;
  CutRow* cut_rows = nullptr;
  LongRowCounts* counts = nullptr;  // as many as there are

  /// Piece `at`, counted from the front, then from the back.
  SEIDEL_HD const Piece& piece(Index at, Index long_pieces) const {
    return at < long_pieces ? pieces[at]
                            : pieces[std::int64_t(room.long_pieces) + room.moderate_pieces - 1 - (at - long_pieces)];
  }
};

/// What the lengths of all rows tell.
struct RowSurvey {
  LongRowCounts long_rows;
  unsigned long long variation = 0;  // the sum of the differences between the lengths of neighbouring rows
};
/// Reads the row pointers and waits.
template <class Offset>
[[gnu::used]] RowSurvey survey_rows(const Cuda& on, DeviceSpan<const Offset> row_ptr);
/// What the list of a matrix with so many entries may hold at most.
inline LongRowCounts max_long_rows(std::int64_t nrows, std::int64_t nnz, int shortest) {
  const auto cut_rows = Index(std::min<std::int64_t>(nrows, nnz / (sum_block + 1)));
  const auto whole = Index(nnz / sum_block);  // pieces of 2048 entries
  const auto moderate = shortest < moderate_row ? Index(std::min<std::int64_t>(nrows, nnz / (shortest + 1))) : 0;
  return {.long_pieces = Index(std::min<std::int64_t>(nrows, nnz / (moderate_row + 1))) + whole,
          .moderate_pieces = moderate,
          .joined_rows = moderate,
          .cut_rows = cut_rows,
          .slots = whole + cut_rows};
}

/// Lists the rows of more than `shortest` (64 or 256) entries; reads the row pointers and waits for nothing.
template <class Offset>
[[gnu::used]] void list_long_rows(const Cuda& on, DeviceSpan<const Offset> row_ptr, int shortest,
                                  const LongRowsView& to);

/// Room for the list of one product, in scratch memory.
template <class Real, class Offset>
LongRowsView room_in(Scratch<Cuda>& scratch, const CsrView<Real, Offset, Device>& A, int shortest) {
  const LongRowCounts room = max_long_rows(A.nrows, A.nnz(), shortest);
  return {.room = room,
          .pieces = scratch.take<Piece>(room.pieces()).data(),
          .cut_rows = scratch.take<CutRow>(room.cut_rows).data(),
          .counts = scratch.take<LongRowCounts>(1).data()};
}
/// The list for one product.
template <class Real, class Offset>
LongRowsView listed_in(Scratch<Cuda>& scratch, const Cuda& on, const CsrView<Real, Offset, Device>& A, int shortest) {
  const LongRowsView view = room_in(scratch, A, shortest);
  list_long_rows(on, A.row_ptr, shortest, view);
  return view;
}

/// The list for products to come.
struct LongRows {
  LongRowCounts exact;
  Array<Piece, Device> pieces;
  Array<CutRow, Device> cut_rows;
  Array<LongRowCounts, Device> counts;

  /// `exact`: how many there are, as survey_rows() counts them.
  template <class Offset>
  static LongRows of(const Cuda& on, DeviceSpan<const Offset> row_ptr, const LongRowCounts& exact) {
    LongRows rows{.exact = exact,
                  .pieces = Array<Piece, Device>(on, exact.pieces()),
                  .cut_rows = Array<CutRow, Device>(on, exact.cut_rows),
                  .counts = Array<LongRowCounts, Device>(on, 1)};
    list_long_rows(on, row_ptr, short_sum, rows.view());
    return rows;
  }
  LongRowsView view() const {
    return {.room = exact,
            .pieces = const_cast<Piece*>(pieces.data()),
            .cut_rows = const_cast<CutRow*>(cut_rows.data()),
            .counts = const_cast<LongRowCounts*>(counts.data())};
  }
};

}  // namespace seidel::spmv_detail
