// A matrix in a product format, made where a rival of SpMV or SpMM runs.
#pragma once
#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/kernels/products/formats.hpp>

namespace seidel::drivers {

/// Errors  ResourceError where the format refuses the matrix.
template <class Format, class B>
struct Converted {
  CsrView<double, std::int32_t, SpaceOf<B>> csr;
  decltype(Format::made(std::declval<const B&>(), csr)) A;
  double seconds = 0;

  Converted(const B& on, MatrixOperand& operand) : csr(csr_of(on, operand)) {
    seconds = seconds_of([&] {
      A = Format::made(on, csr);
      if constexpr (!HostBackend<B>) on.synchronize();
    });
  }
};

}  // namespace seidel::drivers
