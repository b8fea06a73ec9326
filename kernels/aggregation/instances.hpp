// Every step of aggregation, named once for all back ends.
#pragma once
#include <seidel/kernels/aggregation/classical.hpp>
#include <seidel/kernels/aggregation/lattice.hpp>
#include <seidel/kernels/aggregation/lone.hpp>
#include <seidel/kernels/aggregation/nodes.hpp>
#include <seidel/kernels/aggregation/prolongator.hpp>
#include <seidel/kernels/aggregation/tentative.hpp>

namespace seidel::aggregation_detail {

/// Never called: names every function of rows, so that its code is emitted where this is instantiated.
template <class B, class Offset>
void instances(const B& on, const Offset*) {
  using Space = SpaceOf<B>;
  const CsrView<double, Offset, Space> A;
  const auto scales = row_scales<B, Offset>(on, A);
  symmetric_part<B, Offset>(on, A);
  mark_strong<B, Offset>(on, A, scales, Strength::to_both, 0, {});
  auto found = aggregates<B, Offset>(on, A, StrongView<Offset, Space>{}, scales, RootSets::two);
  join_lone<B, Offset>(on, A, scales, 0, {}, found);
  auto smooth = prolongator<B, Offset>(on, A, {}, found, 1);
  update_prolongator<B, Offset>(on, A, entries_of_prolongator<B, Offset>(on, A, {}, {}, smooth), 1, smooth);
  auto P = classical_interpolation<B, Offset>(on, A, {}, coarse_rows<B, Offset>(on, {}, scales));
  update_classical<B, Offset>(on, A, {}, {}, P);
  interpolation<B, Offset>(on, A, {}, halved<B, Offset>(on, A, {}));
  injection<B, Offset>(on, {}, {}, {});
  packed_strong<B>(on, {});
  fill_start<B, Offset>(on, A.row_ptr, {}, {});
  node_matrix<B, Offset>(on, A, unknowns_per_node<B, Offset>(on, A), Blocks::any);
  unknowns_by_translations<B, Offset>(on, A);
  const auto modes = translations<B, Offset>(on, A, 1);
  auto T = tentative<B, Offset>(on, A, {}, found.of_row, found.count, 1, modes.view()).T;
  smoothed<B, Offset>(on, A, {}, 1, T.view());
  complete_coarse<B, Offset>(on, T.view(), T.values, 1);
}

}  // namespace seidel::aggregation_detail
