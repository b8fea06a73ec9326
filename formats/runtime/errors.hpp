// The four things that can go wrong for a caller, and the two that kernels name apart.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace seidel {

/// Everything that the library throws. The message says where, what was found, what was expected and what to do.
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An option or argument that no input could make right (exit code 2).
class UsageError : public Error {
  using Error::Error;
};

/// A matrix, vector or file that is not what it must be (exit code 3).
class InputError : public Error {
  using Error::Error;
};

/// Memory, disk or another resource is not there (exit code 4).
class ResourceError : public Error {
  using Error::Error;
};

/// A back end that was asked for is not available or failed (exit code 5).
class BackendError : public Error {
  using Error::Error;
};

/// Operands whose sizes do not fit each other.
class ShapeError : public InputError {
  using InputError::InputError;
};

/// Something divides by the diagonal, and this entry of it is zero or not stored.
class ZeroDiagonal : public InputError {
 public:
  ZeroDiagonal(std::int64_t row, bool stored);
  std::int64_t row() const { return row_; }  ///< the first such row, counted from 0

 private:
  std::int64_t row_;
};

/// The number of rows. Errors  ShapeError, "<who>: found a 2 x 3 matrix, expected a square one".
std::int64_t require_square(std::int64_t nrows, std::int64_t ncols, const char* who);

}  // namespace seidel
