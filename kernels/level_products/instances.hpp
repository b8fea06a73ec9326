// Everything that runs once per place, named once for all back ends.
#pragma once
#include <seidel/kernels/level_products/level_products.hpp>

namespace seidel::level_detail {

/// Never called: names the functions, so that their code is emitted where this is instantiated.
template <class B, class Offset>
void instances(const B& on, const Offset*) {
  using Space = typename B::Space;
  level_matrix(on, 0, 0, 1, ScaledRows<Offset, Space>{});
  level_matrix(on, 0, 0, 1, CorrectionRows<Offset, Space>{});
  scale_to_unit_diagonal(on, ScaleToUnitDiagonal<Offset, Space>{});
  start_of_level(on, {}, {});
  enter_cycle(on, {}, {}, nullptr, {});
}

}  // namespace seidel::level_detail
