// Convection and diffusion: -(u_xx + u_yy [+ u_zz]) + v . grad u on nodes h = 1 / (NX + 1) apart, zero on the boundary,
// all times h^2. Upwind differences (the default) give an M-matrix for every v; central differences are of second
// order, and the matrix is not dominant if |v| h > 2.
#include <cmath>

#include <seidel/formats/generators/lattice.hpp>
#include <seidel/formats/generators/list.hpp>

namespace seidel::generators {

namespace {

Stencil convection_diffusion(const Spec& spec) {
  spec.require_arguments(1, 3);
  const Box box = spec.box(0, 2, 3);
  const int last = spec.arguments() - 1;
  const bool central = last > 0 && spec.word(last) == "central", with_velocity = last > int(central);
  if (last == 2 && !central) spec.refuse(spec.word(2), "\"central\" or nothing");
  std::vector<double> v = with_velocity ? spec.reals(1) : std::vector<double>{100, 50, 25};
  if (with_velocity && int(v.size()) != box.dimensions)
    spec.refuse(spec.word(1), std::to_string(box.dimensions) + " components of the velocity");
  v.resize(3, 0);
  const double h = 1 / double(box.nx + 1);
  std::array<double, 3> before, after;
  double centre = 2 * box.dimensions;
  for (int k = 0; k < 3; ++k) {
    const double vh = v[k] * h;
    if (central) {
      before[k] = -1 - vh / 2;
      after[k] = -1 + vh / 2;
    } else {
      before[k] = -1 - std::fmax(vh, 0);
      after[k] = -1 + std::fmin(vh, 0);
      if (k < box.dimensions) centre += std::fabs(vh);
    }
  }
  return star(box, centre, before, after);
}

}  // namespace

constinit const Generator convdiff{
    .name = "convdiff",
    .grammar = "convdiff:N or convdiff:NXxNY or convdiff:NXxNYxNZ, then [:VX,VY[,VZ]][:central]",
    .example = "convdiff:500:100,50",
    .meaning =
        "convection-diffusion -lap u + v . grad u, h = 1 / (NX + 1), upwind (or central); v is 100,50[,25] unless "
        "given; nonsymmetric",
    .stencil = convection_diffusion};

}  // namespace seidel::generators
