// The product by kinds of rows on the host, for whatever is done with its elements.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/products/row_kinds.hpp>
#include <seidel/kernels/spmm/row.hpp>

namespace seidel::product_detail {

/// Elements first ... last - 1 of a product with k vectors side by side, all of rows of one kind: W at a time, whose factors
/// are neighbours too, and where fewer are left the last W, of which those are stored that are not yet.
template <int W, class Real, class Store>
void elements_of_kind(std::int64_t first, std::int64_t last, const KindEntry<Real>* entries,
                      const KindEntry<Real>* entries_end, std::int64_t k, const Real* x, const Store& store) {
  if constexpr (W > 1)
    if (last - first < W) return elements_of_kind<W / 2>(first, last, entries, entries_end, k, x, store);
  for (std::int64_t next = first; next < last; next += W) {
    const std::int64_t at = std::min(next, last - W);
    Columns<Real, W> s{};
    for (const KindEntry<Real>* entry = entries; entry < entries_end; ++entry) {
      const Real* const factors = x + (at + entry->offset * k);
      const Real value = entry->value;
      for (int j = 0; j < W; ++j) s.at[j] = std::fma(value, factors[j], s.at[j]);
    }
    if (at == next)
      for (int j = 0; j < W; ++j) store(at + j, s.at[j]);
    else
      for (std::int64_t j = next - at; j < W; ++j) store(at + j, s.at[j]);
  }
}

/// The first row after `row` that is of another kind, or `last`.
inline std::int64_t end_of_run(const std::uint8_t* kind, std::int64_t row, std::int64_t last) {
  std::uint64_t all, these;
  std::memset(&all, kind[row], sizeof all);
  for (; row + std::int64_t(sizeof these) <= last; row += sizeof these) {
    std::memcpy(&these, kind + row, sizeof these);
    if (these != all) break;
  }
  const std::uint8_t wanted = std::uint8_t(all);
  while (row < last && kind[row] == wanted) ++row;
  return row;
}

/// Rows first ... last - 1 of a product with k vectors side by side.
template <class Real, class Store>
void rows_of_kinds(const RowKinds<Real, Host>& A, std::int64_t first, std::int64_t last, std::int64_t k, const Real* x,
                   const Store& store) {
  const KindEntry<Real>* const entries = A.entries.data();
  for (std::int64_t row = first; row < last;) {
    const Index* const range = A.first.data() + A.kind[row];
    const std::int64_t end = end_of_run(A.kind.data(), row, last);
    elements_of_kind<16>(row * k, end * k, entries + range[0], entries + range[1], k, x, store);
    row = end;
  }
}
/// store(element, sum) for each element of a product with k vectors side by side.
template <class Real, class Store>
void each_element(const OpenMP& on, const RowKinds<Real, Host>& A, std::int64_t k, const Real* x, const Store& store) {
  parallel_for(on, A.nrows, [&](std::int64_t first, std::int64_t last) { rows_of_kinds(A, first, last, k, x, store); });
}

}  // namespace seidel::product_detail
