// A text shared out to threads by chunks of whole lines.
#pragma once
#include <atomic>
#include <vector>

#include <seidel/formats/matrix_market/line.hpp>
#include <seidel/formats/parallel.hpp>

namespace seidel::mm {

/// Quick functions stop at a line end; the last one that has 32 bytes behind it is the fence for the lines before it.
struct Fence {
  const char *at, *end;  // lines that begin before `at` may be given to quick functions; the text ends at `end`

  Fence(const char* first, const char* last) : at(last - first > 32 ? last - 32 : first), end(last) {
    while (at > first && *at != '\n') --at;
  }
};

/// The lines below the size line, in chunks; chunk c has the lines that begin in its bytes.
class Chunks {
 public:
  Chunks(const Source& source, const Header& header, const ReadOptions& options)
      : source_(source),
        bytes_(std::max<std::int64_t>(1, options.chunk_bytes)),
        body_(header.body),
        end_(source.text().data() + source.text().size()),
        fence_(body_, end_),
        progress_(options.progress) {
    count_ = (end_ - body_ + bytes_ - 1) / bytes_;
  }

  std::int64_t count() const { return count_; }
  const char* end() const { return end_; }
  const Fence& fence() const { return fence_; }

  /// Calls work(c, first, last, part) for each chunk that is not empty, in any order, on several threads: the lines
  /// that begin in [first, last). `pass` of `passes` is for the progress report only. `work` must not throw.
  template <class Work>
  void for_each(const OpenMP& on, int pass, int passes, const Work& work) const {
    const int threads = int(std::max<std::int64_t>(1, std::min<std::int64_t>(on.threads, count_)));
    // Each thread has a stretch of the file, far from those of others: neighbouring lines often belong to the same
    // rows, whose memory two threads had better not write by turns. Who is done helps the others.
    std::vector<std::atomic<std::int64_t>> next(threads);
    for (int t = 0; t < threads; ++t) next[t] = even_share(count_, t, threads).first;
    std::atomic<std::int64_t> done = 0;
    parallel_parts(OpenMP{threads}, [&](int part, int) {
      std::int64_t told = 0;
      for (int k = 0; k < threads; ++k) {
        const int stretch = (part + k) % threads;
        const std::int64_t stretch_end = even_share(count_, stretch, threads).last;
        for (std::int64_t c; (c = next[stretch].fetch_add(1, std::memory_order_relaxed)) < stretch_end;) {
          const char* nominal = body_ + c * bytes_;
          const char* last = c + 1 == count_ ? end_ : nominal + bytes_;
          const char* first = c == 0 ? nominal : line_end(nominal - 1, last - 1) + 1;
          if (first < last) work(c, first, last, part);
          source_.done_with(nominal, last);
          done += last - nominal;
          if (part == 0 && progress_ && done - told >= 1 << 22) {
            told = done;
            progress_((end_ - body_) * (pass - 1) + told, (end_ - body_) * passes);
          }
        }
      }
    });
  }

 private:
  const Source& source_;
  std::int64_t bytes_, count_;
  const char *body_, *end_;
  Fence fence_;
  const std::function<void(std::int64_t, std::int64_t)>& progress_;
};

}  // namespace seidel::mm
