// The analysis behind a sweep by several threads.
#include <seidel/kernels/symgs/host/schedule.hpp>

#include <algorithm>
#include <numeric>

#include <seidel/formats/runtime/shares.hpp>

namespace seidel::symgs_detail {

namespace {

constexpr std::int64_t worth_per_part = 2048;  // rows and entries of a stage that pay for a thread's part in it
constexpr Index rows_of_block = 64;            // at least
/// Lines whose rows are swept side by side: where those of a lattice do not need each other, a slice is a row of each,
/// and the next slice the next row of each.
constexpr std::int64_t blocks_of_stretch = 8;
/// Time of a row in a sweep by wavefronts of single rows, in rows swept by one thread in tiles of neighbours.
constexpr double scattered = 2.5;
/// Several threads are taken where their estimated time is at most this part of one thread's: what the estimate leaves
/// out, their waits and shorter runs of slices, takes the rest. On two cores estimates of 0.73 to 0.91 came out as 0.94
/// to 1.9, of 0.55 to 0.64 as 0.66 to 1.2 (docs/notes/symgs-cpu.md).
constexpr double worth_sharing_out = 0.7;

/// Which rows of a matrix are coupled by it, or which blocks.
template <class Offset>
struct Pattern {
  HostSpan<const Offset> row_ptr;
  HostSpan<const Index> col_idx;

  Index nrows() const { return Index(std::max<std::int64_t>(row_ptr.size() - 1, 0)); }
  bool has(Index row, Index col) const {
    return std::binary_search(col_idx.data() + row_ptr[row], col_idx.data() + row_ptr[row + 1], col);
  }
};

/// A matrix cut into blocks of neighbouring rows, and their wavefronts.
template <class Offset>
struct Blocks {
  std::vector<Index> first_row;  // count() + 1 entries
  Array<Offset> row_ptr;         // of the pattern of blocks, if it is not the matrix's own
  Array<Index> col_idx;
  Pattern<Offset> coupled;
  Wavefronts wavefronts;           // of blocks
  std::vector<std::int64_t> work;  // before each place in wavefronts.rows

  Index count() const { return Index(first_row.size()) - 1; }
  std::int64_t work_of(std::int64_t w) const { return work[wavefronts.start[w + 1]] - work[wavefronts.start[w]]; }
  bool worth_sharing(std::int64_t w, int nparts) const { return work_of(w) >= worth_per_part * nparts; }

  void find_wavefronts(const Pattern<Offset>& of_rows) {
    wavefronts = orders_detail::wavefronts_of(coupled.row_ptr, coupled.col_idx);
    work = {0};
    for (const Index block : wavefronts.rows) {
      const Index first = first_row[block], last = first_row[block + 1];
      work.push_back(work.back() + last - first + of_rows.row_ptr[last] - of_rows.row_ptr[first]);
    }
  }
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

/// The couplings of blocks: columns ascending, each once.
template <class Offset>
void couple(const OpenMP& on, const Pattern<Offset>& rows, Blocks<Offset>& blocks) {
  std::vector<Index> block_of(rows.nrows());
  for (Index block = 0; block < blocks.count(); ++block)
    std::fill(block_of.data() + blocks.first_row[block], block_of.data() + blocks.first_row[block + 1], block);
  std::vector<std::vector<Index>> found(std::max(1, on.threads));  // by part
  blocks.row_ptr = Array<Offset>(blocks.count() + 1, 0);
  parallel_parts(on, [&](int part, int nparts) {
    const Range share = share_by_nonzeros(rows.row_ptr, part, nparts);
    const auto block_from = [&](std::int64_t row) {
      return Index(std::lower_bound(blocks.first_row.begin(), blocks.first_row.end(), row) - blocks.first_row.begin());
    };
    const Index last = std::min(block_from(share.last), blocks.count());
    std::vector<Index> last_to_have(blocks.count(), -1);
    for (Index block = block_from(share.first); block < last; ++block) {
      const std::size_t before = found[part].size();
      Index first_known = 0, last_known = 0;  // rows of the block seen last: neighbouring columns often are of one
      for (Offset k = rows.row_ptr[blocks.first_row[block]]; k < rows.row_ptr[blocks.first_row[block + 1]]; ++k) {
        const Index col = rows.col_idx[k];
        if (first_known <= col && col < last_known) continue;
        const Index other = block_of[col];
        first_known = blocks.first_row[other];
        last_known = blocks.first_row[other + 1];
        if (std::exchange(last_to_have[other], block) != block) found[part].push_back(other);
      }
      std::sort(found[part].begin() + before, found[part].end());
      blocks.row_ptr[block + 1] = Offset(found[part].size() - before);
    }
  });
  std::partial_sum(blocks.row_ptr.begin(), blocks.row_ptr.end(), blocks.row_ptr.begin());
  blocks.col_idx = Array<Index>(blocks.row_ptr[blocks.count()]);
  auto to = blocks.col_idx.begin();
  for (const auto& part : found) to = std::copy(part.begin(), part.end(), to);
  blocks.coupled = {blocks.row_ptr.span(), blocks.col_idx.span()};
}

/// Cuts where a row is not coupled to the one before it: on a lattice between its lines. Any other cut would chain two
/// blocks.
template <class Offset>
Blocks<Offset> lines_of(const OpenMP& on, const Pattern<Offset>& rows) {
  Blocks<Offset> lines;
  lines.first_row = {0};
  for (Index i = 1; i < rows.nrows(); ++i)
    if (i - lines.first_row.back() >= rows_of_block && !rows.has(i, i - 1) && !rows.has(i - 1, i))
      lines.first_row.push_back(i);
  lines.first_row.push_back(rows.nrows());
  couple(on, rows, lines);
  lines.find_wavefronts(rows);
  return lines;
}

template <class Offset>
Blocks<Offset> single_rows_of(const Pattern<Offset>& rows) {
  Blocks<Offset> found;
  found.first_row.resize(rows.nrows() + 1);
  std::iota(found.first_row.begin(), found.first_row.end(), 0);
  found.coupled = rows;
  found.find_wavefronts(rows);
  return found;
}

/// Lines, unless they wait for each other so much that single rows win in spite of their scattered places.
template <class Offset>
Blocks<Offset> best_blocks(const OpenMP& on, const Pattern<Offset>& rows) {
  Blocks<Offset> lines = lines_of(on, rows);
  if (lines.time(on.threads) < scattered * double(lines.work.back()) / on.threads) return lines;
  Blocks<Offset> single = single_rows_of(rows);
  return lines.time(on.threads) <= scattered * single.time(on.threads) ? std::move(lines) : std::move(single);
}

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
  const Blocks<Offset> blocks = best_blocks(on, pattern);
  const double slowdown = blocks.count() == nrows_ ? scattered : 1;
  if (nrows_ == 0 ||
      slowdown * blocks.time(nparts_) > worth_sharing_out * double(blocks.work.back())) {  // one thread is faster
    *this = Schedule(nrows_);
    return;
  }

  rows_ = Array<Index>(nrows_);
  stretch_.clear();
  std::vector<Index> stretch_of(blocks.count());
  std::int64_t place = 0, in_stretch = 0;  // rows; blocks
  const auto end_task = [&] {
    cut_.push_back(std::int64_t(stretch_.size()));
    in_stretch = 0;
  };
  const auto place_blocks = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t q = first; q < last; ++q) {
      const Index block = blocks.wavefronts.rows[q];
      const Index first_row = blocks.first_row[block], last_row = blocks.first_row[block + 1];
      // A line, as its first rows tell.
      const bool is_line =
          last_row - first_row > 1 && (pattern.has(first_row + 1, first_row) || pattern.has(first_row, first_row + 1));
      if (in_stretch >= blocks_of_stretch && is_line) in_stretch = 0;
      if (in_stretch++ == 0) stretch_.push_back(place);
      stretch_of[block] = Index(stretch_.size()) - 1;
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
  find_needs(on, blocks.coupled.row_ptr, blocks.coupled.col_idx, stretch_of);
}

template <class Offset>
void Schedule::find_needs(const OpenMP& on, HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx,
                          const std::vector<Index>& stretch_of) {
  const std::int64_t nstretches = std::int64_t(stretch_.size()) - 1;
  std::vector<Index> part_of(nstretches), number_of(nstretches);  // its number among those of its part
  stretches_of_part_.assign(nparts_, 0);
  for (std::int64_t s = 0; s < nstages_; ++s)
    for (int part = 0; part < nparts_; ++part)
      for (std::int64_t i = cut(s, part); i < cut(s, part + 1); ++i) {
        part_of[i] = part;
        number_of[i] = Index(stretches_of_part_[part]++);
      }
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
        fetch_max(std::atomic_ref(needed_forward_[late * std::int64_t(nparts_) + part_of_early]), number_of[early] + 1);
        fetch_max(std::atomic_ref(needed_backward_[early * std::int64_t(nparts_) + part_of_late]),
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
