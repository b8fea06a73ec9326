// The hubs of a CSR matrix, columns that many entries are in: a GPU keeps their elements of x in shared memory during a product.
#pragma once
#include <optional>

#include <seidel/kernels/spmv/tiles.hpp>

namespace seidel::spmv_detail {

/// In graphs whose degrees follow a power law a few thousand columns have half of the entries. There the L2 cache limits a product:
/// it answers only so many requests for elements of x at a time.
struct Hubs {
  Array<Index, Device> hubs;     // columns, ascending
  Array<Index, Device> columns;  // of each entry of A its column, or ~k if that is hubs[k]

  // Measured on an H200; docs/notes/products.md has the tables.
  static constexpr int room_bytes = 96 << 10;            // of shared memory, for their elements of x
  static constexpr double least_share = 1. / 3;          // of the entries; random columns lose
  static constexpr std::int64_t many_entries = 6 << 20;  // fewer do not pay for what each block brings to shared memory

  std::int64_t bytes() const { return (hubs.size() + columns.size()) * std::int64_t(sizeof(Index)); }
  /// Whether to look for hubs. Not where columns have less than three entries on average: the search would cost more than hubs
  /// save. `variation` sums how much neighbouring rows differ in length; it must exceed half of the entries.
  static bool may_pay(std::int64_t ncols, std::int64_t nnz, std::uint64_t variation) {
    return nnz >= many_entries && ncols <= nnz / 3 && variation > std::uint64_t(nnz) / 2;
  }
  /// Whether rows whose lengths have this mean and variance can differ so much: by two standard deviations on average, at most.
  static bool rows_allow(double mean, double variance) { return 4 * 4 * variance >= mean * mean; }
  template <class Real>
  static constexpr std::int64_t max_hubs = room_bytes / std::int64_t(sizeof(Real));
  /// The most that find_hubs() takes while it looks.
  template <class Real>
  static std::int64_t max_bytes(std::int64_t nnz) {
    return nnz < many_entries ? 0 : (nnz + nnz / 3 + max_hubs<Real>)*std::int64_t(sizeof(Index));
  }
};

/// The columns with the most entries, at most `room`; none if they seem to have less than `least_share` of all entries, or the GPU
/// has too little shared memory.
/// Cost    reads every eighth column index, and sorts the columns by how often they were met, in 16 bytes per column; where there
///         are hubs, reads all indices. Waits.
template <class Real>
[[gnu::used]] std::optional<Hubs> find_hubs(const Cuda& on, std::int64_t ncols, DeviceSpan<const Index> col_idx,
                                            std::int64_t room = Hubs::max_hubs<Real>,
                                            double least_share = Hubs::least_share);

/// As tiles_product.
template <class Real, class Offset, class Store>
[[gnu::used]] void hubs_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Hubs& hubs,
                                const TilesView& tiles, const Real* x, const Store& store);

}  // namespace seidel::spmv_detail
