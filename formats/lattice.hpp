// The lattice that the pattern of a matrix shows.
#pragma once
#include <cstdint>
#include <string>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// Points x = 0 ... nx - 1, y, z; the number of a point is (z ny + y) nx + x.
struct Lattice {
  Index nx = 0, ny = 1, nz = 1;
  std::int64_t points() const { return std::int64_t(nx) * ny * nz; }
  Lattice halved() const { return {nx / 2, ny / 2, nz / 2}; }
  /// Whether it has points, and every direction can be halved so often.
  bool halves(int times) const {
    const Index step = Index(1) << times;
    return nx % step == 0 && ny % step == 0 && nz % step == 0 && points() > 0;
  }
};
/// "64 x 64 x 64"; a direction with one point is left out.
std::string to_string(const Lattice& lattice);

/// What find_lattice() found.
struct FoundLattice {
  Lattice lattice = {};   // nx = 0: none
  std::string otherwise;  // why there is none: one sentence, which names a row
};

/// The lattice of a matrix with a row per point, each of which is coupled to its neighbours alone, whose coordinates differ by at
/// most one: stencils of 3 points in one dimension, 5 or 9 in two, 7, 19 or 27 in three, and any part of these. The first row
/// with the most entries shows nx and ny; then every row is compared with them, and a single one that disagrees is enough.
///
/// Cost    reads the pattern of A once, and its row pointers twice; at most 24 bytes per entry of
///         the longest row while it runs. A matrix that is not square has no lattice.
template <class Offset>
FoundLattice find_lattice(const OpenMP& on, const CsrView<double, Offset, Host>& A);

}  // namespace seidel
