// Dense matrices in a plain binary file.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <type_traits>

#include <seidel/formats/runtime/types.hpp>

namespace seidel {

struct DenseShape {
  std::int64_t nrows = 0, ncols = 0;
};

/// Of the elements: doubles or floats of IEEE 754.
enum class Precision { fp64, fp32 };
template <class Real>
inline constexpr Precision precision_of = std::is_same_v<Real, float> ? Precision::fp32 : Precision::fp64;
inline std::string_view to_string(Precision precision) { return precision == Precision::fp64 ? "fp64" : "fp32"; }

/// The layout, all numbers little-endian:
///
///   bytes 0 ... 47    the text "seidel dense fp64 row-major\n", or with fp32, then zeros
///   bytes 48 ... 63   the numbers of rows and of columns, 64 bits each
///   from byte 64 on   the elements, row by row, without gaps
struct DenseHead {
  DenseShape shape;
  Precision precision = Precision::fp64;

  static constexpr std::int64_t bytes = 64;
  std::int64_t element_bytes() const { return precision == Precision::fp64 ? 8 : 4; }
  /// Of the whole file.
  std::int64_t file_bytes() const { return bytes + element_bytes() * shape.nrows * shape.ncols; }
  /// The first bytes of the file.
  std::array<char, bytes> encoded() const;
};

/// What a file says it holds. Errors  InputError: no such file, another kind of file, or one whose size is not what its
/// head asks for.
DenseHead read_dense_head(const std::string& path);

/// Writes random elements in (-1, 1), the same on every machine, and each the same whatever its neighbours are; those of
/// FP32 are those of FP64, rounded. Errors  ResourceError; the file appears when it is complete.
void write_random_dense(const std::string& path, const DenseHead& head, std::uint64_t seed);

}  // namespace seidel
