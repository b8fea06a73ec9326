// The back end of vectors whose elements several processes share: solvers use them as any others.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include <seidel/formats/runtime/memory.hpp>
#include <seidel/formats/runtime/processes.hpp>

namespace seidel {

/// Elements beside those of a vector, for what products bring from other processes: so they need not copy it.
struct HaloRoom {
  std::int64_t before = 0, after = 0;
};

/// What the vectors of one system share.
struct SharedRows {
  SharedRows(const Processes& processes, RowShares rows) : all(processes), shares(std::move(rows)) {}

  /// The elements here.
  std::int64_t rows() const { return shares.rows(all.rank()); }
  std::int64_t first() const { return shares.first(all.rank()); }

  const Processes& all;
  const RowShares shares;
  /// Asked on process 0 with each sum; what it answers reaches `stop` on all processes with the same sum, so that all stop
  /// after the same iteration: criteria.stop is to be its address.
  std::function<bool()> wants_stop = [] { return false; };
  mutable std::atomic<bool> stop = false;
  mutable HaloRoom room = {};  // of vectors that are made from now on
};

/// The elements of process p are rows shares.first(p) ... of the whole vector, on back end B of that process. Vector::size() is
/// their number. Every process makes the same calls in the same order. Sums and norms are of all elements, have the bits that
/// they have in one process, and wait for all processes: one message from each to each per call.
template <Backend B>
class Distributed {
 public:
  using Space = typename B::Space;

  Distributed(B local, std::shared_ptr<const SharedRows> rows) : local_(std::move(local)), rows_(std::move(rows)) {}

  const B& local() const { return local_; }
  const SharedRows& rows() const { return *rows_; }
  void synchronize() const { local_.synchronize(); }

 private:
  B local_;
  std::shared_ptr<const SharedRows> rows_;
};

template <Backend B>
auto origin_of(const Distributed<B>& on) {
  return origin_of(on.local());
}
template <Backend B>
OpenMP host_of(const Distributed<B>& on) {
  return host_of(on.local());
}

}  // namespace seidel
