// Matrices of stencils on boxes, nodes in natural order, x fastest.
#pragma once
#include <seidel/formats/generators/spec.hpp>

namespace seidel::generators {

/// The coefficient of the neighbour at (dx, dy, dz), each -1, 0 or 1.
struct StencilEntry {
  int dx, dy, dz;
  double value;
};

/// A matrix with one row per node of a box; neighbours outside are left out (they are known to be zero).
struct Stencil {
  Box box;
  std::vector<StencilEntry> entries;  // ascending in dz, dy, dx

  std::int64_t nnz() const;
};
Matrix lattice(const OpenMP& on, const Spec& spec, const Stencil& stencil);
/// The same bits in device memory, made there. Does not wait. Errors  ResourceError if Offset cannot count the entries.
template <class Offset>
Csr<double, Offset, Device> lattice(const Cuda& on, const Spec& spec, const Stencil& stencil);

/// Star of a box of two or three dimensions: `centre`, and what the neighbours before and after it in x, y, z have.
Stencil star(const Box& box, double centre, const std::array<double, 3>& before, const std::array<double, 3>& after);

}  // namespace seidel::generators
