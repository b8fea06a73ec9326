// Products with a CSR matrix on a GPU whose long rows are listed.
#pragma once
#include <string_view>

#include <seidel/kernels/spmv/long_rows.hpp>
#include <seidel/kernels/spmv/row.hpp>

namespace seidel::spmv_detail {

/// How a GPU takes the rows of a matrix, by their mean length.
enum class RowClass { lattice, graph, wide, element };
constexpr RowClass row_class(std::int64_t nrows, std::int64_t nnz) {
  const double mean = double(nnz) / double(nrows);
  return mean < 10 ? RowClass::lattice : mean < 24 ? RowClass::graph : mean < 32 ? RowClass::wide : RowClass::element;
}
/// A matrix with fewer entries is small: there one long row could cost more than all others.
inline constexpr std::int64_t few_entries = 1 << 20;
/// The same with 32 or more per row: 32 rows per warp would leave a GPU idle; the second where nobody has looked at the lengths.
inline constexpr std::int64_t few_entries_of_elements = 1 << 22, few_entries_unprepared = 1 << 23;
/// How a GPU takes a matrix of which only the numbers of rows and entries are known.
enum class UnpreparedWay { thread_per_row, shares, staged };
constexpr UnpreparedWay unprepared_way(std::int64_t nrows, std::int64_t nnz) {
  const RowClass rows = row_class(nrows, nnz);
  if (rows == RowClass::graph) return UnpreparedWay::shares;
  if (nnz >= (rows == RowClass::element ? few_entries_unprepared : few_entries)) return UnpreparedWay::staged;
  return nnz < 2 * nrows ? UnpreparedWay::thread_per_row : UnpreparedWay::shares;
}
/// For a report.
constexpr std::string_view described_unprepared(std::int64_t nrows, std::int64_t nnz) {
  switch (unprepared_way(nrows, nnz)) {
    case UnpreparedWay::thread_per_row: return "a thread per row";
    case UnpreparedWay::shares: return "a warp for each share of the entries, whatever rows they are in";
    case UnpreparedWay::staged: break;
  }
  switch (row_class(nrows, nnz)) {
    case RowClass::lattice: return "a thread per row, the entries of 32 rows at once by way of shared memory";
    case RowClass::graph: return "a thread per row, some hundred entries at a time by way of shared memory";
    case RowClass::wide: return "a thread per row, entries brought to shared memory by the copy engine";
    case RowClass::element: break;
  }
  return "8 threads per row of 65 to 256 entries, entries brought to shared memory by the copy engine";
}
/// Whether neighbouring rows differ in length, on average, by more than two entries and by more than half of the mean length, or
/// an eighth of it where that is 32 or more.
constexpr bool is_uneven(const RowSurvey& rows, std::int64_t nrows, std::int64_t nnz) {
  const std::int64_t share = row_class(nrows, nnz) == RowClass::element ? 8 : 2;
  return rows.variation > std::uint64_t(std::max(nnz / share, 2 * nrows));
}
/// Whether tiles (tiles.hpp) are faster than 32 rows per warp.
constexpr bool tiles_pay(const RowSurvey& rows, std::int64_t nrows, std::int64_t nnz) {
  if (row_class(nrows, nnz) == RowClass::element) return nnz < few_entries_of_elements || is_uneven(rows, nrows, nnz);
  return nnz < few_entries ? rows.long_rows.pieces() > 0 : is_uneven(rows, nrows, nnz);
}
/// Rows of up to so many entries are never listed by csr_product.
constexpr int longest_unlisted_row(std::int64_t nrows, std::int64_t nnz) {
  return row_class(nrows, nnz) == RowClass::element ? moderate_row : short_sum;
}

/// Whether the long rows have been listed, or there is room for them and the product lists them as it meets them.
enum class Listing { done, by_product };

/// store(row, sum of the row's products with x) for each row. Allocates nothing but scratch memory; waits for nothing.
template <class Real, class Offset, class Store>
[[gnu::used]] void csr_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const LongRowsView& long_rows,
                               Listing listing, const Real* x, const Store& store);

}  // namespace seidel::spmv_detail
