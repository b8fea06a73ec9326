// Messages of the errors that build their own.
#include <seidel/formats/errors.hpp>

namespace seidel {

ZeroDiagonal::ZeroDiagonal(std::int64_t row, bool stored)
    : InputError(
          "row " + std::to_string(row + 1) + ": the diagonal entry is " + (stored ? "zero" : "not stored") +
          ", and this method divides by it\n  take a method that does not (--precond none), or reorder the rows"),
      row_(row) {}

}  // namespace seidel
