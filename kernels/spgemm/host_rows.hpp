// Rows of sparse products on the host. A row of few entries is found as it is summed: each column remembers its place, and the
// entries are put in order at the end. The pattern of others is found in a set of bits, which is small beside a row of values
// and gives the columns in order; then the sums are taken where they belong.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include <seidel/formats/csr.hpp>
#include <seidel/kernels/spgemm/host_values.hpp>

namespace seidel::spgemm_detail {

inline constexpr int word_bits = 64;
inline std::int64_t words_for(std::int64_t n) { return (n + word_bits - 1) / word_bits; }

/// The columns of a row, put in in any order and taken out in ascending order. A tree: a bit of a level tells that the
/// word of the level below it is not empty, so that the words in between need not be visited.
class ColumnSet {
 public:
  explicit ColumnSet(Index ncols) {
    std::int64_t n = ncols;
    for (auto& level : levels_) level = Array<std::uint64_t>(n = words_for(n), 0);
  }
  /// Those of the columns 64 place ... 64 place + 63 that have a bit.
  void insert(std::uint32_t place, std::uint64_t bits) {
    for (auto& level : levels_) {
      std::uint64_t& word = level[place];
      const bool was_empty = word == 0;
      word |= bits;
      if (!was_empty) return;
      bits = std::uint64_t(1) << place % word_bits;
      place /= word_bits;
    }
  }
  /// Takes out the least column; none where the set is empty.
  std::optional<Index> take_least() {
    const auto& last = levels_[nlevels - 1];
    std::int64_t least =
        std::find_if(last.begin(), last.end(), [](std::uint64_t word) { return word != 0; }) - last.begin();
    if (least == last.size()) return {};
    for (int l = nlevels - 1; l >= 0; --l) least = word_bits * least + std::countr_zero(levels_[l][least]);
    std::int64_t place = least;
    for (auto& level : levels_) {
      std::uint64_t& word = level[place /= word_bits];
      if ((word &= word - 1) != 0) break;
    }
    return Index(least);
  }
  /// Calls visit(column) for each, ascending; the set is empty then.
  void drain(const auto& visit) {
    for (std::int64_t at = 0; at < levels_[nlevels - 1].size(); ++at) drain_word<nlevels - 1>(at, visit);
  }

 private:
  static constexpr int nlevels = 4;  // at most 128 words on the last one
  template <int level, class Visit>
  void drain_word(std::int64_t at, const Visit& visit) {
    for (std::uint64_t word = std::exchange(levels_[level][at], 0); word; word &= word - 1) {
      const std::int64_t place = at * word_bits + std::countr_zero(word);
      if constexpr (level == 0)
        visit(Index(place));
      else
        drain_word<level - 1>(place, visit);
    }
  }

  Array<std::uint64_t> levels_[nlevels];
};

/// A row whose entries are few, in the order in which their columns are met. `place_of` may hold any places.
template <class Real>
struct ShortRow {
  static constexpr std::int64_t max_products = 1024;
  static constexpr Index max_entries = 64;
  Index n;
  Index columns[max_products + 1];
  Real sums[max_products + 1];

  /// Whether it is one.
  template <class Offset>
  bool add_products(const CsrView<Real, Offset, Host>& A, const CsrView<Real, Offset, Host>& B, std::int64_t row,
                    Index* place_of) {
    n = 0;
    for (Offset e = A.row_ptr[row]; e < A.row_ptr[row + 1]; ++e) {
      const std::int64_t k = A.col_idx[e];
      const Real a = A.values[e];
      for (Offset f = B.row_ptr[k]; f < B.row_ptr[k + 1]; ++f) {
        const Index column = B.col_idx[f], met = place_of[column];
        const bool known = met < n && columns[met] == column;
        const Index place = known ? met : n;
        place_of[column] = place;
        columns[place] = column;
        sums[place] = std::fma(a, B.values[f], known ? sums[place] : 0);
        n += !known;
      }
      if (n > max_entries) return false;
    }
    return true;
  }
  /// By the number of smaller columns: no branch depends on them.
  void ascending(Index* to_columns, Real* to_values) const {
    for (Index i = 0; i < n; ++i) {
      Index smaller = 0;
      for (Index j = 0; j < n; ++j) smaller += columns[j] < columns[i];
      to_columns[smaller] = columns[i];
      to_values[smaller] = sums[i];
    }
  }
};

/// What the patterns of A and B tell of rows of C = A B.
template <class Real, class Offset>
struct Pattern {
  const CsrView<Real, Offset, Host>&A, &B;

  void insert_row(std::int64_t row, ColumnSet& columns) const {
    for (Offset e = A.row_ptr[row]; e < A.row_ptr[row + 1]; ++e) {
      const Index k = A.col_idx[e];
      const Offset end = B.row_ptr[k + std::int64_t(1)];
      for (Offset f = B.row_ptr[k]; f < end;) {  // neighbours go in together: a third faster on lattices
        const auto word = std::uint32_t(B.col_idx[f]) / word_bits;
        std::uint64_t bits = 0;
        do bits |= std::uint64_t(1) << std::uint32_t(B.col_idx[f]) % word_bits;
        while (++f < end && std::uint32_t(B.col_idx[f]) / word_bits == word);
        columns.insert(word, bits);
      }
    }
  }
  /// Terms of the sums of this row.
  std::int64_t products(std::int64_t row) const {
    std::int64_t sum = 0;
    for (Offset e = A.row_ptr[row]; e < A.row_ptr[row + 1]; ++e) {
      const Index k = A.col_idx[e];
      sum += B.row_ptr[k + std::int64_t(1)] - B.row_ptr[k];
    }
    return sum;
  }
};

/// Finds rows of C = A B for one thread.
template <class Real, class Offset>
class RowFinder {
 public:
  explicit RowFinder(const Pattern<Real, Offset>& of) : of_(of), columns_(of.B.ncols), place_of_(of.B.ncols, 0) {}

  /// The entries of a row, ascending, to places with room for as many as it has products, or columns; returns how many there are.
  Index find(std::int64_t row, std::int64_t products, Index* to_columns, Real* to_values) {
    if (products <= few_.max_products && few_.add_products(of_.A, of_.B, row, place_of_.data())) {
      few_.ascending(to_columns, to_values);
      return few_.n;
    }
    Index n = 0;
    of_.insert_row(row, columns_);
    columns_.drain([&](Index column) { to_columns[n++] = column; });
    add_products(of_.A, of_.B, row, to_columns, n, place_of_.data(), to_values);
    return n;
  }

 private:
  Pattern<Real, Offset> of_;
  ColumnSet columns_;
  Array<Index> place_of_;
  ShortRow<Real> few_;
};

}  // namespace seidel::spgemm_detail
