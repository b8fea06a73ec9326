// Which thread sweeps which rows, and what it waits for: wavefronts shared out, thread waiting for thread instead of
// all for all. Source  Park, Smelyanskiy, Sundaram, Dubey, Sparsifying synchronization for high-performance
// shared-memory sparse triangular
//         solver, ISC 2014.
#pragma once
#include <atomic>
#include <thread>
#include <vector>

#include <seidel/formats/parallel.hpp>
#include <seidel/kernels/symgs/symgs.hpp>
#include <seidel/kernels/symgs/wavefronts.hpp>

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
/// place: where a row stands in the order of the schedule. In stage s, part t of the threads sweeps the task of places
/// cut(s, t) ... cut(s, t + 1) - 1.
class Schedule {
 public:
  /// One thread: row p in place p.
  explicit Schedule(std::int64_t nrows);
  template <class Offset>
  [[gnu::used]] Schedule(const OpenMP& on, HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx);

  /// The row in each place. Rows of one task may change places.
  HostSpan<Index> rows() { return rows_; }
  const Index* rows() const { return rows_.data(); }
  /// visit(first, last) for stretches of places, in order, each of one task: of up to 8 blocks where those are lines of
  /// coupled rows, else as long as the task.
  template <class Visit>
  void each_stretch(const Visit& visit) const {
    for (std::size_t s = 1; s < stretch_.size(); ++s) visit(stretch_[s - 1], stretch_[s]);
  }

  /// body(first, last) for ranges of places, each after those that it depends on; several at once. `body` must
  /// not throw: other threads would wait for its turn for ever.
  template <class Body>
  void run(Direction direction, const Body& body) const {
    if (nparts_ == 1) return body(std::int64_t(0), nrows_);
    turns_before_ += nstages_;
    parallel_parts(OpenMP{nparts_}, [&](int part, int nparts) {
      nparts == nparts_ ? run_part(direction, part, body) : run_few(direction, part, nparts, body);
    });
  }
  std::int64_t bytes() const;

 private:
  /// Turns done by a part since the schedule was made, alone on its cache line.
  struct alignas(64) Progress {
    std::atomic<std::int64_t> turns = 0;
  };

  template <class Offset>
  void find_needs(const OpenMP& on, HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx);
  std::int64_t stage_of_turn(Direction direction, std::int64_t turn) const {
    return direction == Direction::forward ? turn : nstages_ - 1 - turn;
  }
  std::int64_t cut(std::int64_t stage, int part) const { return cut_[stage * (nparts_ + 1) + part]; }

  /// All threads are there: each waits for the turns of others that its rows need.
  template <class Body>
  void run_part(Direction direction, int part, const Body& body) const {
    const std::int64_t before = turns_before_ - nstages_;
    const Array<Index>& needed = direction == Direction::forward ? needed_forward_ : needed_backward_;
    std::vector<std::int64_t>& seen = seen_[part];
    for (std::int64_t turn = 0; turn < nstages_; ++turn) {
      const std::int64_t stage = stage_of_turn(direction, turn);
      const Index* const turns = needed.data() + (stage * nparts_ + part) * nparts_;
      for (int other = 0; other < nparts_; ++other)
        if (turns[other] > 0 && seen[other] < before + turns[other])
          seen[other] = wait_for(other, before + turns[other]);
      body(cut(stage, part), cut(stage, part + 1));
      progress_[part].turns.store(before + turn + 1, std::memory_order_release);
    }
  }
  std::int64_t wait_for(int other, std::int64_t turns) const {
    constexpr int patience = 1000;  // then another process may have the core of the thread that is waited for
    for (int tries = 0;; ++tries) {
      const std::int64_t done = progress_[other].turns.load(std::memory_order_acquire);
      if (done >= turns) return done;
      tries < patience ? pause_briefly() : std::this_thread::yield();
    }
  }

  /// Fewer threads than asked for: they share the parts, all waiting for all after each stage.
  template <class Body>
  void run_few(Direction direction, int thread, int nthreads, const Body& body) const {
    for (std::int64_t turn = 0; turn < nstages_; ++turn) {
      const std::int64_t stage = stage_of_turn(direction, turn);
      for (int part = thread; part < nparts_; part += nthreads) body(cut(stage, part), cut(stage, part + 1));
#pragma omp barrier
    }
    for (int part = thread; part < nparts_; part += nthreads) progress_[part].turns.store(turns_before_);
  }

  std::int64_t nrows_, nstages_ = 0;
  int nparts_ = 1;
  Array<Index> rows_;                              // the row in each place
  std::vector<std::int64_t> cut_;                  // nstages x (nparts + 1)
  std::vector<std::int64_t> stretch_;              // where each begins, and the end of the last
  Array<Index> needed_forward_, needed_backward_;  // nstages x nparts x nparts: turns that the last must have done
  mutable std::int64_t turns_before_ = 0;          // turns of all sweeps, the one under way included
  mutable std::vector<Progress> progress_;
  mutable std::vector<std::vector<std::int64_t>> seen_;  // what a part has last seen of the others' progress
};

}  // namespace seidel::symgs_detail
