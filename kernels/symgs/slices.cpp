// Rows gathered into slices, a tile of neighbouring places at a time.
#include <seidel/kernels/symgs/slices.hpp>

#include <algorithm>
#include <utility>

#include <seidel/kernels/sum.hpp>

namespace seidel::symgs_detail {

namespace {

/// Places that are reordered among themselves: enough to find rows that do not need each other, few enough for their
/// part of x and b to stay in the cache of one core.
constexpr std::int64_t rows_of_tile = 2048;

/// Reorders tiles, one after another.
template <class Offset>
class Slicer {
 public:
  Slicer(HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx, HostSpan<const Index> place_of,
         HostSpan<Index> rows)
      : row_ptr_(row_ptr), col_idx_(col_idx), place_of_(place_of), rows_(rows) {}

  void reorder(std::int64_t first, std::int64_t last) {
    tile_.resize(last - first);
    for (std::int64_t q = 0; q < last - first; ++q) tile_[q].row = rows_[first + q];
    find_wavefronts(first);
    sort_by([](const Row& row) { return row.upper; });
    sort_by([](const Row& row) { return row.lower; });
    sort_by([](const Row& row) { return row.wavefront; });
    first_run_ = runs.size();
    const auto begin = tile_.begin(), end = tile_.end();
    for (std::int64_t q = 0; q < last - first; ++q) rows_[first + q] = tile_[q].row;
    for (auto from = begin; from != end;) {
      auto to = from;
      while (to != end && to->like(*from)) ++to;
      const std::int64_t fit =
          std::max(from->lower, from->upper) <= short_sum ? (to - from) / slice_height * slice_height : 0;
      add_run(first + (from - begin), fit, *from, slice_height);
      add_run(first + (from - begin) + fit, to - from - fit, *from, 1);
      from = to;
    }
  }

  std::vector<Run> runs;

 private:
  struct Row {
    Index row, wavefront = 0, lower = 0, upper = 0;
    bool like(const Row& other) const {
      return wavefront == other.wavefront && lower == other.lower && upper == other.upper;
    }
  };

  /// Wavefronts of the tile alone, and lengths.
  void find_wavefronts(std::int64_t first) {
    const std::uint64_t size = tile_.size();
    for (Row& mine : tile_) mine.wavefront = 0;
    for (std::uint64_t q = 0; q < size; ++q) {
      Row& mine = tile_[q];
      const Offset begin = row_ptr_[mine.row], end = row_ptr_[mine.row + 1];
      Offset k = begin;
      for (; col_idx_[k] < mine.row; ++k)
        if (const std::uint64_t other = place_of_[col_idx_[k]] - first; other < q)
          mine.wavefront = std::max(mine.wavefront, tile_[other].wavefront + 1);
      mine.lower = Index(k - begin);
      mine.upper = Index(end - k - 1);
      for (++k; k < end; ++k)
        if (const std::uint64_t other = place_of_[col_idx_[k]] - first; other < size)
          tile_[other].wavefront = std::max(tile_[other].wavefront, mine.wavefront + 1);
    }
  }

  /// Stable; keys of rows_of_tile or more, which no slice holds, count as equal.
  template <class Key>
  void sort_by(const Key& key) {
    const auto bucket = [&](const Row& row) { return std::min<std::int64_t>(key(row), rows_of_tile - 1); };
    std::fill(next_.begin(), next_.end(), 0);
    std::int64_t largest = 0;
    for (const Row& row : tile_) ++next_[bucket(row)], largest = std::max(largest, bucket(row));
    Index sum = 0;
    for (std::int64_t i = 0; i <= largest; ++i) sum += std::exchange(next_[i], sum);
    sorted_.resize(tile_.size());
    for (const Row& row : tile_) sorted_[next_[bucket(row)]++] = row;
    std::swap(tile_, sorted_);
  }

  void add_run(std::int64_t first, std::int64_t count, const Row& like, Index height) {
    if (count == 0) return;
    if (runs.size() > first_run_) {  // not those of the tile before: it may be another task's
      auto& last = runs.back();
      if (last.height == height && last.lower == like.lower && last.upper == like.upper) {
        last.last += Index(count);
        return;
      }
    }
    runs.push_back({Index(first), Index(first + count), like.lower, like.upper, height, 0, 0});
  }

  HostSpan<const Offset> row_ptr_;
  HostSpan<const Index> col_idx_, place_of_;
  HostSpan<Index> rows_;
  std::vector<Row> tile_, sorted_;
  std::size_t first_run_ = 0;  // of the tile
  std::vector<Index> next_ = std::vector<Index>(rows_of_tile);
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
  schedule.each_task([&](std::int64_t first, std::int64_t last) {
    for (; first < last; first += rows_of_tile) tiles.push_back({first, std::min(last, first + rows_of_tile)});
  });
  std::vector<Slicer<Offset>> slicers(std::max(1, on.threads), {row_ptr, col_idx, place_of, rows});
  const auto slice_share = [&](int part, int nparts) {
    const Range mine = even_share(std::int64_t(tiles.size()), part, nparts);
    for (std::int64_t t = mine.first; t < mine.last; ++t) slicers[part].reorder(tiles[t].first, tiles[t].last);
  };
  parallel_parts(on, slice_share);

  std::vector<Run> runs;
  for (const auto& slicer : slicers) runs.insert(runs.end(), slicer.runs.begin(), slicer.runs.end());
  std::int64_t lower = 0, upper = 0;
  for (auto run = runs.begin(); run != runs.end(); lower += run->count() * run->lower, ++run) run->lower_at = lower;
  for (auto run = runs.rbegin(); run != runs.rend(); upper += run->count() * run->upper, ++run) run->upper_at = upper;
  return runs;
}

template std::vector<Run> cut_into_runs(const OpenMP&, HostSpan<const std::int32_t>, HostSpan<const Index>, Schedule&);
template std::vector<Run> cut_into_runs(const OpenMP&, HostSpan<const std::int64_t>, HostSpan<const Index>, Schedule&);

}  // namespace seidel::symgs_detail
