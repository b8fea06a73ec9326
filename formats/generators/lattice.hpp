// Matrices of stencils on boxes, nodes in natural order, x fastest.
#pragma once
#include <seidel/formats/generators/spec.hpp>

namespace seidel::generators {

/// The coefficient of the neighbour at (dx, dy, dz), each -1, 0 or 1.
struct StencilEntry {
  int dx, dy, dz;
  double value;
};

/// One row per node; neighbours outside the box are left out (they are known to be zero). The stencil ascends in dz, dy,
/// dx.
Matrix lattice(const OpenMP& on, const Spec& spec, const Box& box, const std::vector<StencilEntry>& stencil);

/// Star of a box of two or three dimensions: `centre`, and what the neighbours before and after it in x, y, z have.
std::vector<StencilEntry> star(int dimensions, double centre, const std::array<double, 3>& before,
                               const std::array<double, 3>& after);

}  // namespace seidel::generators
