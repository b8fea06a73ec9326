// Diffusion with different coefficients per direction: -(cx u_xx + cy u_yy + cz u_zz), zero on the boundary.
#include <seidel/formats/generators/lattice.hpp>
#include <seidel/formats/generators/list.hpp>

namespace seidel::generators {

namespace {

Stencil anisotropic(const Spec& spec, int dimensions) {
  spec.require_arguments(2, 2);
  const Box box = spec.box(0, dimensions, dimensions);
  std::vector<double> c = spec.reals(1);
  if (c.size() == 1) c.insert(c.begin(), dimensions - 1, 1.0);
  if (int(c.size()) != dimensions) spec.refuse(spec.word(1), "1 or " + std::to_string(dimensions) + " coefficients");
  for (const double coefficient : c)
    if (!(coefficient > 0)) spec.refuse(spec.word(1), "coefficients above 0");
  c.resize(3, 0);
  const std::array<double, 3> beside = {-c[0], -c[1], -c[2]};
  return star(box, 2 * (c[0] + c[1] + c[2]), beside, beside);
}

}  // namespace

constinit const Generator aniso2d{
    .name = "aniso2d",
    .grammar = "aniso2d:N:CX,CY or aniso2d:NXxNY:CX,CY; a single coefficient is CY, and CX = 1",
    .example = "aniso2d:1000:1,0.01",
    .meaning = "5-point -(CX u_xx + CY u_yy) on a rectangle of nodes; symmetric positive definite",
    .stencil = [](const Spec& spec) { return anisotropic(spec, 2); }};

constinit const Generator aniso3d{
    .name = "aniso3d",
    .grammar = "aniso3d:N:CX,CY,CZ or aniso3d:NXxNYxNZ:CX,CY,CZ; a single coefficient is CZ, and CX = CY = 1",
    .example = "aniso3d:192:1,1,0.01",
    .meaning = "7-point -(CX u_xx + CY u_yy + CZ u_zz) on a box of nodes; symmetric positive definite",
    .stencil = [](const Spec& spec) { return anisotropic(spec, 3); }};

}  // namespace seidel::generators
