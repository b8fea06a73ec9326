// Scans, pointers and indices, sorted segments and their merges on the host: by one thread or several.
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/kernels/primitives/merge.hpp>
#include <seidel/kernels/primitives/scan.hpp>
#include <seidel/kernels/primitives/segments.hpp>

namespace seidel {

namespace primitives_detail {

/// In one pass by one thread, in two by several.
template <class Offset>
void exclusive_scan(const OpenMP& on, HostSpan<const std::int32_t> counts, HostSpan<Offset> offsets) {
  const std::int64_t n = counts.size();
  const int npieces = n < 2 * worth_per_thread ? 1 : on.threads;
  const auto scan_piece = [&](int piece, std::int64_t sum) {
    const Range mine = even_share(n, piece, npieces);
    for (std::int64_t i = mine.first; i < mine.last; ++i) {
      const std::int32_t count = counts[i];  // first: the offsets may be the same memory
      offsets[i] = Offset(sum);
      sum += count;
    }
  };
  if (npieces <= 1) return scan_piece(0, 0);
  std::vector<std::int64_t> before(static_cast<std::size_t>(npieces) + 1, 0);  // sums of the pieces before each
  for_each_in_turn(on, npieces - 1, [&](std::int64_t piece, int) {
    const Range mine = even_share(n, int(piece), npieces);
    std::int64_t sum = 0;
    for (std::int64_t i = mine.first; i < mine.last; ++i) sum += counts[i];
    before[std::size_t(piece) + 1] = sum;
  });
  for (int piece = 1; piece < npieces; ++piece) before[std::size_t(piece)] += before[std::size_t(piece) - 1];
  for_each_in_turn(on, npieces, [&](std::int64_t piece, int) { scan_piece(int(piece), before[std::size_t(piece)]); });
}

template void exclusive_scan(const OpenMP&, HostSpan<const std::int32_t>, HostSpan<std::int32_t>);
template void exclusive_scan(const OpenMP&, HostSpan<const std::int32_t>, HostSpan<std::int64_t>);

void sort_segments(const OpenMP& on, std::int64_t length, KeyedNumbers<Host> pairs) {
  const std::int64_t nsegments = (pairs.size() + length - 1) / length;
  for_shares(on, nsegments, length, [&](std::int64_t first, std::int64_t last, int) {
    std::pair<Index, Index> segment[max_sorted_segment];
    for (std::int64_t s = first; s < last; ++s) {
      const std::int64_t begin = s * length, size = std::min(length, pairs.size() - begin);
      // By key and place: what a sort that is not stable makes of them is stable.
      Index numbers[max_sorted_segment];
      for (std::int64_t i = 0; i < size; ++i) segment[i] = {pairs.keys[begin + i], Index(i)};
      std::copy_n(pairs.numbers.data() + begin, size, numbers);
      std::sort(segment, segment + size);
      for (std::int64_t i = 0; i < size; ++i) {
        pairs.keys[begin + i] = segment[i].first;
        pairs.numbers[begin + i] = numbers[segment[i].second];
      }
    }
  });
}

namespace {

/// Merges left and right parts of two segments.
void merge_parts(const KeyedNumbers<Host>& from, Range left, Range right, const KeyedNumbers<Host>& to,
                 std::int64_t at) {
  std::int64_t l = left.first, r = right.first;
  for (; l < left.last && r < right.last; ++at) {
    const bool take_left = from.keys[l] <= from.keys[r];
    const std::int64_t k = take_left ? l : r;
    to.keys[at] = from.keys[k], to.numbers[at] = from.numbers[k];
    l += take_left, r += !take_left;
  }
  for (const Range rest : {Range{l, left.last}, Range{r, right.last}}) {
    std::copy(from.keys.begin() + rest.first, from.keys.begin() + rest.last, to.keys.begin() + at);
    std::copy(from.numbers.begin() + rest.first, from.numbers.begin() + rest.last, to.numbers.begin() + at);
    at += rest.last - rest.first;
  }
}

}  // namespace

/// Parts of a merge are the work of a thread: a tile of the result by path, or what lies between two splitters. On a
/// host splitters stand as far apart as tiles do.
void merge_segments(const OpenMP& on, MergeBy by, std::int64_t length, KeyedNumbers<Host> from, KeyedNumbers<Host> to) {
  constexpr std::int64_t tile = 1 << 15;
  const std::int64_t n = from.size(), npairs = (n + 2 * length - 1) / (2 * length);
  const std::int64_t parts =
      by == MergeBy::path ? (std::min(2 * length, n) + tile - 1) / tile : 2 * ((std::min(length, n) + tile - 1) / tile);
  for_each_in_turn(OpenMP{n < 2 * worth_per_thread ? 1 : on.threads}, npairs * parts, [&](std::int64_t task, int) {
    const std::int64_t begin = task / parts * 2 * length, middle = std::min(begin + length, n),
                       end = std::min(begin + 2 * length, n);
    const Segments both{from.keys.data() + begin, middle - begin, from.keys.data() + middle, end - middle};
    const auto cut = [&](std::int64_t part) {
      return by == MergeBy::path ? cut_on_path(both, std::min(part * tile, end - begin))
                                 : cut_at_splitter(both, tile, part);
    };
    const Cut first = cut(task % parts), last = cut(task % parts + 1);
    merge_parts(from, {begin + first.left, begin + last.left}, {middle + first.right, middle + last.right}, to,
                begin + first.left + first.right);
  });
}

}  // namespace primitives_detail

void pointers_to_indices(const OpenMP& on, HostSpan<const std::int32_t> pointers, HostSpan<Index> indices) {
  for_shares(on, indices.size(), 1, [&](std::int64_t first, std::int64_t last, int) {
    if (first >= last) return;
    std::int64_t i = std::upper_bound(pointers.begin(), pointers.end(), std::int32_t(first)) - pointers.begin() - 1;
    for (std::int64_t k = first; k < last; ++i)
      for (const std::int64_t end = std::min<std::int64_t>(last, pointers[i + 1]); k < end; ++k) indices[k] = Index(i);
  });
}

void indices_to_pointers(const OpenMP& on, HostSpan<const Index> indices, HostSpan<std::int32_t> pointers) {
  const std::int64_t n = pointers.size() - 1, size = indices.size();
  const int nparts = size < 2 * worth_per_thread ? 1 : on.threads;
  Scratch<OpenMP> scratch(on);
  const auto counts = scratch.take<std::int32_t>(nparts * (n + 1));
  for_each_in_turn(on, nparts, [&](std::int64_t part, int) {
    std::int32_t* const mine = counts.data() + part * (n + 1);
    std::fill(mine, mine + n + 1, 0);
    const Range range = even_share(size, int(part), nparts);
    for (std::int64_t k = range.first; k < range.last; ++k) ++mine[indices[k]];
  });
  for_each_index(on, n + 1, nparts, [&](std::int64_t i) {
    std::int32_t sum = 0;
    for (int part = 0; part < nparts; ++part) sum += counts[part * (n + 1) + i];
    pointers[i] = sum;
  });
  exclusive_scan(on, HostSpan<const std::int32_t>(pointers), pointers);
}

}  // namespace seidel
