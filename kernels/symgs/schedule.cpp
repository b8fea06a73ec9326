// The analysis behind a sweep by several threads.
#include <seidel/kernels/symgs/schedule.hpp>

#include <algorithm>
#include <numeric>

namespace seidel::symgs_detail {

namespace {

constexpr std::int64_t worth_a_part = 2048;  // rows and entries of a stage that pay for a thread's part in it
constexpr Index rows_of_block = 64;          // at least
/// Lines whose rows are swept side by side: where those of a lattice do not need each other, a slice is a row of each,
/// and the next slice the next row of each.
constexpr std::int64_t blocks_of_stretch = 8;
/// Time of a row in a sweep by wavefronts of single rows, in rows swept by one thread in tiles of neighbours.
constexpr double scattered = 2.5;

/// value = max(value, least), while others do the same.
void raise(Index& value, Index least) {
  const std::atomic_ref<Index> shared(value);
  Index known = shared.load(std::memory_order_relaxed);
  while (known < least && !shared.compare_exchange_weak(known, least, std::memory_order_relaxed)) {}
}

/// A matrix cut into blocks of neighbouring rows, and their wavefronts.
struct Blocks {
  std::vector<Index> first_row;  // count() + 1 entries
  std::vector<Index> of_row;
  Wavefronts wavefronts;           // of blocks
  std::vector<std::int64_t> work;  // before each place in wavefronts.rows

  Index count() const { return Index(first_row.size()) - 1; }
  std::int64_t work_of(std::int64_t w) const { return work[wavefronts.start[w + 1]] - work[wavefronts.start[w]]; }
  bool worth_sharing(std::int64_t w, int nparts) const { return work_of(w) >= worth_a_part * nparts; }

  /// Time of a sweep by `nparts` threads, in units of `work`.
  double time(int nparts) const {
    double sum = 0;
    for (std::int64_t w = 0; w < wavefronts.count(); ++w) {
      std::int64_t largest = 0;
      for (std::int64_t q = wavefronts.start[w]; q < wavefronts.start[w + 1]; ++q)
        largest = std::max(largest, work[q + 1] - work[q]);
      sum += worth_sharing(w, nparts) ? std::max(double(largest), double(work_of(w)) / nparts) : double(work_of(w));
    }
    return sum;
  }
};

template <class Offset>
struct Pattern {
  HostSpan<const Offset> row_ptr;
  HostSpan<const Index> col_idx;

  Index nrows() const { return Index(std::max<std::int64_t>(row_ptr.size() - 1, 0)); }
  bool has(Index row, Index col) const {
    return std::binary_search(col_idx.data() + row_ptr[row], col_idx.data() + row_ptr[row + 1], col);
  }

  /// Whether a block is a line, each row coupled to the next, as its first rows tell.
  bool is_line(Index first, Index last) const {
    return last - first > 1 && (has(first + 1, first) || has(first, first + 1));
  }

  /// Cuts where a row is not coupled to the one before it: on a lattice between its lines. Any other cut would chain
  /// two blocks.
  Blocks lines() const {
    std::vector<Index> first_row{0};
    for (Index i = 1; i < nrows(); ++i)
      if (i - first_row.back() >= rows_of_block && !has(i, i - 1) && !has(i - 1, i)) first_row.push_back(i);
    first_row.push_back(nrows());
    return with_wavefronts(std::move(first_row));
  }
  Blocks single_rows() const {
    std::vector<Index> first_row(nrows() + 1);
    std::iota(first_row.begin(), first_row.end(), 0);
    return with_wavefronts(std::move(first_row));
  }

  Blocks with_wavefronts(std::vector<Index> first_row) const {
    Blocks found{std::move(first_row), std::vector<Index>(nrows()), {}, {0}};
    for (Index block = 0; block < found.count(); ++block)
      std::fill(found.of_row.data() + found.first_row[block], found.of_row.data() + found.first_row[block + 1], block);
    Array<Index> level(found.count(), 0);
    Index nlevels = 0;
    for (Index block = 0; block < found.count(); ++block) {
      const Index first = found.first_row[block], last = found.first_row[block + 1];
      Index mine = level[block];  // what blocks before have pushed here: that is A'
      for (Index i = first; i < last; ++i)
        for (Offset k = row_ptr[i]; k < row_ptr[i + 1] && col_idx[k] < first; ++k)
          mine = std::max(mine, level[found.of_row[col_idx[k]]] + 1);
      level[block] = mine;
      nlevels = std::max(nlevels, mine + 1);
      for (Index i = first; i < last; ++i)
        for (Offset k = row_ptr[i + 1]; k > row_ptr[i] && col_idx[k - 1] >= last; --k) {
          Index& later = level[found.of_row[col_idx[k - 1]]];
          later = std::max(later, mine + 1);
        }
    }
    found.wavefronts = gathered(level, nlevels);
    for (const Index block : found.wavefronts.rows) {
      const Index first = found.first_row[block], last = found.first_row[block + 1];
      found.work.push_back(found.work.back() + last - first + row_ptr[last] - row_ptr[first]);
    }
    return found;
  }

  /// Lines, unless they wait for each other so much that single rows win in spite of their scattered places.
  Blocks best_blocks(int nparts) const {
    Blocks lines = this->lines();
    if (lines.time(nparts) < scattered * double(lines.work.back()) / nparts) return lines;
    Blocks rows = single_rows();
    return lines.time(nparts) <= scattered * rows.time(nparts) ? std::move(lines) : std::move(rows);
  }
};

}  // namespace

Schedule::Schedule(std::int64_t nrows) : nrows_(nrows), rows_(nrows), stretch_{0, nrows} {
  std::iota(rows_.begin(), rows_.end(), 0);
}

template <class Offset>
Schedule::Schedule(const OpenMP& on, HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx)
    : nrows_(std::max<std::int64_t>(row_ptr.size() - 1, 0)),
      nparts_(on.threads),
      progress_(on.threads),
      seen_(on.threads) {
  for (auto& seen : seen_) seen.assign(nparts_, 0);
  const Pattern<Offset> pattern{row_ptr, col_idx};
  const Blocks blocks = pattern.best_blocks(nparts_);
  const double slowdown = blocks.count() == nrows_ ? scattered : 1;
  if (nrows_ == 0 || slowdown * blocks.time(nparts_) >= double(blocks.work.back())) {  // one thread is faster
    *this = Schedule(nrows_);
    return;
  }

  rows_ = Array<Index>(nrows_);
  stretch_.clear();
  std::int64_t place = 0, in_stretch = 0;  // rows; blocks
  const auto end_task = [&] {
    cut_.push_back(std::int64_t(stretch_.size()));
    in_stretch = 0;
  };
  const auto place_blocks = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t q = first; q < last; ++q) {
      const Index block = blocks.wavefronts.rows[q];
      const Index first_row = blocks.first_row[block], last_row = blocks.first_row[block + 1];
      if (in_stretch >= blocks_of_stretch && pattern.is_line(first_row, last_row)) in_stretch = 0;
      if (in_stretch++ == 0) stretch_.push_back(place);
      for (Index row = first_row; row < last_row; ++row) rows_[place++] = row;
    }
  };
  bool last_shared = true;
  for (std::int64_t w = 0; w < blocks.wavefronts.count(); ++w) {
    const std::int64_t first = blocks.wavefronts.start[w], last = blocks.wavefronts.start[w + 1];
    const bool shared = blocks.worth_sharing(w, nparts_);
    if (!shared && !last_shared) {  // goes on with the stage of the wavefront before, all of it part 0
      place_blocks(first, last);
      std::fill(cut_.end() - nparts_, cut_.end(), stretch_.size());
      continue;
    }
    last_shared = shared;
    ++nstages_;
    end_task();
    std::int64_t from = first;
    for (int part = 1; part <= nparts_; ++part) {
      const std::int64_t target = blocks.work[first] + even_share(blocks.work_of(w), part, nparts_).first;
      const std::int64_t to =
          shared && part < nparts_
              ? std::lower_bound(&blocks.work[from], &blocks.work[last], target) - blocks.work.data()
              : last;
      place_blocks(from, to);
      end_task();
      from = to;
    }
  }
  stretch_.push_back(place);
  find_needs(on, row_ptr, col_idx);
}

template <class Offset>
void Schedule::find_needs(const OpenMP& on, HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx) {
  const std::int64_t nstretches = std::int64_t(stretch_.size()) - 1;
  std::vector<Index> part_of(nstretches), number_of(nstretches);  // its number among those of its part
  stretches_of_part_.assign(nparts_, 0);
  for (std::int64_t s = 0; s < nstages_; ++s)
    for (int part = 0; part < nparts_; ++part)
      for (std::int64_t i = cut(s, part); i < cut(s, part + 1); ++i) {
        part_of[i] = part;
        number_of[i] = Index(stretches_of_part_[part]++);
      }
  Array<Index> stretch_of(nrows_);  // by row
  parallel_parts(on, [&](int mine, int nmine) {
    const Range share = even_share(nstretches, mine, nmine);
    for (std::int64_t i = share.first; i < share.last; ++i)
      for (std::int64_t p = stretch_[i]; p < stretch_[i + 1]; ++p) stretch_of[rows_[p]] = Index(i);
  });
  needed_forward_ = Array<Index>(nstretches * nparts_, 0);
  needed_backward_ = Array<Index>(nstretches * nparts_, 0);
  parallel_for_rows(on, row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        // The later row waits for the earlier one: to read it, or not to overwrite what it reads. Backward the other
        // way round.
        const auto [early, late] = std::minmax(stretch_of[i], stretch_of[col_idx[k]]);
        const int part_of_early = part_of[early], part_of_late = part_of[late];
        if (part_of_early == part_of_late) continue;
        raise(needed_forward_[late * std::int64_t(nparts_) + part_of_early], number_of[early] + 1);
        raise(needed_backward_[early * std::int64_t(nparts_) + part_of_late],
              Index(stretches_of_part_[part_of_late] - number_of[late]));
      }
  });
}

std::int64_t Schedule::bytes() const {
  return std::int64_t((cut_.size() + stretch_.size() + stretches_of_part_.size()) * sizeof(std::int64_t)) +
         (rows_.size() + needed_forward_.size() + needed_backward_.size()) * std::int64_t(sizeof(Index));
}

template Schedule::Schedule(const OpenMP&, HostSpan<const std::int32_t>, HostSpan<const Index>);
template Schedule::Schedule(const OpenMP&, HostSpan<const std::int64_t>, HostSpan<const Index>);

}  // namespace seidel::symgs_detail
