// Everything that runs once per place, named once for all back ends.
#pragma once
#include <seidel/kernels/level_products/level_products.hpp>

namespace seidel::level_detail {

/// Never called: names the functions, so that their code is emitted where this is instantiated.
template <class B, class Offset>
void instances(const B& on, const Offset*) {
  using Space = typename B::Space;
  const ScaledRows<Offset, Space> scaled{};
  const CorrectionRows<Offset, Space> corrections{};
  auto M = level_matrix(on, 0, 0, 1, scaled);
  refill(on, scaled, M);
  M = level_matrix(on, 0, 0, 1, corrections);
  refill(on, corrections, M);
  sizes_of_modes(on, scaled.stored, {}, {});
  scale_to_unit_diagonal(on, {});
  start_of_level(on, {}, {});
  enter_cycle(on, Span<const double, Space>{}, {}, nullptr, {});
  leave_cycle(on, {}, {}, {});
  enter_cycle(on, MultiVectorView<const double, Space>{}, {}, nullptr, {});
}

}  // namespace seidel::level_detail
