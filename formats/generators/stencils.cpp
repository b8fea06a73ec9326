// Stencils on boxes, zero on the boundary: Poisson, HPCG, anisotropic diffusion, convection and diffusion.
#include <cmath>

#include <seidel/formats/generators/lattice.hpp>
#include <seidel/formats/generators/list.hpp>

namespace seidel::generators {

namespace {

/// The Laplacian by second-order differences: the model problem of every textbook.
Stencil poisson(const Spec& spec, int dimensions) {
  spec.require_arguments(1, 1);
  return star(spec.box(0, dimensions, dimensions), 2 * dimensions, {-1, -1, -1}, {-1, -1, -1});
}

/// Source  Dongarra, Heroux, Luszczek, High-performance conjugate-gradient benchmark, Int. J. High Perform. Comput. Appl.
///         30(1), 2016.
Stencil hpcg_stencil(const Spec& spec) {
  spec.require_arguments(1, 1);
  Stencil stencil{spec.box(0, 3, 3), {}};
  for (int dz : {-1, 0, 1})
    for (int dy : {-1, 0, 1})
      for (int dx : {-1, 0, 1}) stencil.entries.push_back({dx, dy, dz, dx || dy || dz ? -1.0 : 26.0});
  return stencil;
}

/// Different coefficients per direction: -(cx u_xx + cy u_yy + cz u_zz).
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

/// -(u_xx + u_yy [+ u_zz]) + v . grad u on nodes h = 1 / (NX + 1) apart, all times h^2. Upwind differences (the default) give
/// an M-matrix for every v; central ones are of second order, and the matrix is not dominant if |v| h > 2.
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

constinit const Generator hpcg{
    .name = "hpcg",
    .grammar = "hpcg:N or hpcg:NXxNYxNZ",
    .example = "hpcg:104",
    .meaning = "27-point stencil of the HPCG benchmark: 26 on the diagonal, -1 beside it; symmetric positive definite",
    .stencil = hpcg_stencil};

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

constinit const Generator convdiff{
    .name = "convdiff",
    .grammar = "convdiff:N or convdiff:NXxNY or convdiff:NXxNYxNZ, then [:VX,VY[,VZ]][:central]",
    .example = "convdiff:500:100,50",
    .meaning =
        "convection-diffusion -lap u + v . grad u, h = 1 / (NX + 1), upwind (or central); v is 100,50[,25] unless "
        "given; nonsymmetric",
    .stencil = convection_diffusion};

}  // namespace seidel::generators
