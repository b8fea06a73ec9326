// Symmetric Gauss-Seidel as preconditioner: one forward and one backward sweep from zero.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/kernels/vector.hpp>

namespace seidel {

enum class Order {
  natural,  // as in the matrix: fewest iterations
  colours,  // rows of one colour at once: more parallel, more iterations
};

}  // namespace seidel
