// Transposition on the host by kinds of rows, for lattices: rows of one kind have the same columns, counted from the
// diagonal. One pass copies the pattern, which is that of A', and finds the kinds; they tell where each image stands, so
// that a second pass fetches the values without reading a column.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include <seidel/formats/convert/group.hpp>

namespace seidel::convert_detail {

/// A matrix without its values: what does not look at them is compiled once for all types of values.
template <class Offset>
using Structure = CsrView<std::byte, Offset, Host>;

template <class Real, class Offset>
Structure<Offset> structure_of(const CsrView<Real, Offset, Host>& A) {
  return {A.nrows, A.ncols, A.row_ptr, A.col_idx, {}};
}

/// The kinds that have been met, each told by its first row. Threads look kinds up at once.
template <class Offset>
class RowKinds {
 public:
  static constexpr int max_count = 255, max_length = 64;
  static constexpr int max_run = 64;  // rows: short, so that what is compared is copied from a first cache

  /// What is kept of a row: its kind, and how many rows from it on are of that kind, itself included, as far as is known.
  struct Run {
    std::uint8_t kind, rows;
  };

  explicit RowKinds(const Structure<Offset>& A) : A_(A), runs_(A.nrows) {}

  /// Finds the kinds of `rows` and copies their pattern, unless there are too many kinds.
  void find(Range rows, Offset* row_ptr, Index* col_idx) {
    std::array<std::uint8_t, max_count> next{};  // the kind that followed a kind the last time
    int kind = 0;
    for (std::int64_t r = rows.first; r < rows.last && is_fit();) {
      const int likely = next[kind];
      const int found =
          likely < count_.load(std::memory_order_acquire) && are_alike(r, first_[likely]) ? likely : number_of(r);
      if (found == max_count) return;
      kind = next[kind] = std::uint8_t(found);
      const std::int64_t end = end_of_run(r, std::min(r + max_run, rows.last), col_idx);
      for (std::int64_t row = r; row < end; ++row) {
        runs_[row] = {std::uint8_t(kind), std::uint8_t(end - row)};
        row_ptr[row] = A_.row_ptr[row];
      }
      r = end;
    }
  }
  /// Not if there were too many kinds, or rows too long.
  bool is_fit() const { return is_fit_.load(std::memory_order_relaxed); }
  int count() const { return count_; }
  /// The first row met of a kind.
  std::int64_t row(int kind) const { return first_[kind]; }
  const Run* runs() const { return runs_.data(); }
  std::int64_t bytes() const { return runs_.size() * std::int64_t(sizeof(Run)); }

 private:
  bool are_alike(std::int64_t r, std::int64_t s) const {
    const Offset begin = A_.row_ptr[r], length = A_.row_ptr[r + 1] - begin;
    if (A_.row_ptr[s + 1] - A_.row_ptr[s] != length) return false;
    const Index *a = A_.col_idx.data() + begin, *b = A_.col_idx.data() + A_.row_ptr[s];
    const auto apart = Index(r - s);
    Index differ = 0;
    for (Offset k = 0; k < length; ++k) differ |= (a[k] - b[k]) ^ apart;
    return differ == 0;
  }
  /// The first row after r whose columns are not those of the row before plus one, at most `last`. Copies the columns of
  /// rows r ... and some of those after them.
  std::int64_t end_of_run(std::int64_t r, std::int64_t last, Index* to) const {
    constexpr std::int64_t compared_together = 64;
    const Offset* const ptr = A_.row_ptr.data();
    const Index* const columns = A_.col_idx.data();
    const std::int64_t begin = ptr[r], length = ptr[r + 1] - begin;
    std::int64_t end = r + 1;
    while (end < last && ptr[end + 1] - ptr[end] == length) ++end;
    for (std::int64_t k = begin; k < begin + length; ++k) to[k] = columns[k];
    for (std::int64_t k = begin + length; k < ptr[end]; k += compared_together) {
      Index differ = 0;
      for (std::int64_t i = k, some = std::min<std::int64_t>(k + compared_together, ptr[end]); i < some; ++i) {
        differ |= (columns[i] - columns[i - length]) ^ 1;
        to[i] = columns[i];
      }
      if (differ == 0) continue;
      while (columns[k] - columns[k - length] == 1) ++k;
      return r + (k - begin) / length;
    }
    return end;
  }
  /// The kind of row r among those met, or a new one; max_count if that cannot be. Where it is searched for too often, rows
  /// are not alike enough.
  [[gnu::noinline]] int number_of(std::int64_t r) {
    const std::lock_guard lock(mutex_);
    const int n = count_;
    int kind = 0;
    while (kind < n && !are_alike(r, first_[kind])) ++kind;
    compared_ += kind;
    if (kind == max_count || A_.row_ptr[r + 1] - A_.row_ptr[r] > max_length || compared_ > max_compared + A_.nrows) {
      is_fit_ = false;
      return max_count;
    }
    if (kind == n) {
      first_[n] = r;
      count_.store(n + 1, std::memory_order_release);
    }
    return kind;
  }

  static constexpr std::int64_t max_compared = max_count * max_count;  // and one per row
  const Structure<Offset> A_;
  Array<Run> runs_;
  std::array<std::int64_t, max_count> first_{};
  std::atomic<int> count_ = 0;
  std::atomic<bool> is_fit_ = true;
  std::int64_t compared_ = 0;
  std::mutex mutex_;
};

/// Where the entries of rows of each kind are mirrored.
class Images {
 public:
  struct Image {
    Index offset;               // column - row
    const std::uint8_t* place;  // by the kind of the row that has the image: which entry of its row that is, or none
  };
  static constexpr std::uint8_t none = 255;

  template <class Offset>
  Images(const Structure<Offset>& A, const RowKinds<Offset>& kinds) : first_(std::size_t(kinds.count())) {
    const auto each_entry = [&](const auto& visit) {
      for (int kind = 0; kind < kinds.count(); ++kind) {
        const std::int64_t row = kinds.row(kind), begin = A.row_ptr[row], end = A.row_ptr[row + 1];
        for (std::int64_t k = begin; k < end; ++k) visit(kind, Index(A.col_idx[k] - row), k - begin);
      }
    };
    std::vector<Index> offsets;
    bool ascend = true;
    each_entry([&](int, Index offset, std::int64_t place) {
      ascend = ascend && (place == 0 || offsets.back() < offset);
      offsets.push_back(offset);
    });
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    if (!ascend || std::ssize(offsets) > max_offsets) return;
    constexpr std::size_t max_count = RowKinds<Offset>::max_count;
    place_.assign(offsets.size() * max_count, none);
    const auto places_of = [&](Index offset) -> std::uint8_t* {
      const auto at = std::lower_bound(offsets.begin(), offsets.end(), offset);
      return at == offsets.end() || *at != offset ? nullptr : &place_[std::size_t(at - offsets.begin()) * max_count];
    };
    is_fit_ = true;
    each_entry([&](int kind, Index offset, std::int64_t place) {
      places_of(offset)[kind] = std::uint8_t(place);
      if (place == 0) first_[std::size_t(kind)] = images_.size();
      images_.push_back({offset, places_of(-offset)});
      is_fit_ = is_fit_ && images_.back().place;
    });
  }

  /// Not if the columns of a kind do not ascend, an offset has no opposite, or there are too many.
  bool is_fit() const { return is_fit_; }
  const Image* of(int kind) const { return images_.data() + first_[std::size_t(kind)]; }
  std::int64_t bytes() const { return std::int64_t(images_.size() * sizeof(Image) + place_.size()); }

 private:
  static constexpr std::int64_t max_offsets = 256;
  std::vector<std::size_t> first_;
  std::vector<Image> images_;
  std::vector<std::uint8_t> place_;
  bool is_fit_ = false;
};

/// The values of `rows` of A', or false if an entry has no image. As long as all images lie in rows of the length of
/// their own and in one run each, those of the next row come one row later.
///
/// Of the lines that are read, those that the last entry leads to are new. They and those that are written to are asked
/// for, in time and no others: it slowed lattices down by half where all images were asked for.
template <class Real, class Offset>
bool fetch_images(const CsrView<Real, Offset, Host>& A, const RowKinds<Offset>& kinds, const Images& images, Range rows,
                  const Grouped<Real, Offset>& to) {
  constexpr std::int64_t in_line = 64 / sizeof(Real), ahead = 64 * in_line;
  const auto* const runs = kinds.runs();
  const Offset* const ptr = A.row_ptr.data();
  const Real* const values = A.values.data();
  for (std::int64_t r = rows.first; r < rows.last;) {
    const auto* const image = images.of(runs[r].kind);
    const std::int64_t begin = ptr[r], length = ptr[r + 1] - begin;
    Offset at[RowKinds<Offset>::max_length];
    int steady = runs[r].rows;
    unsigned largest = 0;
    for (std::int64_t j = 0; j < length; ++j) {
      const std::int64_t c = r + image[j].offset;
      const unsigned place = image[j].place[runs[c].kind];
      largest = std::max(largest, place);
      at[j] = Offset(ptr[c] + place);
      steady = std::min<int>(steady, ptr[c + 1] - ptr[c] == length ? runs[c].rows : 1);
    }
    if (largest == Images::none) return false;
    r += steady;
    if (!values) continue;
    const Real* from = values;
    Real* images_of_row = to.values + begin;
    for (int i = 0; i < steady; ++i, from += length, images_of_row += length) {
      for (std::int64_t j = 0; j < length; j += in_line) {
        __builtin_prefetch(from + at[length - 1] + ahead + j);
        __builtin_prefetch(images_of_row + ahead + j, 1);
      }
      for (std::int64_t j = 0; j < length; ++j) images_of_row[j] = from[at[j]];
    }
  }
  return true;
}

/// A' where the pattern of A is symmetric and its rows are of few kinds. None, with anything in the result, where they
/// are not; else the bytes taken besides.
template <class Real, class Offset>
std::optional<std::int64_t> mirror_by_kinds(const OpenMP& on, const CsrView<Real, Offset, Host>& A,
                                            const Grouped<Real, Offset>& to) {
  RowKinds<Offset> kinds(structure_of(A));
  const auto for_shares_of_rows = [&](const auto& body) {
    for_row_shares(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) {
      with_avx2([&] { body(Range{first, last}); });
    });
  };
  for_shares_of_rows([&](Range rows) { kinds.find(rows, to.ptr, to.others); });
  if (!kinds.is_fit()) return std::nullopt;
  to.ptr[A.nrows] = A.row_ptr[A.nrows];
  const Images images(structure_of(A), kinds);
  if (!images.is_fit()) return std::nullopt;
  std::atomic<bool> all = true;
  for_shares_of_rows([&](Range rows) {
    if (!fetch_images(A, kinds, images, rows, to)) all = false;
  });
  return all ? std::optional(kinds.bytes() + images.bytes()) : std::nullopt;
}

}  // namespace seidel::convert_detail
