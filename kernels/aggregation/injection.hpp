// Injection to every second point of a lattice, as HPCG restricts: the coarse point takes the value of the fine one where it
// lies.
#pragma once
#include <seidel/formats/lattice.hpp>
#include <seidel/formats/permute.hpp>
#include <seidel/kernels/aggregation/rows.hpp>

namespace seidel {

namespace aggregation_detail {

template <class Offset, class Space>
struct FillInjection {
  Lattice fine, coarse;
  Span<const Index, Space> fine_place, coarse_order;
  Span<Offset, Space> row_ptr;
  Span<Index, Space> col_idx;
  Span<double, Space> values;
  SEIDEL_HD void operator()(std::int64_t row) const {
    row_ptr[row] = Offset(row);
    if (row == col_idx.size()) return;
    const Index p = coarse_order.empty() ? Index(row) : coarse_order[row];
    const Index i = p % coarse.nx, j = p / coarse.nx % coarse.ny, k = p / coarse.nx / coarse.ny;
    const Index point = (2 * k * fine.ny + 2 * j) * fine.nx + 2 * i;
    col_idx[row] = fine_place.empty() ? point : fine_place[point];
    values[row] = 1;
  }
};

}  // namespace aggregation_detail

/// The matrix that takes the point (2i, 2j, 2k) of `fine` for each point (i, j, k) of its half. The points of either may
/// stand in another order: new_to_old, empty for that of the lattice.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> injection(const B& on, const Lattice& fine, Span<const Index, SpaceOf<B>> fine_order,
                                          Span<const Index, SpaceOf<B>> coarse_order) {
  using Space = SpaceOf<B>;
  const Lattice coarse = fine.halved();
  const std::int64_t n = coarse.points();
  Array<Index, Space> fine_place;
  if (!fine_order.empty()) fine_place = inverse_permutation(on, fine_order, Index(fine.points()));
  auto R = Csr<double, Offset, Space>::uninitialised(on, Index(n), Index(fine.points()), n);
  aggregation_detail::for_each_of(
      on, n + 1,
      aggregation_detail::FillInjection<Offset, Space>{fine, coarse, std::as_const(fine_place).span(), coarse_order,
                                                       R.row_ptr, R.col_idx, R.values});
  return R;
}

}  // namespace seidel
