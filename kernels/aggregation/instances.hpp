// Every step of aggregation, named once for all back ends.
#pragma once
#include <seidel/kernels/aggregation/prolongator.hpp>

namespace seidel::aggregation_detail {

/// Never called: names every function of rows, so that its code is emitted where this is instantiated.
template <class B, class Offset>
void instances(const B& on, const Offset*) {
  using Space = SpaceOf<B>;
  const CsrView<double, Offset, Space> A;
  const auto scales = row_scales<B, Offset>(on, A);
  mark_strong<B, Offset>(on, A, scales, 0, {});
  const auto found = aggregates<B, Offset>(on, A, StrongView<Offset, Space>{}, scales, RootSets::two);
  prolongator<B, Offset>(on, A, {}, found, 1);
  fill_start<B, Offset>(on, A.row_ptr, {}, {});
}

}  // namespace seidel::aggregation_detail
