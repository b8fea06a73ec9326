// Panels of A and B on their way through a grid: the next one comes while the product of this one is computed.
#pragma once
#include <seidel/formats/dense.hpp>
#include <seidel/kernels/gemm/mpi/distributed.hpp>
#include <seidel/formats/mpi/gpu_network.hpp>

namespace seidel {

/// Adds the seconds of its scope to a sum.
class Timer {
 public:
  explicit Timer(double& sum) : sum_(sum), begin_(MPI_Wtime()) {}
  ~Timer() { sum_ += MPI_Wtime() - begin_; }
  Timer(const Timer&) = delete;

 private:
  double& sum_;
  double begin_;
};

/// Elements row by row without gaps.
template <class T, class Space>
DenseView<T, Space> rows_of(Span<T, Space> elements, std::int64_t nrows, std::int64_t ncols) {
  return {nrows, ncols, ncols, Layout::row_major, elements.data()};
}

/// The blocks of k, some at a time. Where a row of the grid has one process, its part of A is used as it lies, and so
/// B where a column has one; else a panel has memory of its own, twice.
template <Backend On, class Real>
class Panels {
 public:
  using Space = typename On::Space;
  /// Columns of A and rows of B.
  struct Panel {
    DenseView<const Real, Space> a, b;
  };

  /// Waits for all processes of the grid.
  Panels(const On& on, const ProcessGrid& grid, const DistributedShape& shape, const DistributedParts& parts);

  /// Begins to bring the panel whose first block of k is `first`; returns the first block behind it. On a GPU no work
  /// may read the panel before the last one any more.
  std::int64_t begin(Span<const Real, Space> A, Span<const Real, Space> B, std::int64_t first, DistributedTimes& times);
  /// Waits for it.
  Panel arrived(DistributedTimes& times);

  /// How they travel.
  std::string describe() const;

 private:
  struct Memory {
    Array<Real, Space> a, b;
  };

  On aside_;  // what brings the panels: on a GPU another stream
  const ProcessGrid& grid_;
  DistributedParts parts_;
  std::unique_ptr<GpuNetwork> network_;
  std::int64_t max_terms_, leading_;  // of a panel; leading dimension of its columns of A
  Memory memory_[2];
  int turn_ = 0;
  Panel panel_{};
  std::vector<Broadcast<Space>> coming_;
};

}  // namespace seidel
