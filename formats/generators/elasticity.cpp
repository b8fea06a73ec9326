// Linear elasticity in a box of unit cubes: trilinear hexahedra, isotropic, E = 1, nu = 0.3, the face x = 0 clamped and
// eliminated. NX x NY x NZ free nodes are NX x (NY - 1) x (NZ - 1) cubes; unknowns 3 node + (0, 1, 2) are the
// displacements in x, y, z. All 27 neighbours of a node couple in full 3 x 3 blocks, zeros stored.
//
// The integrals are products of one-dimensional ones, integers over 72; lambda = 15/26 and mu = 10/26. So each entry
// is an integer over 1872, rounded once: symmetric to the last bit, and zero where it is zero. Source  Hughes, The
// Finite Element Method, Dover 2000, sec. 2.7 and 3.5.
#include <seidel/formats/generators/list.hpp>

namespace seidel::generators {

namespace {

/// 72 times the integral over the unit cube of dN_a/dx_i dN_b/dx_j, corners a and b given by one bit per direction.
constexpr int integral(int a, int b, int i, int j) {
  int product = 72;
  for (int k = 0; k < 3; ++k) {
    const int ak = a >> k & 1, bk = b >> k & 1, sign_a = ak ? 1 : -1, sign_b = bk ? 1 : -1;
    if (k == i && k == j)
      product *= sign_a * sign_b;  // slope times slope
    else if (k == i)
      product = product * sign_a / 2;  // slope times shape
    else if (k == j)
      product = product * sign_b / 2;
    else
      product /= ak == bk ? 3 : 6;  // shape times shape
  }
  return product;
}

/// 1872 times entry (i, j) of the block of corners a and b in the stiffness of one cube.
constexpr int stiffness(int a, int b, int i, int j) {
  int sum = 15 * integral(a, b, i, j) + 10 * integral(a, b, j, i);
  if (i == j)
    for (int k = 0; k < 3; ++k) sum += 10 * integral(a, b, k, k);
  return sum;
}

/// Position of a node in one direction: whether there are cubes before and after it.
enum Side { no_cube_before = 0, inside = 1, no_cube_after = 2 };

/// Blocks of all kinds of node (9 z + 3 y + x in sides) with all neighbours (the same in dz + 1, dy + 1, dx + 1).
struct Blocks {
  double entry[27][27][3][3];

  Blocks() {
    for (int kind = 0; kind < 27; ++kind)
      for (int neighbour = 0; neighbour < 27; ++neighbour)
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) entry[kind][neighbour][i][j] = double(assembled(kind, neighbour, i, j)) / 1872;
  }

  /// Sum over the cubes that have both nodes.
  static int assembled(int kind, int neighbour, int i, int j) {
    int sum = 0;
    for (int a = 0; a < 8; ++a) {  // the node is corner a of the cube
      int b = 0;
      bool both = true;
      for (int k = 0, power = 1; k < 3; ++k, power *= 3) {
        const int side = kind / power % 3, corner = a >> k & 1, other = corner + neighbour / power % 3 - 1;
        both &= other >= 0 && other <= 1 && side != (corner ? no_cube_before : no_cube_after);
        b |= (other & 1) << k;
      }
      if (both) sum += stiffness(a, b, i, j);
    }
    return sum;
  }
};

int side_of(std::int64_t at, std::int64_t n) { return at == 0 ? no_cube_before : at + 1 == n ? no_cube_after : inside; }

Box box_of(const Spec& spec) {
  spec.require_arguments(1, 1);
  const Box box = spec.box(0, 3, 3, 3);
  if (box.ny < 2 || box.nz < 2) spec.refuse(spec.word(0), "at least 2 nodes in y and z");
  return box;
}

Matrix make_coordinates(const Spec& spec) {
  const Box box = box_of(spec);
  return by_entries(OpenMP{1}, spec, box.size(), 3, [&](std::int64_t i, const auto& visit) {
    visit(0, double(i % box.nx + 1));  // x = 0 is clamped
    visit(1, double(i / box.nx % box.ny));
    visit(2, double(i / (box.nx * box.ny)));
  });
}

Matrix make_elasticity(const OpenMP& on, const Spec& spec, std::uint64_t) {
  const Box box = box_of(spec);
  const Blocks blocks;
  const std::int64_t nnz = 9 * (3 * box.nx - 2) * (3 * box.ny - 2) * (3 * box.nz - 2), nlines = box.ny * box.nz;
  Matrix A = room_for(spec, 3 * box.size(), 3 * box.size(), nnz, nlines * 8);
  const auto neighbours = [](std::int64_t at, std::int64_t n) { return 1 + (at > 0) + (at + 1 < n); };
  Array<std::int64_t> line_ptr(nlines + 1);
  for (std::int64_t line = 0; line < nlines; ++line)
    line_ptr[line + 1] = 9 * (3 * box.nx - 2) * neighbours(line % box.ny, box.ny) * neighbours(line / box.ny, box.nz);
  offsets_from_lengths(on, line_ptr);
  for_each_index(on, nlines, 243 * box.nx, [&](std::int64_t line) {
    const std::int64_t y = line % box.ny, z = line / box.ny;
    std::int64_t at = line_ptr[line];
    for (std::int64_t row = 3 * line * box.nx; row < 3 * (line + 1) * box.nx; ++row) {
      const std::int64_t node = row / 3, x = node % box.nx, i = row % 3;
      // The clamped nodes lie before the first free ones, which therefore have cubes before them.
      const int kind = 9 * side_of(z, box.nz) + 3 * side_of(y, box.ny) + (x + 1 < box.nx ? inside : no_cube_after);
      for (int neighbour = 0; neighbour < 27; ++neighbour) {
        const int dx = neighbour % 3 - 1, dy = neighbour / 3 % 3 - 1, dz = neighbour / 9 - 1;
        if (x + dx < 0 || x + dx >= box.nx || y + dy < 0 || y + dy >= box.ny || z + dz < 0 || z + dz >= box.nz)
          continue;
        const std::int64_t other = node + (dz * box.ny + dy) * box.nx + dx;
        for (int j = 0; j < 3; ++j, ++at) {
          A.col_idx[at] = Index(3 * other + j);
          A.values[at] = blocks.entry[kind][neighbour][i][j];
        }
      }
      A.row_ptr[row + 1] = at;
    }
  });
  return A;
}

}  // namespace

constinit const Generator elasticity3d{"elasticity3d",
                                       "elasticity3d:N or elasticity3d:NXxNYxNZ",
                                       "elasticity3d:48",
                                       "elastic box of trilinear hexahedra clamped at x = 0, E = 1, nu = 0.3, 3 "
                                       "unknowns per node; symmetric positive definite",
                                       make_elasticity,
                                       make_coordinates};

}  // namespace seidel::generators
