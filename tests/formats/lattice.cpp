// The lattice of a matrix is found in its pattern, and a single row that disagrees is named.
#include "../matrices.hpp"

#include <doctest/doctest.h>

#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/lattice.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// The neighbours of which at most `most` coordinates differ, by one: 5 or 7 points with 1, 19 with 2, 9 or 27 with all.
std::vector<Row> stencil(const Lattice& lattice, int most) {
  std::vector<Row> rows;
  for (Index z = 0; z < lattice.nz; ++z)
    for (Index y = 0; y < lattice.ny; ++y)
      for (Index x = 0; x < lattice.nx; ++x) {
        Row& row = rows.emplace_back();
        for (Index c = std::max(0, z - 1); c < std::min(lattice.nz, z + 2); ++c)
          for (Index b = std::max(0, y - 1); b < std::min(lattice.ny, y + 2); ++b)
            for (Index a = std::max(0, x - 1); a < std::min(lattice.nx, x + 2); ++a)
              if ((a != x) + (b != y) + (c != z) <= most) row[(c * lattice.ny + b) * lattice.nx + a] = -1;
      }
  return rows;
}

FoundLattice found(const Matrix& A, int threads = 2) { return find_lattice(OpenMP{threads}, A.view()); }
bool same(const Lattice& a, const Lattice& b) { return a.nx == b.nx && a.ny == b.ny && a.nz == b.nz; }

}  // namespace

TEST_CASE("lattices of all shapes are found with all stencils, from three points along each direction") {
  for (const Index nx : {3, 4, 17})
    for (const Index ny : {1, 3, 6})
      for (const Index nz : {1, 3, 5})
        for (int most = 1; most <= (nz > 1 ? 3 : ny > 1 ? 2 : 1); ++most) {
          if (ny == 1 && nz > 1) continue;
          const Lattice lattice{nx, ny, nz};
          CAPTURE(to_string(lattice));
          CAPTURE(most);
          const FoundLattice here = found(matrix_of(Index(lattice.points()), stencil(lattice, most)));
          CHECK(here.otherwise.empty());
          CHECK(same(here.lattice, lattice));
        }
}

TEST_CASE("the lattices of generators are found, with any number of threads") {
  for (const int threads : {1, 2, 3, 7}) {
    CHECK(same(found(generate(OpenMP{1}, "poisson3d:40x20x30"), threads).lattice, {40, 20, 30}));
    CHECK(same(found(generate(OpenMP{1}, "hpcg:12"), threads).lattice, {12, 12, 12}));
    CHECK(same(found(generate(OpenMP{1}, "poisson2d:50"), threads).lattice, {50, 50, 1}));
  }
}

TEST_CASE("a missing neighbour is no harm; a single coupling to another point is refused, and its row named") {
  std::mt19937_64 random(fresh_seed());
  const Lattice lattice{9, 8, 7};
  for (int attempt = 0; attempt < 20; ++attempt) {
    auto rows = stencil(lattice, 1 + attempt % 3);
    auto fewer = rows;
    const auto row = Index(random() % rows.size());
    fewer[row].erase(fewer[row].begin());
    CHECK(same(found(matrix_of(Index(rows.size()), fewer)).lattice, lattice));
    // Two planes away, and where lines end: the point before the first one of a line is no neighbour of it.
    const Index start = Index(random() % (rows.size() / 9 - 1) + 1) * 9;
    for (const auto& [at, to] :
         {std::pair<Index, Index>{row, Index((row + 2 * 72) % rows.size())}, {start, start - 1}}) {
      auto more = rows;
      more[at][to] = 1;
      const FoundLattice here = found(matrix_of(Index(rows.size()), more));
      CHECK(here.lattice.nx == 0);
      const std::string name = "row " + std::to_string(at + 1);
      CHECK((here.otherwise.rfind(name + " ", 0) == 0 || here.otherwise.rfind(name + ",", 0) == 0));
    }
  }
}

TEST_CASE("where there is no lattice, that is said") {
  for (const char* spec : {"elasticity3d:4", "rmat:8", "random:200x200:900"}) {
    CAPTURE(spec);
    const FoundLattice here = found(generate(OpenMP{1}, spec));
    CHECK(here.lattice.nx == 0);
    CHECK(!here.otherwise.empty());
  }
  for (const Matrix& A : {matrix_of(3, {{{0, 1.0}}}), matrix_of(1, {{{0, 1.0}}}), Matrix{}})
    CHECK(found(A).lattice.nx == 0);
  CHECK(found(matrix_of(1, {{{0, 1.0}}})).otherwise == "one row is one point, which has no neighbours");
  CHECK(found(matrix_of(2, {{{0, 1.0}}, {{1, 1.0}}})).otherwise ==
        "row 1, the first with the most entries, is coupled to no row behind it");
}
