// Processes that share the rows of a system, as kernels and solvers see them. MPI stands behind it in formats/mpi/; so the library
// needs none.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// Rows 0 ... n-1 dealt out: process p has rows first(p) ... first(p + 1) - 1.
class RowShares {
 public:
  /// Shares of whole units but for the last one, as many rows each as a power of two of the blocks in which sums are taken
  /// (kernels/sum.hpp): so the sum of a unit is a subtree of the fixed tree, and all sums have the bits that they have in one
  /// process. Firsts are multiples of `nodes` units, for nodes of so many rows. Shares differ by a 32nd part where n is large;
  /// where n is small, the last processes may have no rows.
  RowShares(std::int64_t n, int processes, int nodes = 1);
  /// So many rows each. Sums have bits of their own.
  explicit RowShares(const std::vector<std::int64_t>& counts);

  std::int64_t n() const { return first_.back(); }
  std::int64_t unit() const { return unit_; }
  std::int64_t first(int process) const { return first_[std::size_t(process)]; }
  std::int64_t rows(int process) const { return first(process + 1) - first(process); }
  /// The rows of each process.
  std::vector<std::int64_t> counts() const;
  std::int64_t units(int process) const { return (rows(process) + unit_ - 1) / unit_; }
  int owner(std::int64_t row) const;

 private:
  std::int64_t unit_;
  std::vector<std::int64_t> first_;  // and n
};

/// Each member but the first two is called by all processes at the same time, and waits for those that it concerns.
class Processes {
 public:
  virtual ~Processes() = default;
  virtual int rank() const = 0;  // of this one
  virtual int size() const = 0;

  /// all = the numbers of process 0, then those of process 1, ...; process p has counts[p] of them.
  virtual void gather(HostSpan<const double> mine, const std::vector<int>& counts, double* all) const = 0;
  /// Sends out[p] to process p, which expects as many bytes, and receives in[p] from there.
  virtual void exchange(const std::vector<HostSpan<const std::byte>>& out,
                        const std::vector<HostSpan<std::byte>>& in) const = 0;
  /// The same between GPUs, without the host, in the order of the stream; does not wait. False, and nothing is done, where there is
  /// no such way.
  virtual bool exchange_on(const Cuda&, const std::vector<DeviceSpan<const std::byte>>&,
                           const std::vector<DeviceSpan<std::byte>>&) const {
    return false;
  }

  /// Whether the last error was thrown on all of them by together().
  mutable bool agreed_on_error = false;
};

namespace processes_detail {
/// The pieces of an array, one after the other, as bytes.
template <class Byte, MemorySpace Space = Host, class T>
std::vector<Span<Byte, Space>> pieces(T* data, const std::vector<std::int64_t>& counts) {
  std::vector<Span<Byte, Space>> cut;
  for (const std::int64_t count : counts) {
    cut.emplace_back(reinterpret_cast<Byte*>(data), count * std::int64_t(sizeof(T)));
    data += count;
  }
  return cut;
}
}  // namespace processes_detail

/// The same for elements that stand one after the other: out_counts[p] for process p, in_counts[p] from there.
template <class T>
void exchange(const Processes& all, const T* out, const std::vector<std::int64_t>& out_counts, T* in,
              const std::vector<std::int64_t>& in_counts) {
  all.exchange(processes_detail::pieces<const std::byte>(out, out_counts),
               processes_detail::pieces<std::byte>(in, in_counts));
}

/// A number of process `root`, on all of them.
double told(const Processes& all, double value, int root = 0);
/// A text of process `root`, on all of them.
std::string told(const Processes& all, const std::string& text, int root = 0);

/// Runs work() on every process. If it throws on one of them, then the error of the first such process is thrown on all, so that
/// none waits for the others. Waits for all of them.
void together(const Processes& all, const std::function<void()>& work);

}  // namespace seidel
