// Near-null vectors: what A maps to nearly nothing, and what an aggregate must be able to represent.
#pragma once
#include <algorithm>
#include <array>
#include <string>

#include <seidel/formats/multivector.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel {

/// The rigid-body modes of points: of an elastic body without supports these movements cost no energy. In two dimensions
/// translations along x, y and the rotation (-y, x); in three translations along x, y, z and the rotations (-y, x, 0),
/// (0, -z, y), (z, 0, -x), about the middle of the smallest box with sides along the axes that holds all points.
///
/// Shapes  coordinates: n x 2 or n x 3; the result, column-major: 2 n x 3 or 3 n x 6, the unknowns of a point together.
/// Errors  ShapeError.
inline MultiVector<double> rigid_body_modes(const MultiVectorView<const double, Host>& coordinates) {
  const std::int64_t points = coordinates.nrows, dimensions = coordinates.ncols;
  if (dimensions != 2 && dimensions != 3)
    throw ShapeError("rigid_body_modes: found coordinates in " + std::to_string(dimensions) +
                     " dimensions, expected 2 or 3");
  std::array<double, 3> middle = {};
  for (std::int64_t c = 0; c < dimensions && points > 0; ++c) {
    double lowest = coordinates(0, c), highest = lowest;
    for (std::int64_t i = 1; i < points; ++i) {
      lowest = std::min(lowest, coordinates(i, c));
      highest = std::max(highest, coordinates(i, c));
    }
    middle[c] = lowest / 2 + highest / 2;
  }
  MultiVector<double> modes(dimensions * points, dimensions == 2 ? 3 : 6, Layout::column_major);
  const auto B = modes.view();
  for (std::int64_t i = 0; i < points; ++i) {
    for (std::int64_t d = 0; d < dimensions; ++d)
      for (std::int64_t c = 0; c < B.ncols; ++c) B(dimensions * i + d, c) = d == c ? 1 : 0;
    const auto at = [&](std::int64_t c) { return coordinates(i, c) - middle[c]; };
    for (std::int64_t r = dimensions; r < B.ncols; ++r) {
      const std::int64_t a = r - dimensions, b = (a + 1) % dimensions;  // the plane in which it turns
      B(dimensions * i + a, r) = -at(b);
      B(dimensions * i + b, r) = at(a);
    }
  }
  return modes;
}

}  // namespace seidel
