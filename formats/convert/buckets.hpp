// Entries on their way to buckets of neighbouring keys: collected in batches that stay in a cache, written to
// memory in whole lines past the caches, so that each line travels once. Plain stores would fetch each line first, and
// lose it again before it is full. On its way an entry is its value and a word: its other index, and the low bits of its
// key, which tell it from the others of its bucket.
//
// Source  Wassenberg, Sanders, Engineering a multi-core radix sort, Euro-Par 2011 (batches in software).
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::convert_detail {

/// Where grouped entries go: n of each but ptr, which has nkeys + 1. No values: the structure alone is wanted.
template <class Real, class Offset>
struct Grouped {
  Index nkeys = 0;
  Offset* ptr = nullptr;
  Index* others = nullptr;
  Real* values = nullptr;
};

/// Entries that are read together: so few that what is made of them fits in a first cache.
inline constexpr std::int64_t taken_together = 256;

/// How keys are cut into buckets: key >> shift is the bucket.
struct Buckets {
  static constexpr std::int64_t max_entries =
      24000;                            // on average: with their copies 576 KB, which a second cache holds
  static constexpr int max_bits = 10;   // of a bucket: 1024 batches are 384 KB, which a second cache holds
  static constexpr int max_shift = 16;  // counters of a bucket's keys fit in a cache too, though buckets be more
  static constexpr int batch_size =
      32;  // entries: whole lines; with 16 they are written out too often, 64 gain nothing

  Buckets(std::int64_t n, std::int64_t nkeys)
      : shift(std::clamp(int(std::bit_width(std::uint64_t(nkeys - 1))) -
                             std::clamp(int(std::bit_width(std::uint64_t(n / max_entries))), 1, max_bits),
                         0, max_shift)),
        count(((nkeys - 1) >> shift) + 1) {}

  const int shift;
  const std::int64_t count;
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

/// The entries of one thread. Those of bucket b go to places first[b], first[b] + 1 ... of `words` and `values`.
template <class Real, class Word>
class Distribution {
 public:
  Distribution(Word* words, Real* values, std::int64_t nbuckets, const std::int64_t* first)
      : words_(words),
        values_(values),
        first_(first),
        nbuckets_(nbuckets),
        whole_lines_(begins_a_line(words) && begins_a_line(values)),
        batch_words_(nbuckets * size),
        batch_values_(nbuckets * size),
        slots_(nbuckets),
        places_(nbuckets) {
    for (std::int64_t b = 0; b < nbuckets; ++b) {
      slots_[b] = std::uint32_t(b * size + first[b] % size);
      places_[b] = first[b] / size * size;
    }
  }
  /// Takes at most taken_together entries: key >> shift is their bucket.
  void add(const Index* keys, const Index* others, const Real* values, std::int64_t n, int shift) {
    std::uint32_t buckets[taken_together];
    Word words[taken_together];
    // What is read by the next call: a processor asks for it too late, while batches are written past its caches.
    constexpr std::int64_t keys_in_line = 64 / sizeof(Index), values_in_line = 64 / sizeof(Real);
    for (std::int64_t k = n; k < 2 * n; k += keys_in_line) __builtin_prefetch(keys + k);
    if (values)
      for (std::int64_t k = n; k < 2 * n; k += values_in_line) __builtin_prefetch(values + k);
    for (std::int64_t k = 0; k < n; ++k) {  // several at once
      buckets[k] = std::uint32_t(keys[k]) >> shift;
      words[k] = Word(others[k]) << shift | (std::uint32_t(keys[k]) & ((std::uint32_t(1) << shift) - 1));
    }
    Word* const batch_words = batch_words_.data();  // kept in registers, which members are not
    Real* const batch_values = batch_values_.data();
    std::uint32_t* const slots = slots_.data();
    for (std::int64_t k = 0; k < n; ++k) {
      const std::uint32_t slot = slots[buckets[k]];
      batch_words[slot] = words[k];
      if (values) batch_values[slot] = values[k];
      slots[buckets[k]] = slot + 1;
      if ((slot + 1) % size == 0) [[unlikely]]
        write(buckets[k]);
    }
  }
  /// Writes the batches that are not full.
  void finish() {
    for (std::int64_t b = 0; b < nbuckets_; ++b) copy(b, slots_[b] - b * size);
    finish_streams();
  }
  static std::int64_t bytes(std::int64_t nbuckets) {
    return nbuckets * std::int64_t(size * (sizeof(Word) + sizeof(Real)) + sizeof(std::uint32_t) + sizeof(std::int64_t));
  }

 private:
  static constexpr int size = Buckets::batch_size;

  [[gnu::noinline]] void write(std::int64_t bucket) {
    if (const std::int64_t to = places_[bucket], from = bucket * size; to >= first_[bucket] && whole_lines_) {
      stream_lines(words_ + to, &batch_words_[from], size * sizeof(Word));
      if (values_) stream_lines(values_ + to, &batch_values_[from], size * sizeof(Real));
    } else {
      copy(bucket, size);
    }
    slots_[bucket] = std::uint32_t(bucket * size);
    places_[bucket] += size;
  }
  /// The first `count` entries of a batch; what goes before first[bucket] is others'.
  void copy(std::int64_t bucket, std::int64_t count) {
    const std::int64_t to = places_[bucket], from = bucket * size;
    for (std::int64_t k = std::max<std::int64_t>(first_[bucket] - to, 0); k < count; ++k) {
      words_[to + k] = batch_words_[from + k];
      if (values_) values_[to + k] = batch_values_[from + k];
    }
  }

  Word* const words_;
  Real* const values_;
  const std::int64_t* const first_;
  const std::int64_t nbuckets_;
  const bool whole_lines_;
  Array<Word> batch_words_;
  Array<Real> batch_values_;
  Array<std::uint32_t> slots_;  // where the next entry of a bucket stands among the batches
  Array<std::int64_t> places_;  // where its batch goes
};

/// Sorts buckets by key, each within its places: entries are sorted into memory that a cache holds, and copied back.
template <class Real, class Offset, class Word>
class BucketSorter {
 public:
  explicit BucketSorter(int shift) : shift_(shift), places_(std::int64_t(1) << shift) {}

  /// Entries first ... last - 1 have keys first_key + the low bits of their words, below last_key.
  void operator()(const Grouped<Real, Offset>& to, const Word* words, std::int64_t first, std::int64_t last,
                  std::int64_t first_key, std::int64_t last_key) {
    const int shift = shift_;  // in a register, though numbers are written
    const Word low = (Word(1) << shift) - 1;
    const std::int64_t n = last - first;
    Offset* const place = places_.data();
    std::fill_n(place, last_key - first_key, Offset(0));
    constexpr std::int64_t in_line = 64 / sizeof(Real);
    for (std::int64_t k = first; k < last; k += in_line) {
      if (to.values) __builtin_prefetch(to.values + k);  // which are read next
      for (std::int64_t i = k, end = std::min(k + in_line, last); i < end; ++i) ++place[words[i] & low];
    }
    const bool is_one_key = n > 0 && place[words[first] & low] == n;
    Offset sum = 0;
    for (std::int64_t key = first_key; key < last_key; ++key) {
      sum += std::exchange(place[key - first_key], sum);
      to.ptr[key + 1] = Offset(first) + sum;
    }
    if (is_one_key) {
      for (std::int64_t k = first; k < last; ++k) to.others[k] = Index(words[k] >> shift);
      return;
    }
    if (n > others_.size()) take(n);
    Index* const others = others_.data();
    Real* const values = values_.data();
    for (std::int64_t k = first; k < last; ++k) {
      const Word word = words[k];
      const Offset at = place[word & low]++;
      others[at] = Index(word >> shift);
      if (to.values) values[at] = to.values[k];
    }
    std::copy_n(others, n, to.others + first);
    if (to.values) std::copy_n(values, n, to.values + first);
  }
  std::int64_t bytes() const {
    return std::int64_t(sizeof(Offset)) * places_.size() + std::int64_t(sizeof(Index) + sizeof(Real)) * others_.size();
  }

 private:
  void take(std::int64_t n) {
    others_ = {}, values_ = {};
    others_ = Array<Index>(n + n / 8), values_ = Array<Real>(n + n / 8);  // the next may be a little larger
  }

  const int shift_;
  Array<Offset> places_;
  Array<Index> others_;
  Array<Real> values_;
};

}  // namespace seidel::convert_detail
