// A level whose rows are of few kinds, as those of a lattice with constant coefficients: what is read of it is one byte per row.
#pragma once
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <seidel/kernels/blas1/blas1.hpp>
#include <seidel/kernels/products/row_kinds.hpp>

namespace seidel::level_detail {

using product_detail::KindEntry;
using product_detail::RowKinds;

/// A^ = S A S without its diagonal, which is in column first + i of row i, where A has few kinds of rows and S is one number; else
/// none. `scale` is that of the columns.
/// Cost  of other matrices, a few rows; else A and the scale once. A GPU is waited for a few times.
template <Backend B, class Offset>
std::optional<RowKinds<float, SpaceOf<B>>> scaled_kinds(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                                                        Index first, Span<const double, SpaceOf<B>> scale) {
  using Space = SpaceOf<B>;
  auto found = product_detail::find_row_kinds(on, A);
  if (!found) return {};
  const auto starts = copied_to<Host>(on, std::as_const(found->first));
  const auto entries = copied_to<Host>(on, std::as_const(found->entries));
  std::vector<Index> start{0};
  std::vector<KindEntry<float>> scaled;
  double diagonal = 0;
  for (Index kind = 0; kind < found->kinds; ++kind) {
    bool has_diagonal = false;
    for (Index k = starts[kind]; k < starts[kind + 1]; ++k)
      if (entries[k].offset == first) {
        if (kind > 0 && entries[k].value != diagonal) return {};
        diagonal = entries[k].value;
        has_diagonal = true;
      }
    if (!has_diagonal) return {};
    const double s = std::sqrt(1 / diagonal);
    for (Index k = starts[kind]; k < starts[kind + 1]; ++k)
      if (entries[k].offset != first) scaled.push_back({float(entries[k].value * (s * s)), entries[k].offset});
    start.push_back(Index(scaled.size()));
  }
  Array<double, Space> difference(on, scale.size());
  fill<B, double>(on, difference.span(), -std::sqrt(1 / diagonal));
  axpy<B, double>(on, 1, scale, difference.span());
  if (max_abs<B, double>(on, std::as_const(difference).span()) != 0) return {};
  return RowKinds<float, Space>{
      .nrows = found->nrows,
      .kinds = found->kinds,
      .entry_count = Index(scaled.size()),
      .kind = std::move(found->kind),
      .first = Array<Index, Space>(on, start),
      .entries = copied_to<Space>(on, HostSpan<const KindEntry<float>>(scaled.data(), std::int64_t(scaled.size())))};
}

}  // namespace seidel::level_detail
