// The analysis behind a sweep by several threads.
#include <seidel/kernels/symgs/schedule.hpp>

namespace seidel::symgs_detail {

namespace {

/// Rows and entries of a wavefront that pay for a thread's part in it.
constexpr std::int64_t worth_a_part = 2048;

/// value = max(value, least), while others do the same.
void raise(Index& value, Index least) {
  const std::atomic_ref<Index> shared(value);
  Index known = shared.load(std::memory_order_relaxed);
  while (known < least && !shared.compare_exchange_weak(known, least, std::memory_order_relaxed)) {}
}

}  // namespace

Schedule::Schedule(std::int64_t nrows) : nrows_(nrows) {}

template <class Offset>
Schedule::Schedule(const OpenMP& on, HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx,
                   const Wavefronts& found)
    : nrows_(found.rows.size()), nparts_(on.threads), progress_(on.threads), seen_(on.threads) {
  Array<std::int64_t> work(nrows_ + 1);  // before each place
  work[0] = 0;
  for (std::int64_t p = 0; p < nrows_; ++p)
    work[p + 1] = work[p] + 1 + row_ptr[found.rows[p] + 1] - row_ptr[found.rows[p]];

  bool last_shared = true, any_shared = false;
  for (std::int64_t w = 0; w < found.count(); ++w) {
    const std::int64_t first = found.start[w], last = found.start[w + 1];
    const bool shared = work[last] - work[first] >= worth_a_part * nparts_;
    any_shared |= shared;
    if (!shared && !last_shared) {  // goes on with the stage of the wavefront before, all of it part 0
      std::fill(cut_.end() - nparts_, cut_.end(), last);
      continue;
    }
    last_shared = shared;
    ++nstages_;
    cut_.push_back(first);
    for (int part = 1; part < nparts_; ++part) {
      const std::int64_t target = work[first] + even_share(work[last] - work[first], part, nparts_).first;
      cut_.push_back(shared ? std::lower_bound(work.data() + first, work.data() + last, target) - work.data() : last);
    }
    cut_.push_back(last);
  }
  if (!any_shared) {
    *this = Schedule(nrows_);
    return;
  }

  struct Task {
    Index stage, part;
  };
  Array<Task> task(nrows_);  // by row
  parallel_parts(on, [&](int mine, int nmine) {
    for (std::int64_t s = even_share(nstages_, mine, nmine).first; s < even_share(nstages_, mine, nmine).last; ++s)
      for (int part = 0; part < nparts_; ++part)
        for (std::int64_t p = cut(s, part); p < cut(s, part + 1); ++p) task[found.rows[p]] = {Index(s), part};
  });
  const std::int64_t ntasks = nstages_ * nparts_;
  needed_forward_ = Array<Index>(ntasks * nparts_, 0);
  needed_backward_ = Array<Index>(ntasks * nparts_, 0);
  parallel_for_rows(on, row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        const Task one = task[i], other = task[col_idx[k]];
        if (one.part == other.part) continue;
        // The later row waits for the earlier one: to read it, or not to overwrite what it reads. Backward the other
        // way round.
        const auto [early, late] = one.stage < other.stage ? std::pair(one, other) : std::pair(other, one);
        raise(needed_forward_[(std::int64_t(late.stage) * nparts_ + late.part) * nparts_ + early.part],
              early.stage + 1);
        raise(needed_backward_[(std::int64_t(early.stage) * nparts_ + early.part) * nparts_ + late.part],
              Index(nstages_ - late.stage));
      }
  });
  for (auto& seen : seen_) seen.assign(nparts_, 0);
}

std::int64_t Schedule::bytes() const {
  return std::int64_t(cut_.size() * sizeof(std::int64_t)) +
         (needed_forward_.size() + needed_backward_.size()) * std::int64_t(sizeof(Index));
}

template Schedule::Schedule(const OpenMP&, HostSpan<const std::int32_t>, HostSpan<const Index>, const Wavefronts&);
template Schedule::Schedule(const OpenMP&, HostSpan<const std::int64_t>, HostSpan<const Index>, const Wavefronts&);

}  // namespace seidel::symgs_detail
