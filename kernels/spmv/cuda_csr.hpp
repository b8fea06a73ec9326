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
/// The same with 32 or more per row: 32 rows per warp would leave a GPU idle.
inline constexpr std::int64_t few_entries_of_elements = 1 << 22;
/// With as many, a product that is not prepared judges the rows first, which takes 3 us.
inline constexpr std::int64_t worth_judging = 1 << 23;
/// How a GPU takes a matrix of which only the numbers of rows and entries are known.
enum class UnpreparedWay { thread_per_row, shares, staged, staged_if_regular };
constexpr UnpreparedWay unprepared_way(std::int64_t nrows, std::int64_t nnz) {
  const RowClass rows = row_class(nrows, nnz);
  if (rows == RowClass::graph) return UnpreparedWay::shares;
  if (nnz >= worth_judging) return UnpreparedWay::staged_if_regular;
  if (nnz >= few_entries && rows != RowClass::element) return UnpreparedWay::staged;
  return nnz < 2 * nrows ? UnpreparedWay::thread_per_row : UnpreparedWay::shares;
}
/// For a report.
constexpr std::string_view described_unprepared(std::int64_t nrows, std::int64_t nnz) {
  switch (unprepared_way(nrows, nnz)) {
    case UnpreparedWay::thread_per_row: return "a thread per row";
    case UnpreparedWay::shares: return "a warp for each share of the entries, whatever rows they are in";
    case UnpreparedWay::staged:
    case UnpreparedWay::staged_if_regular: break;
  }
  switch (row_class(nrows, nnz)) {
    case RowClass::lattice: return "a thread per row, the entries of 32 rows at once by way of shared memory";
    case RowClass::graph: return "a thread per row, some hundred entries at a time by way of shared memory";
    case RowClass::wide: return "a thread per row, entries brought to shared memory by the copy engine";
    case RowClass::element: break;
  }
  return "8 threads per row of 65 to 256 entries, entries brought to shared memory by the copy engine";
}
/// By how much the lengths of neighbouring rows may differ, summed over all rows, until these count as uneven: two entries per row or
/// half of the mean length, an eighth of it where that is 32 or more.
constexpr std::int64_t max_even_variation(std::int64_t nrows, std::int64_t nnz) {
  const std::int64_t share = row_class(nrows, nnz) == RowClass::element ? 8 : 2;
  return std::max(nnz / share, 2 * nrows);
}
constexpr bool is_uneven(const RowSurvey& rows, std::int64_t nrows, std::int64_t nnz) {
  return rows.variation > std::uint64_t(max_even_variation(nrows, nnz));
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

/// Whether the long rows have been listed, or there is room for them and the product lists them as it meets them, from counts of 0.
enum class Listing { done, by_product };

/// A product that is launched before it is known on the host whether its way suits the rows: without `irregular` it is done in any
/// case.
struct OnlyIf {
  const bool* irregular = nullptr;  // in device memory
  bool wanted = false;

  SEIDEL_HD bool holds() const { return irregular == nullptr || *irregular == wanted; }
};
/// Judges by 1024 pairs of neighbours whether the rows are irregular: uneven in length, or, where they have 24 entries or more on
/// average, with columns far from those of the row before. Clears the counts of `to_list`. Waits for nothing.
template <class Real, class Offset>
[[gnu::used]] void look_at_rows(const Cuda& on, const CsrView<Real, Offset, Device>& A, const LongRowsView& to_list,
                                bool* irregular);

/// store(row, sum of the row's products with x) for each row. Allocates nothing but scratch memory; waits for nothing.
template <class Real, class Offset, class Store>
[[gnu::used]] void csr_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const LongRowsView& long_rows,
                               Listing listing, const Real* x, const Store& store, OnlyIf only = {});

}  // namespace seidel::spmv_detail
