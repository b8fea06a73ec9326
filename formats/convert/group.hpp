// The one counting sort behind all conversions: entries grouped by key (their row, or their column), in order of
// appearance.
#pragma once
#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <seidel/formats/convert/buckets.hpp>
#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/shares.hpp>

namespace seidel::convert_detail {

/// Entries given one by one: triplets.
template <class Real>
struct Triplets {
  const Index *keys, *others;
  const Real* values;  // or none: the structure alone is wanted
  std::int64_t n;
  Index nothers;  // others are less

  static constexpr int at_once = 0;
  std::int64_t row_of(std::int64_t) const { return 0; }
  const Index* others_of(std::int64_t& /*row*/, Range some, Index* /*room*/) const { return others + some.first; }
};

/// The entries of a CSR matrix, keyed by column.
template <class Real, class Offset>
struct ByColumn {
  explicit ByColumn(const CsrView<Real, Offset, Host>& A)
      : keys(A.col_idx.data()), values(A.values.data()), n(A.col_idx.size()), nothers(A.nrows), row_ptr(A.row_ptr) {}

  const Index* keys;
  const Real* values;
  std::int64_t n;
  Index nothers;
  HostSpan<const Offset> row_ptr;

  static constexpr int at_once = 32;  // others_of() writes at most so many beyond
  /// The row of entry k, so that a long row can be shared out too.
  std::int64_t row_of(std::int64_t k) const {
    return std::upper_bound(row_ptr.begin(), row_ptr.end(), Offset(k)) - row_ptr.begin() - 1;
  }
  /// The rows of some entries. `row` is row_of(some.first) before, row_of(some.last) after. Each row is written
  /// at_once times, and the next one over it: where a row ends no processor foresees.
  const Index* others_of(std::int64_t& row, Range some, Index* room) const {
    for (std::int64_t k = some.first; k < some.last; ++row) {
      const std::int64_t end = std::min<std::int64_t>(some.last, row_ptr[row + 1]);
      for (Index* to = room + (k - some.first); k < end; k += at_once, to += at_once)
        for (int i = 0; i < at_once; ++i) to[i] = Index(row);
      k = end;
      if (k < row_ptr[row + 1]) break;  // the row goes on
    }
    return room;
  }
};

/// Calls visit(first, others, n) for entries first ... first + n - 1 of `mine`, taken_together at most.
template <class Entries, class Visit>
void for_some(const Entries& entries, Range mine, const Visit& visit) {
  Index room[taken_together + Entries::at_once];
  std::int64_t row = entries.row_of(mine.first);
  for (std::int64_t first = mine.first; first < mine.last; first += taken_together) {
    const Range these{first, std::min(first + taken_together, mine.last)};
    visit(first, entries.others_of(row, these, room), these.last - first);
  }
}

/// Writes entries of `mine`, each to place next(its key). The places of some entries are taken, and the lines there asked for, before
/// those of the entries before them are written to, since no processor foresees them.
template <class Entries, class Real, class Offset, class Next>
void scatter(const Entries& entries, Range mine, const Grouped<Real, Offset>& to, const Next& next) {
  Offset room[2][taken_together];
  Offset *places = room[0], *later = room[1];
  const auto ask = [&](std::int64_t first, Offset* place) {
    for (std::int64_t k = first, last = std::min(first + taken_together, mine.last); k < last; ++k) {
      const Offset at = *place++ = next(entries.keys[k]);
      __builtin_prefetch(to.others + at, 1);
      if (to.values) __builtin_prefetch(to.values + at, 1);
      if (to.values && k % 8 == 0) __builtin_prefetch(entries.values + k);
      if (k % 16 == 0) __builtin_prefetch(entries.keys + k + taken_together);
    }
  };
  ask(mine.first, places);
  for_some(entries, mine, [&](std::int64_t first, const Index* others, std::int64_t n) {
    ask(first + n, later);
    for (std::int64_t k = 0; k < n; ++k) {
      to.others[places[k]] = others[k];
      if (to.values) to.values[places[k]] = entries.values[first + k];
    }
    std::swap(places, later);
  });
}

/// Groups in one pass over counters of all keys. Best on one core where the places written to stay in cache.
template <class Entries, class Real, class Offset>
void group_at_once(const Entries& entries, const Grouped<Real, Offset>& to) {
  Offset* const ptr = to.ptr;
  std::fill(ptr, ptr + to.nkeys + 1, Offset(0));
  for (std::int64_t k = 0; k < entries.n; ++k) ++ptr[entries.keys[k] + std::int64_t(1)];
  // ptr[key + 1] becomes the place of the key's next entry, and ends as the first place of the key after it.
  Offset sum = 0;
  for (std::int64_t key = 0; key < to.nkeys; ++key) sum += std::exchange(ptr[key + 1], sum);
  scatter(entries, {0, entries.n}, to, [&](Index key) { return ptr[key + std::int64_t(1)]++; });
}

/// Threads first move the entries to buckets of neighbouring keys (every thread knows its places in every bucket from
/// counts), then sort the buckets one by one, in memory that fits in cache. Between the two an entry is its value and a
/// word of other index and low bits of the key: within the result, or where they need more than 32 bits in 8 bytes per
/// entry besides. Returns how many bytes were taken besides the result.
template <class Word, class Entries, class Real, class Offset>
std::int64_t group_by_buckets(const OpenMP& on, const Entries& entries, const Buckets& buckets,
                              const Grouped<Real, Offset>& to) {
  const std::int64_t n = entries.n, nkeys = to.nkeys, nbuckets = buckets.count;
  const int shift = buckets.shift, nparts = std::max(1, on.threads);
  constexpr bool within_result = sizeof(Word) == sizeof(Index);
  Array<Word> wide(within_result ? 0 : n);
  Word* const words = within_result ? reinterpret_cast<Word*>(to.others) : wide.data();
  Array<std::int64_t> places(nparts * nbuckets), bucket_ptr(nbuckets + 1);
  for_each_in_turn(on, nparts, [&](std::int64_t part, int) {
    std::int64_t* const count = places.data() + part * nbuckets;
    std::fill(count, count + nbuckets, 0);
    const Range mine = even_share(n, int(part), nparts);
    for (std::int64_t k = mine.first; k < mine.last; ++k) ++count[entries.keys[k] >> shift];
  });
  std::int64_t sum = 0;
  for (std::int64_t bucket = 0; bucket < nbuckets; ++bucket) {
    bucket_ptr[bucket] = sum;
    for (std::int64_t part = 0; part < nparts; ++part) sum += std::exchange(places[part * nbuckets + bucket], sum);
  }
  bucket_ptr[nbuckets] = sum;
  for_each_in_turn(on, nparts, [&](std::int64_t part, int) {
    Distribution<Real, Word> distribution(words, to.values, nbuckets, places.data() + part * nbuckets);
    with_avx2([&] {
      for_some(entries, even_share(n, int(part), nparts),
               [&](std::int64_t first, const Index* others, std::int64_t some) {
                 distribution.add(entries.keys + first, others, entries.values ? entries.values + first : nullptr, some,
                                  shift);
               });
    });
    distribution.finish();
  });
  to.ptr[0] = 0;
  std::vector<BucketSorter<Real, Offset, Word>> sorters;
  sorters.reserve(std::size_t(nparts));
  for (int part = 0; part < nparts; ++part) sorters.emplace_back(shift);
  for_each_in_turn(on, nbuckets, [&](std::int64_t bucket, int part) {
    sorters[std::size_t(part)](to, words, bucket_ptr[bucket], bucket_ptr[bucket + 1], bucket << shift,
                               std::min<std::int64_t>(nkeys, (bucket + 1) << shift));
  });
  std::int64_t bytes = std::int64_t(sizeof(Word)) * wide.size() +
                       (8 * (nbuckets + 1) + Distribution<Real, Word>::bytes(nbuckets)) * nparts;
  for (const auto& sorter : sorters) bytes += sorter.bytes();
  return bytes;
}

/// What a thread counts: the keys from `first` on.
template <class Offset>
struct Counted {
  std::int64_t first = 0;
  std::vector<Offset> count;

  std::int64_t last() const { return first + std::int64_t(count.size()); }
};

/// Whether threads may have so many counters together: each has one for every key from the first to the last of its share of
/// the n entries. A few entries far from the others make them as many as all keys, on each thread.
inline bool are_few(std::int64_t counters, std::int64_t nkeys, std::int64_t n, int threads) {
  constexpr std::int64_t of_thread = 1 << 17;  // 1 MB
  return counters <= 2 * std::min(nkeys, n) + of_thread * threads;
}

/// Each thread counts the keys of its share, and writes its entries behind those of the shares before. Best where the
/// keys of a share lie close together. Returns the bytes of the counters; none, and nothing is done, if there would be too many.
template <class Entries, class Real, class Offset>
std::optional<std::int64_t> group_by_shares(const OpenMP& on, const Entries& entries, const Grouped<Real, Offset>& to) {
  const std::int64_t n = entries.n;
  std::vector<Range> met(std::size_t(on.threads), Range{0, 0});
  for_each_in_turn(on, on.threads, [&](std::int64_t share, int) {
    const Range mine = even_share(n, int(share), on.threads);
    if (mine.first == mine.last) return;
    Index least = std::numeric_limits<Index>::max(), most = -1;
    for (std::int64_t k = mine.first; k < mine.last; ++k)
      least = std::min(least, entries.keys[k]), most = std::max(most, entries.keys[k]);
    met[std::size_t(share)] = {least, most + std::int64_t(1)};
  });
  std::int64_t counters = 0;
  for (const Range& keys : met) counters += keys.last - keys.first;
  if (!are_few(counters, to.nkeys, n, on.threads)) return std::nullopt;
  std::vector<Counted<Offset>> shares(std::size_t(on.threads));
  for_each_in_turn(on, on.threads, [&](std::int64_t share, int) {
    const Range mine = even_share(n, int(share), on.threads), keys = met[std::size_t(share)];
    auto& [first, count] = shares[std::size_t(share)];
    first = keys.first;
    count.assign(std::size_t(keys.last - first), 0);
    for (std::int64_t k = mine.first; k < mine.last; ++k) ++count[std::size_t(entries.keys[k] - first)];
  });
  // A count becomes that of the same key in the shares before, and their sum the length of the group.
  for_shares(on, to.nkeys, on.threads, [&](std::int64_t begin, std::int64_t end, int) {
    Offset* const lengths = to.ptr + 1;
    std::fill(lengths + begin, lengths + end, Offset(0));
    for (auto& share : shares)
      for (std::int64_t key = std::max(begin, share.first); key < std::min(end, share.last()); ++key) {
        const Offset before = lengths[key];
        lengths[key] += std::exchange(share.count[std::size_t(key - share.first)], before);
      }
  });
  offsets_from_lengths(on, HostSpan<Offset>(to.ptr, to.nkeys + 1));
  for_each_in_turn(on, on.threads, [&](std::int64_t share, int) {
    const Range mine = even_share(n, int(share), on.threads);
    auto& counted = shares[std::size_t(share)];
    scatter(entries, mine, to, [&](Index key) {
      return Offset(to.ptr[key] + counted.count[std::size_t(key - counted.first)]++);
    });
  });
  return counters * std::int64_t(sizeof(Offset));
}

/// Whether an entry on its way, its other index and the low bits of its key, needs more than 32 bits.
inline bool needs_wide_words(const Buckets& buckets, std::int64_t nothers) {
  return buckets.shift + std::bit_width(std::uint32_t(nothers - 1)) > 32;
}

enum class Spread { near, far };  // whether the places that neighbouring entries go to lie in a cache together

/// Entry k of `entries` becomes an entry of group key(k) of `to`. Returns the bytes taken besides.
template <class Entries, class Real, class Offset>
std::int64_t group(const OpenMP& on, const Entries& entries, Spread spread, const Grouped<Real, Offset>& to) {
  const std::int64_t n = entries.n;
  const bool few = n < 2 * worth_per_thread;
  if (!few && to.nkeys > 0 && (spread == Spread::far || on.threads > 1)) {
    if (spread == Spread::near)
      if (const auto bytes = group_by_shares(on, entries, to)) return *bytes;
    const Buckets buckets(n, to.nkeys);
    return needs_wide_words(buckets, entries.nothers) ? group_by_buckets<std::uint64_t>(on, entries, buckets, to)
                                                      : group_by_buckets<std::uint32_t>(on, entries, buckets, to);
  }
  group_at_once(entries, to);
  return 0;
}

}  // namespace seidel::convert_detail
