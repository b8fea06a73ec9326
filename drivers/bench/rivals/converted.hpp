// A matrix in a product format, made where a rival of SpMV or SpMM runs.
#pragma once
#include <optional>

#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/kernels/products/formats.hpp>

namespace seidel::drivers {

template <class Made>
struct Converted {
  Made A;
  double seconds;
};

/// Errors  ResourceError where the format refuses the matrix.
template <class Format, class B>
auto converted(const B& on, MatrixOperand& operand) {
  const auto csr = csr_of(on, operand);
  std::optional<decltype(Format::made(on, csr))> made;
  const double seconds = seconds_to_make(on, [&] { made.emplace(Format::made(on, csr)); });
  return Converted<decltype(Format::made(on, csr))>{std::move(*made), seconds};
}

}  // namespace seidel::drivers
