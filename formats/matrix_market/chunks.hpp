// A text divided among threads in chunks of whole lines.
#pragma once
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include <seidel/formats/matrix_market/line.hpp>
#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::mm {

/// Quick functions stop at a line end and read up to 32 bytes beyond it; this is the last end with so many bytes behind.
struct Fence {
  const char *at, *end;  // quick functions may parse lines that begin before `at`; the text ends at `end`

  Fence(const char* first, const char* last) : at(last - first > 32 ? last - 32 : first), end(last) {
    while (at > first && *at != '\n') --at;
  }
};

/// The lines below the size line, in chunks; chunk c contains the lines that begin in its bytes.
class Chunks {
 public:
  Chunks(const Source& source, const Header& header, const ReadOptions& options)
      : source_(source),
        bytes_(std::clamp<std::int64_t>(options.chunk_bytes, 1, INT64_MAX / 2)),  // sums with it do not overflow
        body_(header.body),
        end_(source.end()),
        fence_(body_, end_),
        progress_(options.progress) {
    count_ = (end_ - body_ + bytes_ - 1) / bytes_;
  }

  std::int64_t count() const { return count_; }
  const char* end() const { return end_; }
  const Fence& fence() const { return fence_; }

  struct Chunk {
    const char *first, *last;  // the lines that begin there
    std::int64_t first_entry, last_entry;
  };

  /// Calls work(c, chunk, part) for each chunk, on several threads that take chunks in turn, until it returns false.
  /// The entries of a chunk are counted just before it is parsed, when its text has to be loaded anyway, and wait only for
  /// the count of the chunk before. Stops beyond `most` entries. Returns the number of entries if it reached the end.
  /// `work` must not throw.
  std::int64_t for_each_numbered(const OpenMP& on, std::int64_t most, const auto& work) const {
    std::vector<std::atomic<std::int64_t>> first_entry(std::size_t(count_) + 1);
    for (auto& entry : first_entry) entry.store(-1, std::memory_order_relaxed);
    first_entry[0] = 0;
    std::atomic<std::int64_t> next = 0, done = 0;
    std::int64_t told = 0;  // by the calling thread
    parallel_parts(OpenMP{int(std::max<std::int64_t>(1, std::min<std::int64_t>(on.threads, count_)))},
                   [&](int part, int) {
                     for (std::int64_t c; (c = next.fetch_add(1, std::memory_order_relaxed)) < count_;) {
                       Chunk chunk = lines(c);
                       const std::int64_t entries = count_entries(chunk.first, chunk.last, end_);
                       const auto before = std::size_t(c);
                       while ((chunk.first_entry = first_entry[before].load(std::memory_order_acquire)) < 0)
                         std::this_thread::yield();
                       chunk.last_entry = chunk.first_entry + entries;
                       first_entry[before + 1].store(chunk.last_entry, std::memory_order_release);
                       if (chunk.last_entry > most || !work(c, std::as_const(chunk), part)) next = count_;
                       done += done_with(c);
                       if (part == 0) tell(done, told, 1, 1);
                     }
                   });
    tell(done, told, 1, 1);
    return first_entry[std::size_t(count_)];
  }

  /// Calls work(first, last, stretch) for the lines that begin in [first, last), chunk after chunk of each of `stretches`
  /// of the file, each on one thread. `pass` of 2 is for the progress report only. `work` must not throw.
  void for_each_of_stretches(int stretches, int pass, const auto& work) const {
    std::atomic<std::int64_t> done = 0;
    std::int64_t told = 0;  // by the calling thread
    parallel_parts(OpenMP{stretches}, [&](int part, int nparts) {
      for (int stretch = part; stretch < stretches; stretch += nparts) {
        const Range mine = even_share(count_, stretch, stretches);
        for (std::int64_t c = mine.first; c < mine.last; ++c) {
          const Chunk chunk = lines(c);
          if (chunk.first < chunk.last) work(chunk.first, chunk.last, stretch);
          done += done_with(c);
          if (part == 0) tell(done, told, pass, 2);
        }
      }
    });
    tell(done, told, pass, 2);
  }

 private:
  static constexpr std::int64_t worth_telling = 1 << 22;  // bytes

  /// Tells of the bytes done in this pass where they are worth it, and always of the last.
  void tell(std::int64_t done, std::int64_t& told, int pass, int passes) const {
    const std::int64_t all = end_ - body_;
    if (progress_ && (done - told >= worth_telling || (done == all && told < all)))
      progress_(all * (pass - 1) + (told = done), all * passes);
  }

  const char* nominal(std::int64_t c) const { return c == count_ ? end_ : body_ + c * bytes_; }
  Chunk lines(std::int64_t c) const {
    const char* last = nominal(c + 1);
    return {c == 0 ? body_ : line_end(nominal(c) - 1, last - 1) + 1, last, 0, 0};
  }
  std::int64_t done_with(std::int64_t c) const {
    source_.done_with(nominal(c), nominal(c + 1));
    return nominal(c + 1) - nominal(c);
  }

  const Source& source_;
  std::int64_t bytes_, count_;
  const char *body_, *end_;
  Fence fence_;
  const std::function<void(std::int64_t, std::int64_t)>& progress_;
};

}  // namespace seidel::mm
