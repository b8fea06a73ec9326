// The one counting sort behind all conversions: entries grouped by key (their row, or their column), in order of
// appearance.
#pragma once
#include <bit>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/shares.hpp>

namespace seidel::convert_detail {

/// Entries given one by one: triplets.
template <class Real>
struct Triplets {
  HostSpan<const Index> keys, others;
  HostSpan<const Real> values;

  std::int64_t size() const { return values.size(); }
  /// visit(key, other index, value) for entries first ... last - 1.
  template <class Visit>
  void each(std::int64_t first, std::int64_t last, const Visit& visit) const {
    for (std::int64_t k = first; k < last; ++k) visit(keys[k], others[k], values[k]);
  }
};

/// The entries of a CSR matrix, keyed by column.
template <class Real, class Offset>
struct ByColumn {
  CsrView<Real, Offset, Host> A;

  std::int64_t size() const { return A.nnz(); }
  template <class Visit>
  void each(std::int64_t first, std::int64_t last, const Visit& visit) const {
    if (first >= last) return;
    // The row of the first entry, so that a long row can be shared out too.
    std::int64_t row = std::upper_bound(A.row_ptr.begin(), A.row_ptr.end(), Offset(first)) - A.row_ptr.begin() - 1;
    for (std::int64_t k = first; k < last; ++row)
      for (const std::int64_t end = std::min<std::int64_t>(last, A.row_ptr[row + 1]); k < end; ++k)
        visit(A.col_idx[k], Index(row), A.values[k]);
  }
};

/// Groups in one pass over counters of all keys. Best on one core: no copy of the entries.
template <class Entries, class Real, class Offset>
void group_at_once(const Entries& entries, Csr<Real, Offset>& to) {
  Offset* const ptr = to.row_ptr.data();
  std::fill(ptr, ptr + to.row_ptr.size(), Offset(0));
  entries.each(0, entries.size(), [&](Index key, Index, Real) { ++ptr[key + std::int64_t(1)]; });
  // ptr[key + 1] becomes the place of the key's next entry, and ends as the first place of the key after it.
  Offset sum = 0;
  for (std::int64_t key = 0; key < to.nrows; ++key) sum += std::exchange(ptr[key + 1], sum);
  entries.each(0, entries.size(), [&](Index key, Index other, Real value) {
    const Offset at = ptr[key + std::int64_t(1)]++;
    to.col_idx[at] = other;
    to.values[at] = value;
  });
}

/// Entry k of `entries` becomes an entry of row key(k) of `to`, whose shape is set: its arrays are allocated here.
/// Threads first move the entries to buckets of neighbouring keys (every thread knows its places in every bucket from
/// counts), then sort the buckets one by one, with counters that fit in cache.
template <class Entries, class Real, class Offset>
void group(const OpenMP& on, const Entries& entries, Csr<Real, Offset>& to) {
  const std::int64_t n = entries.size(), nkeys = to.nrows;
  if (n > std::numeric_limits<Offset>::max())
    throw ResourceError("found " + std::to_string(n) + " entries, expected at most " +
                        std::to_string(std::numeric_limits<Offset>::max()) + "\n  take 64-bit row pointers");
  to.row_ptr = Array<Offset>(nkeys + 1);
  to.col_idx = Array<Index>(n);
  to.values = Array<Real>(n);
  if (on.threads <= 1 || n < 2 * worth_per_thread) return group_at_once(entries, to);

  constexpr int nbuckets = 256;
  const int shift = std::max(0, int(std::bit_width(std::uint64_t(nkeys))) - 8);  // 2^shift keys a bucket
  const int nparts = on.threads;
  Array<std::int64_t> places(std::int64_t(nparts) * nbuckets);
  Array<Index> keys(n), others(n);
  Array<Real> values(n);
  for_each_in_turn(on, nparts, [&](std::int64_t part, int) {
    std::int64_t count[nbuckets] = {};
    const Range mine = even_share(n, int(part), nparts);
    entries.each(mine.first, mine.last, [&](Index key, Index, Real) { ++count[key >> shift]; });
    std::copy(count, count + nbuckets, places.data() + part * nbuckets);
  });
  std::int64_t bucket_ptr[nbuckets + 1];
  std::int64_t sum = 0;
  for (int bucket = 0; bucket < nbuckets; ++bucket) {
    bucket_ptr[bucket] = sum;
    for (int part = 0; part < nparts; ++part) sum += std::exchange(places[std::int64_t(part) * nbuckets + bucket], sum);
  }
  bucket_ptr[nbuckets] = sum;
  for_each_in_turn(on, nparts, [&](std::int64_t part, int) {
    std::int64_t next[nbuckets];
    std::copy_n(places.data() + part * nbuckets, nbuckets, next);
    const Range mine = even_share(n, int(part), nparts);
    entries.each(mine.first, mine.last, [&](Index key, Index other, Real value) {
      const std::int64_t at = next[key >> shift]++;
      keys[at] = key;
      others[at] = other;
      values[at] = value;
    });
  });
  to.row_ptr[0] = 0;
  for_each_in_turn(on, nbuckets, [&](std::int64_t bucket, int) {
    const std::int64_t first_key = std::min(nkeys, bucket << shift), last_key = std::min(nkeys, (bucket + 1) << shift);
    Offset* const ptr = to.row_ptr.data();
    std::fill(ptr + first_key + 1, ptr + last_key + 1, Offset(0));
    const std::int64_t first = bucket_ptr[bucket], last = bucket_ptr[bucket + 1];
    for (std::int64_t k = first; k < last; ++k) ++ptr[keys[k] + std::int64_t(1)];
    Offset at = Offset(first);
    for (std::int64_t key = first_key; key < last_key; ++key) at += std::exchange(ptr[key + 1], at);
    for (std::int64_t k = first; k < last; ++k) {
      const Offset place = ptr[keys[k] + std::int64_t(1)]++;
      to.col_idx[place] = others[k];
      to.values[place] = values[k];
    }
  });
}

}  // namespace seidel::convert_detail
