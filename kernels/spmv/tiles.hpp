// Tiles of a CSR matrix: shares of its rows that cost a warp of a GPU about the same, however uneven the rows are.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/sum.hpp>

namespace seidel::spmv_detail {

/// A row costs as much as its entries and 4 more; one of more than 2048 entries is cut into pieces of 2048. Tile t has the rows and
/// the pieces before which all others cost 512 t to 512 t + 511 together; there may be none.
struct TilesView {
  static constexpr int cost = 512, cost_of_row = 4;
  Index count = 0;
  Index* first_rows = nullptr;  // count + 1 entries, the last is nrows
  /// For each cut row, at its first entry / 2048, how many pieces are done; 0 between products.
  Index* arrivals = nullptr;
  Index narrivals = 0;

  static Index count_of(std::int64_t nrows, std::int64_t nnz) { return Index((nnz + cost_of_row * nrows) / cost + 1); }
  static Index arrivals_of(std::int64_t nnz) { return Index(nnz / sum_block + 1); }
};

/// Finds the first rows and clears the arrivals. Reads the row pointers; waits for nothing.
template <class Offset>
[[gnu::used]] void find_tiles(const Cuda& on, DeviceSpan<const Offset> row_ptr, const TilesView& to);

/// The tiles for products to come.
struct Tiles {
  Array<Index, Device> first_rows, arrivals;
  TilesView view;  // of both

  template <class Offset>
  static Tiles of(const Cuda& on, DeviceSpan<const Offset> row_ptr, std::int64_t nnz) {
    const Index count = TilesView::count_of(row_ptr.size() - 1, nnz), narrivals = TilesView::arrivals_of(nnz);
    Array<Index, Device> first_rows(on, count + std::int64_t(1)), arrivals(on, narrivals);
    const TilesView view{
        .count = count, .first_rows = first_rows.data(), .arrivals = arrivals.data(), .narrivals = narrivals};
    find_tiles(on, row_ptr, view);
    return {.first_rows = std::move(first_rows), .arrivals = std::move(arrivals), .view = view};
  }
  bool empty() const { return first_rows.empty(); }
  std::int64_t bytes() const { return (first_rows.size() + arrivals.size()) * std::int64_t(sizeof(Index)); }
  static std::int64_t bytes_of(std::int64_t nrows, std::int64_t nnz) {
    return (TilesView::count_of(nrows, nnz) + 1 + TilesView::arrivals_of(nnz)) * std::int64_t(sizeof(Index));
  }
};

/// store(row, sum of the row's products with x) for each row. Allocates nothing but scratch memory; waits for nothing.
template <class Real, class Offset, class Store>
[[gnu::used]] void tiles_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const TilesView& tiles,
                                 const Real* x, const Store& store);

}  // namespace seidel::spmv_detail
