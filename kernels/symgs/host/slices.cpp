// Rows gathered into slices, a tile of neighbouring places at a time.
#include <seidel/kernels/symgs/host/slices.hpp>

#include <algorithm>
#include <utility>

#include <seidel/kernels/sum.hpp>

namespace seidel::symgs_detail {

namespace {

/// Places that are reordered among themselves.
constexpr std::int64_t rows_of_tile = 4096;
/// Fewer rows are taken one by one: slices of two or three were measured, and were no faster.
constexpr std::int64_t min_height = 4;

/// Kinds of rows of a tile, by their lengths, and for each kind and step how many rows its last slice has: 0 if it is
/// full, or if there is none.
class Kinds {
 public:
  void clear() {
    for (const Index key : key_of_) kind_of_[key] = none;
    key_of_.clear();
  }
  Index count() const { return Index(key_of_.size()); }
  /// Long rows are all of one kind for a side, since no slice holds them.
  Index of(Index lower, Index upper) {
    const Index key = std::min(lower, short_sum + 1) * (short_sum + 2) + std::min(upper, short_sum + 1);
    Index& kind = kind_of_[key];
    if (kind == none) {
      kind = count();
      key_of_.push_back(key);
      rows_.resize(std::max<std::size_t>(rows_.size(), count() * rows_of_tile));
      std::fill_n(rows_.begin() + kind * rows_of_tile, rows_of_tile, 0);
    }
    return kind;
  }
  /// The first step from `least` on, below `nsteps`, where a slice of this kind has a lane free; `least` if there is
  /// none. Takes the lane.
  Index take_lane(Index kind, Index least, Index nsteps) {
    const auto rows = rows_.begin() + kind * rows_of_tile;
    auto at = std::find_if(rows + least, rows + nsteps, [](std::uint8_t n) { return n > 0; });
    if (at == rows + nsteps) at = rows + least;
    *at = std::uint8_t((*at + 1) % slice_height);
    return Index(at - rows);
  }

 private:
  static constexpr Index none = -1;
  std::vector<Index> kind_of_ = std::vector<Index>((short_sum + 2) * (short_sum + 2), none);
  std::vector<Index> key_of_;
  std::vector<std::uint8_t> rows_;
};

/// Reorders tiles, one after another.
template <class Offset>
class Slicer {
 public:
  Slicer(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx, HostSpan<const Index> place_of,
         HostSpan<Index> rows)
      : row_ptr_(row_ptr), col_idx_(col_idx), place_of_(place_of), rows_(rows) {}

  void reorder(std::int64_t first, std::int64_t last) {
    tile_.resize(last - first);
    for (std::int64_t q = 0; q < last - first; ++q) tile_[q] = {rows_[first + q]};
    if (!find_steps(first)) return;
    sort_by([](const Row& row) { return row.shape; }, rows_of_tile);
    sort_by([](const Row& row) { return row.kind; }, kinds_.count());
    sort_by([](const Row& row) { return row.step; }, nsteps_);
    first_run_ = runs.size();
    const auto begin = tile_.begin(), end = tile_.end();
    for (std::int64_t q = 0; q < last - first; ++q) rows_[first + q] = tile_[q].row;
    for (auto from = begin; from != end;) {
      auto to = from;
      while (to != end && to->like(*from)) ++to;
      const bool is_short = std::max(from->lower, from->upper) <= short_sum;
      while (from != to) {
        const std::int64_t left = to - from;
        const Index height = !is_short || left < min_height ? 1 : Index(std::min<std::int64_t>(left, slice_height));
        add_slice(Index(first + (from - begin)), *from, height);
        from += height;
      }
    }
  }

  std::vector<Run> runs;
  bool complete = true;  // no row has been met that lacks its diagonal entry

 private:
  struct Row {
    Index row, step = 0, kind = 0, shape = 0, lower = 0, upper = 0;
    bool like(const Row& other) const { return step == other.step && lower == other.lower && upper == other.upper; }
  };

  /// Rows of a step do not need each other, and those of later steps only: what a wavefront is. But a row comes later
  /// than it could where that fills a slice. Its shape is the same for rows of the same columns but for a shift.
  bool find_steps(std::int64_t first) {
    const std::uint64_t size = tile_.size();
    kinds_.clear();
    nsteps_ = 0;
    for (std::uint64_t q = 0; q < size; ++q) {
      Row& mine = tile_[q];
      const Offset begin = row_ptr_[mine.row], end = row_ptr_[mine.row + 1];
      std::uint32_t sum = 0;
      Offset k = begin;
      for (; k < end && col_idx_[k] < mine.row; ++k) {
        sum += std::uint32_t(col_idx_[k]);
        if (const std::uint64_t other = place_of_[col_idx_[k]] - first; other < q)
          mine.step = std::max(mine.step, tile_[other].step + 1);
      }
      if (k == end || col_idx_[k] != mine.row) return complete = false;
      mine.lower = Index(k - begin);
      mine.upper = Index(end - k - 1);
      mine.kind = kinds_.of(mine.lower, mine.upper);
      if (std::max(mine.lower, mine.upper) <= short_sum)
        mine.step = kinds_.take_lane(mine.kind, mine.step, std::max(nsteps_, mine.step));
      nsteps_ = std::max(nsteps_, mine.step + 1);
      for (++k; k < end; ++k) {
        sum += std::uint32_t(col_idx_[k]);
        if (const std::uint64_t other = place_of_[col_idx_[k]] - first; other < size)
          tile_[other].step = std::max(tile_[other].step, mine.step + 1);
      }
      mine.shape = Index((sum - std::uint32_t(mine.row) * std::uint32_t(mine.lower + mine.upper)) % rows_of_tile);
    }
    return true;
  }

  /// Stable.
  void sort_by(const auto& key, Index nkeys) {
    next_.assign(nkeys, 0);
    for (const Row& row : tile_) ++next_[key(row)];
    Index sum = 0;
    for (Index& next : next_) sum += std::exchange(next, sum);
    sorted_.resize(tile_.size());
    for (const Row& row : tile_) sorted_[next_[key(row)]++] = row;
    std::swap(tile_, sorted_);
  }

  /// Whether two rows of equal lengths have the same columns but for a shift.
  bool shifted(Index a, Index b) const {
    const Index* const of_a = col_idx_.data() + row_ptr_[a];
    const Index* const of_b = col_idx_.data() + row_ptr_[b];
    const std::int64_t length = row_ptr_[a + 1] - row_ptr_[a];
    Index differ = 0;
    for (std::int64_t k = 0; k < length; ++k) differ |= (of_a[k] - a) ^ (of_b[k] - b);
    return differ == 0;
  }

  void add_slice(Index first, const Row& like, Index height) {
    bool is_shifted = height > 1;
    for (Index l = 1; l < height && is_shifted; ++l) is_shifted = shifted(rows_[first], rows_[first + l]);
    if (runs.size() > first_run_) {  // not those of the tile before: it may be another task's
      Run& last = runs.back();
      if (last.height == height && last.lower == like.lower && last.upper == like.upper && last.shifted == is_shifted &&
          (!is_shifted || shifted(rows_[last.first], rows_[first]))) {
        last.last += height;
        return;
      }
    }
    runs.push_back({first, first + height, like.lower, like.upper, height, is_shifted});
  }

  HostSpan<const Offset> row_ptr_;
  HostSpan<const Index> col_idx_, place_of_;
  HostSpan<Index> rows_;
  std::vector<Row> tile_, sorted_;
  std::size_t first_run_ = 0;  // of the tile
  Kinds kinds_;
  Index nsteps_ = 0;
  std::vector<Index> next_;
};

}  // namespace

template <class Offset>
std::vector<Run> cut_into_runs(const OpenMP& on, HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx,
                               Schedule& schedule) {
  const HostSpan<Index> rows = schedule.rows();
  Array<Index> place_of(rows.size());
  parallel_for(on, rows.size(), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = first; p < last; ++p) place_of[rows[p]] = Index(p);
  });
  std::vector<Range> tiles;
  schedule.each_stretch([&](std::int64_t first, std::int64_t last) {
    for (; first < last; first += rows_of_tile) tiles.push_back({first, std::min(last, first + rows_of_tile)});
  });
  std::vector<Slicer<Offset>> slicers(std::max(1, on.threads), {row_ptr, col_idx, place_of, rows});
  const auto slice_share = [&](int part, int nparts) {
    const Range mine = even_share(std::int64_t(tiles.size()), part, nparts);
    for (std::int64_t t = mine.first; t < mine.last; ++t) slicers[part].reorder(tiles[t].first, tiles[t].last);
  };
  parallel_parts(on, slice_share);

  if (!std::all_of(slicers.begin(), slicers.end(), [](const auto& slicer) { return slicer.complete; })) return {};
  std::vector<Run> runs;
  for (const auto& slicer : slicers) runs.insert(runs.end(), slicer.runs.begin(), slicer.runs.end());
  std::int64_t lower = 0, upper = 0, lower_columns = 0, upper_columns = 0;
  for (auto run = runs.begin(); run != runs.end(); ++run) {
    run->lower_at = std::exchange(lower, lower + run->count() * run->lower);
    run->lower_columns_at = std::exchange(lower_columns, lower_columns + run->rows_with_columns() * run->lower);
  }
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    run->upper_at = std::exchange(upper, upper + run->count() * run->upper);
    run->upper_columns_at = std::exchange(upper_columns, upper_columns + run->rows_with_columns() * run->upper);
  }
  return runs;
}

template std::vector<Run> cut_into_runs(const OpenMP&, HostSpan<const std::int32_t>, HostSpan<const Index>, Schedule&);
template std::vector<Run> cut_into_runs(const OpenMP&, HostSpan<const std::int64_t>, HostSpan<const Index>, Schedule&);

}  // namespace seidel::symgs_detail
