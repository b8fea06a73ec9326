// Generated matrices: what they promise, the same bits for all thread counts and on every machine.
#include <array>
#include <cstring>
#include <set>
#include <string>

#include <seidel/formats/check.hpp>
#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/statistics.hpp>

#include "../backends.hpp"
#include "../matrices.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

/// FNV-1a of all arrays, 64 bits at a time, so that one number pins every bit.
std::uint64_t hash_of(const Matrix& A) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3u; };
  add(std::uint64_t(A.nrows)), add(std::uint64_t(A.ncols));
  for (const auto p : A.row_ptr) add(std::uint64_t(p));
  for (const auto j : A.col_idx) add(std::uint64_t(j));
  for (const double value : A.values) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, 8);
    add(bits);
  }
  return hash;
}

Matrix made(const std::string& spec, std::uint64_t seed = 1) {
  Matrix A = generate(OpenMP{1}, spec, seed);
  CHECK_NOTHROW(check(A.view()));
  return A;
}

/// What generate() says when it refuses.
template <class Refusal = UsageError>
std::string refusal_of(const std::string& spec) {
  return refusal<Refusal>([&] { generate(OpenMP{2}, spec); });
}

double entry(const Matrix& A, Index i, Index j) {
  for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
    if (A.col_idx[k] == j) return A.values[k];
  return 0;
}

}  // namespace

TEST_CASE("every generator gives recorded bits, on any number of threads") {
  struct Pinned {
    const char* spec;
    std::uint64_t hash;
  };
  for (const auto& pinned : {
           Pinned{"poisson2d:70x90", 0xf38195ddfe1b6d7fu},
           Pinned{"poisson3d:20x21x22", 0x8a929dd222b820abu},
           Pinned{"hpcg:17x13x11", 0x95be4aafd75d9a7eu},
           Pinned{"aniso2d:90:1,0.01", 0xaa9de20cac2703fbu},
           Pinned{"aniso3d:21:1,1,0.01", 0xa565c4707d783f84u},
           Pinned{"convdiff:90", 0x9884fe6d0c716113u},
           Pinned{"convdiff:20x21x22:10,-20,30:central", 0x83ffc07171122c61u},
           Pinned{"elasticity3d:9", 0xddf09c88a70b059au},
           Pinned{"random:20000x10000:150000", 0xfa2433bd9dae91d5u},
           Pinned{"spd:20000:9", 0xbe1aa0a6da256adcu},
           Pinned{"graph:27", 0x85814daa485240a8u},
           Pinned{"graph:20x21x22:500:directed", 0x91adc40c161f6286u},
           Pinned{"banded:9000:8", 0x5675afd803513e10u},
           Pinned{"rmat:13", 0x24f73af18e320996u},
           Pinned{"denserow:9001", 0x5b8b5a21f7dcea0cu},
           Pinned{"densecolumn:9001", 0x2ca9a32667c9beb8u},
           Pinned{"emptyrows:20000", 0x822447a45d9802e7u},
       }) {
    const auto& spec = pinned.spec;
    const auto& hash = pinned.hash;
    CAPTURE(spec);
    CHECK(hash_of(made(spec)) == hash);
    for (int threads : {1, 2, 3, 7}) {
      CAPTURE(threads);
      CHECK(hash_of(generate(OpenMP{threads}, spec)) == hash);
    }
  }
}

TEST_CASE("a GPU makes the same bits, with row pointers of either size") {
  if constexpr (!built_with_cuda) {
    return skipped_cuda();
  } else {
    if (!have_gpu()) return skipped_cuda();
    const Cuda on;
    for (const char* spec :
         {"poisson2d:1", "poisson2d:70x90", "poisson2d:1x77", "poisson3d:20x21x22", "hpcg:1", "hpcg:2x1x3",
          "hpcg:17x13x11", "hpcg:1x40x30", "aniso2d:90:1,0.01", "aniso3d:21:1,1,0.01", "convdiff:90",
          "convdiff:20x21x22:10,-20,30:central", "elasticity3d:5", "random:200x300:1500"}) {
      CAPTURE(spec);
      const Matrix here = made(spec, 3);
      poison(on);
      CHECK(same_matrix(copied_to<Host>(on, generate<std::int32_t>(on, spec, 3).view()), here));
      CHECK(same_matrix(copied_to<Host>(on, generate<std::int64_t>(on, spec, 3).view()), here));
    }
    CHECK_THROWS_AS(generate<std::int32_t>(on, "hpcg:1300"), UsageError);    // 2^31 rows
    CHECK_THROWS_AS(generate<std::int32_t>(on, "hpcg:440"), ResourceError);  // 2^31 entries
  }
}

TEST_CASE("the seed matters to the random ones, and only to them") {
  std::set<std::string> names;
  for (const std::string spec : {"random:90x80:700", "spd:100:7", "graph:5", "banded:50:3", "rmat:6", "poisson2d:9",
                                 "poisson3d:4", "hpcg:4", "aniso2d:9:1,2", "aniso3d:4:1,1,2", "elasticity3d:3",
                                 "convdiff:9", "denserow:9", "densecolumn:9", "emptyrows:9"}) {
    CAPTURE(spec);
    CHECK((hash_of(made(spec, 1)) != hash_of(made(spec, 2))) == is_random(spec));
    CHECK(hash_of(made(spec, 7)) == hash_of(made(spec, 7)));
    names.insert(spec.substr(0, spec.find(':')));
  }
  CHECK(names.size() == generator_names().size());
}

TEST_CASE("convdiff takes the velocity, central differences, both or none of them") {
  CHECK(same_matrix(made("convdiff:5"), made("convdiff:5:100,50")));
  CHECK(same_matrix(made("convdiff:5x4x3:central"), made("convdiff:5x4x3:100,50,25:central")));
}

TEST_CASE("lattices have the stencil at every node, x fastest, down to one node a side") {
  for (const auto& sides : std::vector<std::array<Index, 3>>{
           {1, 1, 1}, {1, 5, 1}, {7, 1, 1}, {2, 2, 2}, {5, 4, 3}, {1, 3, 4}, {33, 31, 9}}) {
    const Index nx = sides[0], ny = sides[1], nz = sides[2];
    const std::string sizes = std::to_string(nx) + "x" + std::to_string(ny) + "x" + std::to_string(nz);
    CAPTURE(sizes);
    const Matrix poisson = made("poisson3d:" + sizes), hpcg = made("hpcg:" + sizes),
                 aniso = made("aniso3d:" + sizes + ":2,0.5,0.25");
    const Matrix flow = made("convdiff:" + sizes + ":8,-16,0"),
                 central = made("convdiff:" + sizes + ":8,-16,0:central");
    const double h = 1 / double(nx + 1);
    std::vector<Row> rows[5];
    for (auto& r : rows) r.resize(std::size_t(nx) * ny * nz);
    for (Index z = 0, i = 0; z < nz; ++z)
      for (Index y = 0; y < ny; ++y)
        for (Index x = 0; x < nx; ++x, ++i)
          for (Index dz = -1; dz <= 1; ++dz)
            for (Index dy = -1; dy <= 1; ++dy)
              for (Index dx = -1; dx <= 1; ++dx) {
                if (x + dx < 0 || x + dx >= nx || y + dy < 0 || y + dy >= ny || z + dz < 0 || z + dz >= nz) continue;
                const Index j = i + dx + nx * (dy + ny * dz), distance = std::abs(dx) + std::abs(dy) + std::abs(dz);
                rows[1][i].emplace(j, distance ? -1.0 : 26.0);
                if (distance > 1) continue;
                rows[0][i].emplace(j, distance ? -1.0 : 6.0);
                rows[2][i].emplace(j, dx ? -2.0 : dy ? -0.5 : dz ? -0.25 : 5.5);
                rows[3][i].emplace(j, dx < 0     ? -1 - 8 * h
                                      : dy > 0   ? -1 - 16 * h
                                      : distance ? -1.0
                                                 : 6 + 8 * h + 16 * h);
                rows[4][i].emplace(j, dx ? -1 + dx * (8 * h / 2) : dy ? -1 - dy * (16 * h / 2) : dz ? -1.0 : 6.0);
              }
    const Matrix* const got[] = {&poisson, &hpcg, &aniso, &flow, &central};
    for (int g = 0; g < 5; ++g) {
      CAPTURE(g);
      CHECK(same_matrix(*got[g], matrix_of(nx * ny * nz, rows[g])));
    }
  }
  CHECK(same_matrix(made("poisson2d:1"), matrix_of(1, {{{0, 4.0}}})));
  CHECK(same_matrix(made("poisson2d:5"), made("poisson2d:5x5")));
  CHECK(same_matrix(made("hpcg:3"), made("hpcg:3x3x3")));
  CHECK(same_matrix(made("aniso2d:6:1,1"), made("poisson2d:6")));
  CHECK(same_matrix(made("aniso2d:6:0.5"), made("aniso2d:6:1,0.5")));
  CHECK(same_matrix(made("convdiff:6:0,0"), made("poisson2d:6")));
  CHECK(same_matrix(made("convdiff:6"), made("convdiff:6x6:100,50")));
}

TEST_CASE("elasticity is symmetric to the last bit, clamped, and knows rigid motions away from the clamp") {
  const Index nx = 5, ny = 4, nz = 3;
  const Matrix A = made("elasticity3d:5x4x3");
  const auto p = properties(OpenMP{1}, A.view());
  CHECK(A.nrows == 3 * nx * ny * nz);
  CHECK(A.nnz() == 9 * (3 * nx - 2) * (3 * ny - 2) * (3 * nz - 2));
  CHECK(p.symmetric);
  CHECK(p.diagonal_positive == A.nrows);
  // Translations and linearised rotations strain nothing: rows of nodes without a clamped neighbour give 0.
  const double bound = 1e-13;  // 81 terms of at most 1.9 * 5, rounded to 2^-53
  for (int motion = 0; motion < 6; ++motion) {
    CAPTURE(motion);
    std::vector<double> u(A.nrows);
    for (Index z = 0, node = 0; z < nz; ++z)
      for (Index y = 0; y < ny; ++y)
        for (Index x = 0; x < nx; ++x, ++node) {
          const double at[3] = {double(x), double(y), double(z)};
          if (motion < 3) u[3 * node + motion] = 1;
          if (motion >= 3)
            u[3 * node + (motion + 1) % 3] = at[(motion + 2) % 3],
                                        u[3 * node + (motion + 2) % 3] = -at[(motion + 1) % 3];
        }
    const auto force = dense_product(A, u);
    double inside = 0, clamped = 0;
    for (Index i = 0; i < A.nrows; ++i)
      (i / 3 % nx == 0 ? clamped : inside) = std::max(i / 3 % nx == 0 ? clamped : inside, std::fabs(force[i]));
    CHECK(inside <= bound);
    CHECK(clamped > 1e-3);  // the clamp holds
  }
  // Cholesky of the dense matrix succeeds: positive definite.
  auto L = dense(A);
  const std::size_t n = A.nrows;
  double least = 1;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k)
      for (std::size_t i = j; i < n; ++i) L[i * n + j] -= L[i * n + k] * L[j * n + k];
    least = std::min(least, L[j * n + j]);
    const double root = std::sqrt(L[j * n + j]);
    for (std::size_t i = j; i < n; ++i) L[i * n + j] /= root;
  }
  CHECK(least > 1e-3);
  // One cube stretched along x: K_00 of a corner is (lambda + 2 mu) / 9 + 2 mu / 9, by the textbook.
  const double lambda = 0.3 / (1.3 * 0.4), mu = 1 / 2.6;
  CHECK(std::fabs(entry(made("elasticity3d:1x2x2"), 0, 0) - (lambda + 4 * mu) / 9) <= 4e-16);
  CHECK(refusal_of("elasticity3d:5x1x5").find("expected at least 2 nodes in y and z") != std::string::npos);
}

TEST_CASE("random matrices have exactly the entries asked for, spread evenly") {
  for (const auto& sizes : std::vector<std::array<std::int64_t, 3>>{{1, 1, 0},
                                                                    {1, 1, 1},
                                                                    {10, 7, 70},
                                                                    {10, 7, 69},
                                                                    {7, 10, 35},
                                                                    {3, 100000, 60000},
                                                                    {100000, 3, 60000},
                                                                    {2000, 2000, 40000}}) {
    const std::int64_t m = sizes[0], n = sizes[1], nnz = sizes[2];
    const Matrix A = made("random:" + std::to_string(m) + "x" + std::to_string(n) + ":" + std::to_string(nnz));
    CAPTURE(m);
    CHECK(A.nrows == m);
    CHECK(A.ncols == n);
    CHECK(A.nnz() == nnz);
    for (const double value : A.values) CHECK_UNARY(value != 0 && std::fabs(value) < 1);
  }
  // Columns and values of 40,000 draws: means within 5 standard errors.
  const Matrix A = made("random:2000x2000:40000");
  double column = 0, value = 0;
  for (const Index j : A.col_idx) column += (j + 0.5) / 2000 / 40000;
  for (const double v : A.values) value += v / 40000;
  CHECK(std::fabs(column - 0.5) < 5 * 0.2887 / 200);
  CHECK(std::fabs(value) < 5 * 0.5774 / 200);
  CHECK(row_statistics(OpenMP{1}, A.view()).variance == doctest::Approx(20).epsilon(0.2));  // Poisson
}

TEST_CASE("graph is strictly dominant, and symmetric unless directed; its edges are as many as it says") {
  for (const char* spec : {"graph:1", "graph:2x3x4", "graph:30:7", "graph:30", "graph:30:65536:directed"}) {
    CAPTURE(spec);
    const Matrix A = made(spec);
    const auto p = properties(OpenMP{1}, A.view());
    CHECK(p.strictly_dominant_rows == A.nrows);
    CHECK(p.diagonal_positive == A.nrows);
    CHECK(p.symmetric == !std::string_view(spec).ends_with("directed"));
  }
  // Of 3 * 29 * 30^2 edges of the lattice 0.8 are there, both ways; edges that lead out of it are not.
  const double near = 2 * 0.8 * 3 * 29 * 900, far = double(made("graph:30:16384").nnz()) - 27000 - near;
  CHECK(far > 0.15 * 27000);
  CHECK(far < 0.28 * 27000);
}

TEST_CASE("spd is symmetric and strictly dominant; banded is full inside its band") {
  for (const char* spec : {"spd:1:1", "spd:2:2", "spd:50:1", "spd:3000:9", "spd:40:40"}) {
    CAPTURE(spec);
    const Matrix A = made(spec);
    const auto p = properties(OpenMP{1}, A.view());
    CHECK(p.symmetric);
    CHECK(p.strictly_dominant_rows == A.nrows);
    CHECK(p.diagonal_positive == A.nrows);
  }
  CHECK(std::fabs(double(made("spd:3000:9").nnz()) / 3000 - 9) < 0.1);
  for (Index n : {1, 2, 9, 1000})
    for (Index b : {0, 1, 4, 8}) {
      if (b >= n) continue;
      const Matrix A = made("banded:" + std::to_string(n) + ":" + std::to_string(b));
      const auto p = properties(OpenMP{1}, A.view());
      CHECK(A.nnz() == std::int64_t(n) * (2 * b + 1) - b * (b + 1));
      CHECK(p.bandwidth_lower == b);
      CHECK(p.bandwidth_upper == b);
      CHECK(p.strictly_dominant_rows == n);
    }
}

TEST_CASE("rmat has the size of its graph and the skew of its probabilities") {
  CHECK(made("rmat:0").nnz() == 1);
  CHECK(made("rmat:5:0").nnz() == 0);
  const Matrix A = made("rmat:12");
  CHECK(A.nrows == 4096);
  CHECK(A.nnz() < 16 * 4096);
  CHECK(A.nnz() > 10 * 4096);
  std::int64_t upper_left = 0, upper_right = 0;
  for (Index i = 0; i < 2048; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) ++(A.col_idx[k] < 2048 ? upper_left : upper_right);
  CHECK(double(upper_right) / double(A.nnz()) == doctest::Approx(0.2).epsilon(0.2));
  CHECK(double(upper_left) / double(A.nnz()) > 0.45);  // 0.57 before edges in the same place were added
}

TEST_CASE("specimens have their one awkward feature") {
  for (Index n : {1, 2, 3, 1000}) {
    CAPTURE(n);
    const Matrix row = made("denserow:" + std::to_string(n)), column = made("densecolumn:" + std::to_string(n));
    CHECK(row.row_ptr[n / 2 + 1] - row.row_ptr[n / 2] == n);
    std::int64_t in_middle = 0;
    for (const Index j : column.col_idx) in_middle += j == n / 2;
    CHECK(in_middle == n);
    CHECK(row.nnz() == column.nnz());
  }
  const Matrix empty = made("emptyrows:300");
  CHECK(row_statistics(OpenMP{1}, empty.view()).empty_rows == 100);
  for (const Index j : empty.col_idx) CHECK_UNARY(j % 5 != 2);
}

TEST_CASE("a wrong spec is refused with what was found, the grammar and an example") {
  CHECK(refusal_of("poisson2d:abc") ==
        "poisson2d:abc: found 'abc', expected a size from 1 to 2147483647\n  poisson2d:N or poisson2d:NXxNY, for "
        "example poisson2d:1000");
  for (const char* spec : {"poisson2d",
                           "poisson2d:",
                           "poisson2d:0",
                           "poisson2d:-3",
                           "poisson2d:3x",
                           "poisson2d:3x4x5",
                           "poisson2d:3:4",
                           "poisson2d:3.5",
                           "poisson2d: 3",
                           "poisson2d:+3",
                           "poisson2d:99999999999999999999",
                           "poisson2d:50000",
                           "poisson3d:3x4",
                           "poisson3d:2000",
                           "hpcg:65536x65536x65536",
                           "aniso2d:5",
                           "aniso2d:5:0",
                           "aniso2d:5:-1",
                           "aniso2d:5:1,2,3",
                           "aniso2d:5:nan",
                           "aniso2d:5:inf",
                           "aniso2d:5:1e999",
                           "aniso2d:5:1,",
                           "aniso3d:5:1,2",
                           "convdiff:5:1",
                           "convdiff:5:1,2:upwards",
                           "convdiff:5:1,2:central:3",
                           "convdiff:5:central:central",
                           "convdiff:5x5x5:1,2",
                           "elasticity3d:1000",
                           "random:5x5",
                           "random:5:5",
                           "random:5x5:26",
                           "random:5x5:-1",
                           "random:2147483648x1:1",
                           "spd:5",
                           "spd:5:6",
                           "spd:5:0",
                           "graph:5:1",
                           "graph:5:9:undirected",
                           "banded:5:5",
                           "banded:5:-1",
                           "rmat:31",
                           "rmat:-1",
                           "rmat:5:-1",
                           "denserow:0",
                           "densecolumn:x",
                           "emptyrows:"}) {
    CAPTURE(spec);
    const std::string said = refusal_of(spec);
    CHECK(said.find(std::string(spec) + ": found ") == 0);
    CHECK(said.find(", expected ") != std::string::npos);
    CHECK(said.find(", for example ") != std::string::npos);
  }
  CHECK(refusal_of("poison2d:5")
            .find("poison2d:5: found 'poison2d', expected the name of a generator\n  one of poisson2d, ") == 0);
  CHECK(refusal_of("").find("expected the name of a generator") != std::string::npos);
}

TEST_CASE("what does not fit into memory is refused before it is allocated") {
  for (const char* spec : {"random:2000000000x2000000000:1000000000000000000", "rmat:30:1048576",
                           "banded:2147483647:2147483646", "spd:2000000000:1000000000", "hpcg:1290x1290x1290"}) {
    CAPTURE(spec);
    if (available_bytes(Host{}) > std::int64_t(600) << 30) continue;  // a machine on which hpcg:1290 fits
    const std::string said = refusal_of<ResourceError>(spec);
    CHECK(said.find(" of memory are needed, ") != std::string::npos);
    CHECK(said.find(spec) == 0);
  }
}

TEST_CASE("generators are known by their names") {
  CHECK(is_generator("hpcg:16"));
  CHECK(is_generator("hpcg"));
  CHECK(is_generator("random:what"));
  CHECK_FALSE(is_generator("hpcg16"));
  CHECK_FALSE(is_generator("hpcg.mtx"));
  CHECK_FALSE(is_generator("A.mtx:3"));
  CHECK_FALSE(is_generator(""));
  const std::string help = generator_help();
  for (const char* name : {"poisson2d:", "elasticity3d:", "rmat:", "emptyrows:"})
    CHECK(help.find(name) != std::string::npos);
}

TEST_CASE("the example of every generator is its own grammar") {
  const std::string help = generator_help();
  int examples = 0;
  for (std::size_t at = 0; (at = help.find("for example ", at)) != std::string::npos; ++examples) {
    at += 12;
    const std::string spec = help.substr(at, help.find('\n', at) - at);
    CAPTURE(spec);
    CHECK(is_generator(spec));
  }
  CHECK(examples == 15);
}
