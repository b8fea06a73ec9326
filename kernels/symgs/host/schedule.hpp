// Which thread sweeps which rows, and what it waits for: wavefronts shared out, thread waiting for thread instead of
// all for all.
// Source  Park, Smelyanskiy, Sundaram, Dubey, Sparsifying synchronization for high-performance shared-memory sparse
//         triangular solver, ISC 2014.
#pragma once
#include <atomic>
#include <thread>
#include <vector>

#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/orders/orders.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::symgs_detail {

/// Lets the other thread of the core, or another core, go on.
inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Threads sweep blocks: runs of neighbouring rows, so that a thread finds x in its cache. The wavefronts of blocks are
/// the stages of a sweep. Where blocks depend on each other too much, single rows are taken. Stages that are too small
/// to be shared out go together to one part.
///
/// place: where a row stands in the order of the schedule. In stage s, part t of the threads has the task of stretches
/// cut(s, t) ... cut(s, t + 1) - 1, each a range of places: of up to 8 blocks where those are lines of coupled rows,
/// else as long as the task. A thread waits before each stretch, for those of others that it needs, so that
/// threads need not go in step.
class Schedule {
 public:
  /// One thread: row p in place p.
  explicit Schedule(std::int64_t nrows);
  template <class Offset>
  Schedule(const OpenMP& on, HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx);

  /// The row in each place. Rows of one task may change places.
  HostSpan<Index> rows() { return rows_; }
  const Index* rows() const { return rows_.data(); }
  std::int64_t nrows() const { return nrows_; }
  /// visit(first, last) for the places of each stretch, in order.
  void each_stretch(const auto& visit) const {
    for (std::size_t s = 1; s < stretch_.size(); ++s) visit(stretch_[s - 1], stretch_[s]);
  }

  /// body(stretch) for all stretches, each after those that it depends on; several at once. `body` must not throw:
  /// other threads would wait for its turn for ever.
  void run(Direction direction, const auto& body) const {
    if (nparts_ == 1) return body(std::int64_t(0));
    ++sweep_;
    parallel_parts(OpenMP{nparts_}, [&](int thread, int nthreads) { run_share(direction, thread, nthreads, body); });
  }
  std::int64_t bytes() const;

 private:
  /// Stretches done by a part since the schedule was made, alone on its cache line.
  struct alignas(64) Progress {
    std::atomic<std::int64_t> done = 0;
  };

  /// Of blocks coupled by this pattern, each in the stretch given.
  template <class Offset>
  void find_needs(const OpenMP& on, HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx,
                  const std::vector<Index>& stretch_of);
  std::int64_t cut(std::int64_t stage, int part) const { return cut_[stage * (nparts_ + 1) + part]; }
  /// Stretches that a part had done before this sweep.
  std::int64_t done_before(int part) const { return (sweep_ - 1) * stretches_of_part_[part]; }

  /// Where there are fewer threads than parts, a thread has several. It takes their stretches in an order in which each
  /// comes after those that it needs, so the first one not done never waits.
  void run_share(Direction direction, int thread, int nthreads, const auto& body) const {
    const bool forward = direction == Direction::forward;
    for (std::int64_t turn = 0; turn < nstages_; ++turn)
      for (int part = thread; part < nparts_; part += nthreads) {
        const std::int64_t stage = forward ? turn : nstages_ - 1 - turn;
        const std::int64_t first = cut(stage, part), last = cut(stage, part + 1);
        for (std::int64_t i = first; i < last; ++i) {
          const std::int64_t stretch = forward ? i : last - 1 - (i - first);
          wait_for_needed(part, (forward ? needed_forward_ : needed_backward_).data() + stretch * nparts_);
          body(stretch);
          progress_[part].done.fetch_add(1, std::memory_order_release);
        }
      }
  }
  void wait_for_needed(int part, const Index* needed) const {
    for (int other = 0; other < nparts_; ++other) {
      if (needed[other] == 0) continue;
      const std::int64_t least = done_before(other) + needed[other];
      std::int64_t& seen = seen_[part][other];
      if (seen < least) seen = wait_for(other, least);
    }
  }
  std::int64_t wait_for(int other, std::int64_t least) const {
    constexpr int patience = 1000;  // then another process may have the core of the thread that is waited for
    for (int tries = 0;; ++tries) {
      const std::int64_t done = progress_[other].done.load(std::memory_order_acquire);
      if (done >= least) return done;
      tries < patience ? pause_briefly() : std::this_thread::yield();
    }
  }

  std::int64_t nrows_, nstages_ = 0;
  int nparts_ = 1;
  Array<Index> rows_;                  // the row in each place
  std::vector<std::int64_t> cut_;      // nstages x (nparts + 1)
  std::vector<std::int64_t> stretch_;  // where each begins, and the end of the last
  std::vector<std::int64_t> stretches_of_part_;
  Array<Index> needed_forward_, needed_backward_;  // stretches x nparts: how many of its own a part must have done
  mutable std::int64_t sweep_ = 0;                 // its number, from 1
  mutable std::vector<Progress> progress_;
  mutable std::vector<std::vector<std::int64_t>> seen_;  // what a part has last seen of the others' progress
};

}  // namespace seidel::symgs_detail
