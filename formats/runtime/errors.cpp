// Messages of the errors that build their own.
#include <seidel/formats/runtime/errors.hpp>

namespace seidel {

ZeroDiagonal::ZeroDiagonal(std::int64_t row, bool stored)
    : InputError(
          "row " + std::to_string(row + 1) + ": the diagonal entry is " + (stored ? "zero" : "not stored") +
          ", and the preconditioner divides by it\n  take a preconditioner that does not, or none, or reorder the rows"),
      row_(row) {}

std::int64_t require_square(std::int64_t nrows, std::int64_t ncols, const char* who) {
  if (nrows == ncols) return nrows;
  throw ShapeError(std::string(who) + ": found a " + std::to_string(nrows) + " x " + std::to_string(ncols) +
                   " matrix, expected a square one");
}

}  // namespace seidel
