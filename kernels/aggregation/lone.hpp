// Rows that no coupling is strong for, and that their diagonal does not dominate: they join an aggregate beside them.
//
// Such a row is measured by its own largest coupling alone: entry (i, j) is strong where c_ij >= theta m_i and j is in an
// aggregate. Where these make up half of the diagonal, and half of all that is beside it, i joins the aggregate to which their
// sum is largest, and P smooths row i along them. Otherwise a coarse correction would leave row i as it was, although the
// smooth error is nearly the same there as around it: the islands of a jumping coefficient, each once it has shrunk to a row,
// would be missing from the coarser levels.
#pragma once
#include <seidel/kernels/aggregation/aggregates.hpp>

namespace seidel {

namespace aggregation_detail {

template <class Offset, class Space>
struct MarkOwnCouplings {
  CsrView<double, Offset, Space> A;
  Span<const double, Space> inverse_diagonal, largest_coupling, off_diagonal;
  double theta;
  Span<const Index, Space> of_row;  // before any joins
  Span<Index, Space> neighbour;

  SEIDEL_HD void operator()(Index i) const {
    if (of_row[i] != in_no_aggregate || off_diagonal[i] < dominated_below) return;
    const double least = theta * largest_coupling[i], sign = inverse_diagonal[i] > 0 ? -1 : 1;
    const auto is_own = [&](Offset k) {
      const double coupling = sign * A.values[k];
      return A.col_idx[k] != i && coupling > 0 && coupling >= least && of_row[A.col_idx[k]] >= 0;
    };
    double sum = 0;
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (is_own(k)) sum += A.values[k] * inverse_diagonal[i];
    if (std::fabs(sum) < 0.5 * std::fmax(1, off_diagonal[i])) return;
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (is_own(k)) neighbour[k] = A.col_idx[k];
  }
};

}  // namespace aggregation_detail

/// Lets the rows that are `found.lone` join, and counts again. `scales` and `neighbour` are those that `found` was made of; on
/// return the couplings of these rows along which they joined are strong as well, in their own rows only.
///
/// Cost    nothing where no row is lone; else reads A once and the graph once, and 4 bytes per row; the host waits twice.
template <Backend B, class Offset>
void join_lone(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A, const RowScales<SpaceOf<B>>& scales,
               double theta, Span<Index, SpaceOf<B>> neighbour, Aggregates<SpaceOf<B>>& found) {
  using namespace aggregation_detail;
  using Space = SpaceOf<B>;
  if (found.lone == 0) return;
  const auto before = copied_to<Space>(on, Span<const Index, Space>(found.of_row));
  for_each_row(on, A.row_ptr,
               MarkOwnCouplings<Offset, Space>{A, scales.inverse_diagonal, scales.largest_coupling, scales.off_diagonal,
                                               theta, before, neighbour});
  for_each_row(on, A.row_ptr, JoinStrongest<Offset, Space>{{A.row_ptr, neighbour}, A.values, before, found.of_row});
  Array<std::int32_t, Space> scratch(on, A.nrows + 1);
  count_lone(on, A.row_ptr, scales, scratch.span(), found);
}

}  // namespace seidel
