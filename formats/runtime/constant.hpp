// A number that is known when the program runs, as a constant for the compiler.
#pragma once
#include <type_traits>

namespace seidel {

/// body(std::integral_constant<int, v>()) for the one of `values` that `value` is; nothing if it is none of them.
template <int... values>
void with_constant(int value, const auto& body) {
  ((value == values ? body(std::integral_constant<int, values>()) : void()), ...);
}

}  // namespace seidel
