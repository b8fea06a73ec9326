// A Prepared whose output is a matrix.
#pragma once
#include <seidel/drivers/bench/rivals/products.hpp>

namespace seidel::drivers {

/// Around transpose(T), which makes T new.
template <class Offset, class Transpose>
Prepared transposed(Transpose transpose, double setup_seconds = 0) {
  const auto T = std::make_shared<Csr<double, Offset>>();
  return {.run = [T, transpose] { transpose(*T); },
          .poison = [T] { *T = {}; },  // no output at all, which no judge takes
          .output = [T](auto& to) { flat(with_offsets<std::int64_t>(OpenMP{}, T->view()), to); },
          .setup_seconds = setup_seconds};
}

}  // namespace seidel::drivers
