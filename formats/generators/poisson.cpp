// The Laplacian by second-order differences on a box, zero on the boundary: the model problem of every textbook.
#include <seidel/formats/generators/lattice.hpp>
#include <seidel/formats/generators/list.hpp>

namespace seidel::generators {

namespace {

Matrix make_poisson(const OpenMP& on, const Spec& spec, int dimensions) {
  spec.require_arguments(1, 1);
  const Box box = spec.box(0, dimensions, dimensions);
  return lattice(on, spec, box, star(dimensions, 2 * dimensions, {-1, -1, -1}, {-1, -1, -1}));
}

}  // namespace

constinit const Generator poisson2d{
    "poisson2d", "poisson2d:N or poisson2d:NXxNY", "poisson2d:1000",
    "5-point Laplacian on a rectangle of nodes: 4 on the diagonal, -1 beside it; symmetric positive definite",
    [](const OpenMP& on, const Spec& spec, std::uint64_t) { return make_poisson(on, spec, 2); }};

constinit const Generator poisson3d{
    "poisson3d", "poisson3d:N or poisson3d:NXxNYxNZ", "poisson3d:100",
    "7-point Laplacian on a box of nodes: 6 on the diagonal, -1 beside it; symmetric positive definite",
    [](const OpenMP& on, const Spec& spec, std::uint64_t) { return make_poisson(on, spec, 3); }};

}  // namespace seidel::generators
