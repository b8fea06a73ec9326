// The other triangle of a symmetric matrix, made in place by any number of threads.
#include <algorithm>
#include <vector>

#include <seidel/formats/matrix_market/passes.hpp>

namespace seidel::mm {

namespace {

/// A triangle whose rows are stored consecutively, columns ascending, while it becomes the whole matrix.
class Mirror {
 public:
  Mirror(const OpenMP& on, const Header& header, Order order, Csr<double, std::int64_t>& A)
      : on_(on),
        upper_(order == Order::triangle_by_columns),
        skew_(header.symmetry == Symmetry::skew_symmetric),
        A_(A),
        row_ptr_(A.row_ptr.data()),
        col_idx_(A.col_idx.data()),
        values_(A.values.data()),
        images_(A.nrows) {}

  /// Number of entries of the whole matrix.
  std::int64_t make() {
    make_blocks();
    count_images();
    widen();
    place_images();
    return row_ptr_[A_.nrows];
  }

 private:
  /// Row r will hold its images, then its own entries; for a lower triangle in the other order.
  std::int64_t own_start(Index row) const { return row_ptr_[row] + (upper_ ? images_[row] : 0); }
  std::int64_t own_size(Index row) const { return row_ptr_[row + 1] - row_ptr_[row] - images_[row]; }
  std::int64_t images_start(Index row) const { return upper_ ? row_ptr_[row] : row_ptr_[row + 1] - images_[row]; }

  /// Calls take(row, k) for each off-diagonal entry k = (row, col) whose image is in the rows `mine`, row by row. Within a
  /// row, whose entries are given by span(), these are consecutive; for most blocks they are all entries, or none.
  void each_image(const Range& mine, const auto& span, const auto& take) const {
    const Index low = Index(mine.first), high = Index(mine.last);
    for (int b = 0; b < blocks; ++b) {
      if (reach_[b].last <= low || reach_[b].first >= high) continue;
      for (Index row = block_row_[b]; row < block_row_[b + 1]; ++row) {
        const auto [first, size] = span(row);
        const Index *col = col_idx_ + first, *end = col + size;
        if (size == 0 || end[-1] < low || *col >= high) continue;
        if (*col < low) col = std::lower_bound(col, end, low);
        for (; col < end && *col < high; ++col)
          if (*col != row) take(row, col - col_idx_);
      }
    }
  }

  /// Blocks of rows, and the range of columns of each block.
  void make_blocks() {
    for (int b = 0; b <= blocks; ++b) {
      block_row_[b] = b < blocks ? Index(share_by_nonzeros(starts(), b, blocks).first) : A_.nrows;
      block_start_[b] = row_ptr_[block_row_[b]];
    }
    parallel_parts(on_, [&](int part, int nparts) {
      for (int b = part; b < blocks; b += nparts) {
        Range reach = {A_.nrows, 0};
        for (Index row = block_row_[b]; row < block_row_[b + 1]; ++row)
          if (row_ptr_[row] < row_ptr_[row + 1])
            reach = {std::min<std::int64_t>(reach.first, col_idx_[row_ptr_[row]]),
                     std::max<std::int64_t>(reach.last, col_idx_[row_ptr_[row + 1] - 1] + std::int64_t(1))};
        reach_[b] = reach;
      }
    });
  }

  /// Each thread counts for its own rows; then row_ptr says where the rows finally begin.
  void count_images() {
    std::vector<std::int64_t> sums(std::size_t(on_.threads) + 1, 0);
    int parts = 1;
    parallel_parts(on_, [&](int part, int nparts) {
      const Range mine = even_share(A_.nrows, part, nparts);
      std::fill(images_.begin() + mine.first, images_.begin() + mine.last, 0);
      each_image(
          mine, [&](Index row) { return std::pair(row_ptr_[row], row_ptr_[row + 1] - row_ptr_[row]); },
          [&](Index, std::int64_t k) {
            ++images_[col_idx_[k]];
            ++sums[std::size_t(part) + 1];
          });
      if (part == 0) parts = nparts;
    });
    for (int part = 0; part < parts; ++part) sums[std::size_t(part) + 1] += sums[std::size_t(part)];
    parallel_parts(OpenMP{parts}, [&](int p, int nparts) {
      for (int part = p; part < parts; part += nparts) {
        const Range mine = even_share(A_.nrows, part, parts);
        std::int64_t before = sums[std::size_t(part)];
        for (std::int64_t row = mine.first; row < mine.last; ++row) {
          row_ptr_[row] += before;
          before += images_[row];
        }
      }
    });
    row_ptr_[A_.nrows] += sums[std::size_t(parts)];
  }

  /// Moves the rows apart, from the last to the first. Rows whose new places lie behind all old ones can move at the same
  /// time: usually the second half of the matrix, then half of the rest, and so on.
  void widen() {
    for (int last = blocks; last > 0;) {
      int first = last - 1;
      while (first > 0 && block_row_[first - 1] < A_.nrows && own_start(block_row_[first - 1]) >= block_start_[last])
        --first;
      const int count = last - first;
      parallel_parts(OpenMP{count == 1 ? 1 : on_.threads}, [&](int part, int nparts) {
        const Range mine = even_share(count, part, nparts);
        for (std::int64_t b = mine.last; b-- > mine.first;) move(first + int(b));
      });
      last = first;
    }
  }
  void move(int block) {
    const bool negate = upper_ && skew_;  // the file has the image
    std::int64_t from = block_start_[block + 1];
    for (Index row = block_row_[block + 1]; row-- > block_row_[block];) {
      const std::int64_t size = own_size(row), to = own_start(row);
      from -= size;
      for (std::int64_t k = size; k-- > 0;) {
        col_idx_[to + k] = col_idx_[from + k];
        values_[to + k] = negate ? -values_[from + k] : values_[from + k];
      }
    }
  }

  /// Each thread fills its own rows and visits the triangle in order, so that their columns ascend. The number of
  /// images that a row has so far is stored at the place of its last one.
  void place_images() {
    parallel_parts(on_, [&](int part, int nparts) {
      const Range mine = share_by_nonzeros(starts(), part, nparts);
      for (Index row = Index(mine.first); row < mine.last; ++row)
        if (images_[row] > 0) col_idx_[images_start(row) + images_[row] - 1] = 0;
      each_image(
          mine, [&](Index row) { return std::pair(own_start(row), own_size(row)); },
          [&](Index row, std::int64_t k) {
            const Index to = col_idx_[k];
            const std::int64_t start = images_start(to);
            const std::int64_t at = start + col_idx_[start + images_[to] - 1]++;
            col_idx_[at] = row;
            values_[at] = skew_ ? -values_[k] : values_[k];
          });
    });
  }

  HostSpan<const std::int64_t> starts() const { return A_.row_ptr; }

  static constexpr int blocks = 512;  // of rows that move together
  const OpenMP on_;
  const bool upper_, skew_;
  Csr<double, std::int64_t>& A_;
  std::int64_t* const row_ptr_;
  Index* const col_idx_;
  double* const values_;
  Array<Index> images_;  // number of images per row
  Index block_row_[blocks + 1];
  Range reach_[blocks];
  std::int64_t block_start_[blocks + 1];
};

}  // namespace

void mirror(const OpenMP& on, const Header& header, Order order, Csr<double, std::int64_t>& A) {
  const bool small = header.entries + A.nrows < 2 * worth_per_thread;
  const std::int64_t nnz = Mirror(small ? OpenMP{1} : on, header, order, A).make();
  A.col_idx.truncate(nnz);
  A.values.truncate(nnz);
}

}  // namespace seidel::mm
