// Matrices of stencils on boxes. Row lengths are known beforehand, so each line of nodes is written to its final place.
#include <seidel/formats/generators/lattice.hpp>

#include <cstdlib>

namespace seidel::generators {

namespace {

/// The part of the stencil inside the box on the line of nodes (., y, z).
struct LineStencil {
  int size = 0, before = 0, after = 0;  // all entries; those with dx = -1 and with dx = 1
  int dx[27];
  std::int64_t offset[27];
  double value[27];

  LineStencil(const Stencil& stencil, std::int64_t line) {
    const Box& box = stencil.box;
    const std::int64_t y = line % box.ny, z = line / box.ny;
    for (const auto& entry : stencil.entries) {
      if (y + entry.dy < 0 || y + entry.dy >= box.ny || z + entry.dz < 0 || z + entry.dz >= box.nz) continue;
      dx[size] = entry.dx;
      offset[size] = (entry.dz * box.ny + entry.dy) * box.nx + entry.dx;
      value[size++] = entry.value;
      before += entry.dx < 0;
      after += entry.dx > 0;
    }
  }
};

}  // namespace

std::int64_t Stencil::nnz() const {
  std::int64_t nnz = 0;
  for (const auto& e : entries)
    nnz += (box.nx - std::abs(e.dx)) * (box.ny - std::abs(e.dy)) * (box.nz - std::abs(e.dz));
  return nnz;
}

Matrix lattice(const OpenMP& on, const Spec& spec, const Stencil& stencil) {
  const Box& box = stencil.box;
  const std::int64_t nlines = box.ny * box.nz;
  Matrix A = room_for(spec, box.size(), box.size(), stencil.nnz(), nlines * 8);
  Array<std::int64_t> line_ptr(nlines + 1);
  for_each_index(on, nlines, 8, [&](std::int64_t line) {
    const LineStencil here(stencil, line);
    line_ptr[line + 1] = box.nx * here.size - here.before - here.after;
  });
  offsets_from_lengths(on, line_ptr);
  for_each_index(on, nlines, box.nx * std::int64_t(stencil.entries.size()), [&](std::int64_t line) {
    const LineStencil here(stencil, line);
    std::int64_t at = line_ptr[line], row = line * box.nx;
    Index* const columns = A.col_idx.data();
    double* const values = A.values.data();
    for (std::int64_t x = 0; x < box.nx; ++x, ++row) {
      const bool inside = x > 0 && x + 1 < box.nx;
      for (int e = 0; e < here.size; ++e) {
        if (!inside && (x + here.dx[e] < 0 || x + here.dx[e] >= box.nx)) continue;
        columns[at] = Index(row + here.offset[e]);
        values[at++] = here.value[e];
      }
      A.row_ptr[row + 1] = at;
    }
  });
  return A;
}

Stencil star(const Box& box, double centre, const std::array<double, 3>& before, const std::array<double, 3>& after) {
  std::vector<StencilEntry> stencil;
  if (box.dimensions > 2) stencil.push_back({0, 0, -1, before[2]});
  stencil.push_back({0, -1, 0, before[1]});
  stencil.push_back({-1, 0, 0, before[0]});
  stencil.push_back({0, 0, 0, centre});
  stencil.push_back({1, 0, 0, after[0]});
  stencil.push_back({0, 1, 0, after[1]});
  if (box.dimensions > 2) stencil.push_back({0, 0, 1, after[2]});
  return {box, std::move(stencil)};
}

}  // namespace seidel::generators
