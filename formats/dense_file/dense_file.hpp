// Dense matrices of doubles in a plain binary file.
#pragma once
#include <array>
#include <string>

#include <seidel/formats/runtime/types.hpp>

namespace seidel {

/// The layout, all numbers little-endian:
///
///   bytes 0 ... 47    the text "seidel dense fp64 row-major\n", then zeros
///   bytes 48 ... 63   the numbers of rows and of columns, 64 bits each
///   from byte 64 on   the elements as doubles of IEEE 754, row by row, without gaps
struct DenseShape {
  std::int64_t nrows = 0, ncols = 0;
};
inline constexpr std::int64_t dense_head_bytes = 64;

/// The first bytes of a file of that shape.
std::array<char, dense_head_bytes> dense_head(DenseShape shape);

/// The shape that a file says it has. Errors  InputError: no such file, another kind of file, or one whose size is not
/// what its shape asks for.
DenseShape read_dense_head(const std::string& path);

/// Writes random elements in (-1, 1), the same on every machine, and each the same whatever its neighbours are.
/// Errors  ResourceError; the file appears when it is complete.
void write_random_dense(const std::string& path, DenseShape shape, std::uint64_t seed);

}  // namespace seidel
