// Entries on their way to buckets of neighbouring keys: collected in batches that stay in a cache, written to
// memory in whole lines past the caches, so that each line travels once. Plain stores would fetch each line first, and
// lose it again before it is full.
//
// Source  Wassenberg, Sanders, Engineering a multi-core radix sort, Euro-Par 2011 (batches in software).
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#include <seidel/formats/runtime/array.hpp>

namespace seidel::convert_detail {

inline constexpr int batch_size = 32;  // of keys: one line of memory
inline constexpr int low_bits = 16;    // of a key that a batch keeps; its bucket says the others

template <class Real>
struct alignas(64) Batch {
  Real values[batch_size];
  Index others[batch_size];
  std::uint16_t keys[batch_size];
};

/// Where grouped entries go: n of each but ptr, which has nkeys + 1. No values: the structure alone is wanted.
template <class Real, class Offset>
struct Grouped {
  Index nkeys = 0;
  Offset* ptr = nullptr;
  Index* others = nullptr;
  Real* values = nullptr;
};

/// Copies whole lines to a line's begin.
inline void stream_lines(void* to, const void* from, std::size_t bytes) {
#ifdef __x86_64__
  for (std::size_t at = 0; at < bytes; at += sizeof(__m128i))
    _mm_stream_si128(reinterpret_cast<__m128i*>(static_cast<char*>(to) + at),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(static_cast<const char*>(from) + at)));
#else
  std::memcpy(to, from, bytes);
#endif
}
/// What was streamed is seen by who synchronises with this thread from now on.
inline void finish_streams() {
#ifdef __x86_64__
  _mm_sfence();
#endif
}
inline bool begins_a_line(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; }

/// The entries of one thread. Its entries of bucket b go to places first[b], first[b] + 1 ... of `to` and `keys`.
template <class Real, class Offset>
class Distribution {
 public:
  Distribution(const Grouped<Real, Offset>& to, std::uint16_t* keys, std::int64_t nbuckets, const std::int64_t* first,
               std::int64_t* next, Batch<Real>* batches)
      : to_(to),
        keys_(keys),
        nbuckets_(nbuckets),
        first_(first),
        next_(next),
        batches_(batches),
        whole_lines_(begins_a_line(to.others) && begins_a_line(to.values)) {
    std::memcpy(next, first, std::size_t(nbuckets) * sizeof(std::int64_t));
  }
  void add(std::int64_t bucket, std::uint16_t key, Index other, Real value) {
    const std::int64_t at = next_[bucket]++;
    const int place = int(at % batch_size);
    Batch<Real>& batch = batches_[bucket];
    batch.keys[place] = key, batch.others[place] = other, batch.values[place] = value;
    if (place == batch_size - 1) write(bucket, at - place, batch_size);
  }
  /// Writes the batches that are not full.
  void finish() {
    for (std::int64_t bucket = 0; bucket < nbuckets_; ++bucket)
      if (const std::int64_t rest = next_[bucket] % batch_size) write(bucket, next_[bucket] - rest, int(rest));
    finish_streams();
  }

 private:
  /// The first `count` places of a batch, to `at` and on; those before first[bucket] are others'.
  void write(std::int64_t bucket, std::int64_t at, int count) {
    const Batch<Real>& batch = batches_[bucket];
    if (count == batch_size && at >= first_[bucket] && whole_lines_) {
      stream_lines(to_.others + at, batch.others, sizeof batch.others);
      if (to_.values) stream_lines(to_.values + at, batch.values, sizeof batch.values);
      stream_lines(keys_ + at, batch.keys, sizeof batch.keys);
      return;
    }
    for (int place = int(std::max<std::int64_t>(first_[bucket] - at, 0)); place < count; ++place) {
      to_.others[at + place] = batch.others[place];
      if (to_.values) to_.values[at + place] = batch.values[place];
      keys_[at + place] = batch.keys[place];
    }
  }

  const Grouped<Real, Offset> to_;
  std::uint16_t* const keys_;
  const std::int64_t nbuckets_;
  const std::int64_t* const first_;
  std::int64_t* const next_;
  Batch<Real>* const batches_;
  const bool whole_lines_;
};

/// Sorts buckets by key, each within its places: entries are sorted into memory that a cache holds, and copied back.
template <class Real, class Offset>
class BucketSorter {
 public:
  explicit BucketSorter(int shift) : counts_((std::int64_t(1) << shift) + 1) {}

  /// Entries first ... last - 1 have keys first_key + their `keys`, below last_key.
  void operator()(const Grouped<Real, Offset>& to, const std::uint16_t* keys, std::int64_t first, std::int64_t last,
                  std::int64_t first_key, std::int64_t last_key) {
    std::int64_t* const place = counts_.data();
    std::fill(place, place + (last_key - first_key), 0);
    for (std::int64_t k = first; k < last; ++k) ++place[keys[k]];
    const bool is_one_key = first < last && place[keys[first]] == last - first;
    std::int64_t sum = 0;
    for (std::int64_t key = first_key; key < last_key; ++key) {
      to.ptr[key + 1] = Offset(first + sum + place[key - first_key]);
      sum += std::exchange(place[key - first_key], sum);
    }
    if (is_one_key) return;
    if (last - first > others_.size()) take(last - first);
    for (std::int64_t k = first; k < last; ++k) {
      const std::int64_t at = place[keys[k]]++;
      others_[at] = to.others[k];
      if (to.values) values_[at] = to.values[k];
    }
    std::copy_n(others_.data(), last - first, to.others + first);
    if (to.values) std::copy_n(values_.data(), last - first, to.values + first);
  }
  std::int64_t bytes() const {
    return 8 * counts_.size() + std::int64_t(sizeof(Index) + sizeof(Real)) * others_.size();
  }

 private:
  void take(std::int64_t n) {
    others_ = {}, values_ = {};
    others_ = Array<Index>(n + n / 8), values_ = Array<Real>(n + n / 8);  // the next may be a little larger
  }

  Array<std::int64_t> counts_;
  Array<Index> others_;
  Array<Real> values_;
};

}  // namespace seidel::convert_detail
