// The Laplacian by second-order differences on a box, zero on the boundary: the model problem of every textbook.
#include <seidel/formats/generators/lattice.hpp>
#include <seidel/formats/generators/list.hpp>

namespace seidel::generators {

namespace {

Stencil poisson(const Spec& spec, int dimensions) {
  spec.require_arguments(1, 1);
  return star(spec.box(0, dimensions, dimensions), 2 * dimensions, {-1, -1, -1}, {-1, -1, -1});
}

}  // namespace

constinit const Generator poisson2d{
    .name = "poisson2d",
    .grammar = "poisson2d:N or poisson2d:NXxNY",
    .example = "poisson2d:1000",
    .meaning =
        "5-point Laplacian on a rectangle of nodes: 4 on the diagonal, -1 beside it; symmetric positive definite",
    .stencil = [](const Spec& spec) { return poisson(spec, 2); }};

constinit const Generator poisson3d{
    .name = "poisson3d",
    .grammar = "poisson3d:N or poisson3d:NXxNYxNZ",
    .example = "poisson3d:100",
    .meaning = "7-point Laplacian on a box of nodes: 6 on the diagonal, -1 beside it; symmetric positive definite",
    .stencil = [](const Spec& spec) { return poisson(spec, 3); }};

}  // namespace seidel::generators
