// A recursive graph: few vertices have very many edges, which makes load balance hard.
// Source  Chakrabarti, Zhan, Faloutsos, R-MAT: a recursive model for graph mining, SDM 2004; the probabilities of
// Graph500.
#include <seidel/formats/convert.hpp>
#include <seidel/formats/generators/hash.hpp>
#include <seidel/formats/generators/list.hpp>
#include <seidel/formats/runtime/quantity.hpp>

namespace seidel::generators {

namespace {

// The quadrants (0,0), (0,1), (1,0), (1,1) have probabilities 0.57, 0.19, 0.19, 0.05: thresholds of 32 random bits.
constexpr std::uint32_t to_01 = 2448131359u, to_10 = 3264175145u, to_11 = 4080218931u;

Matrix make_rmat(const OpenMP& on, const Spec& spec, std::uint64_t seed) {
  spec.require_arguments(1, 2);
  const int scale = int(spec.integer(0, 0, 30));
  const std::int64_t n = std::int64_t(1) << scale;
  const std::int64_t nedges = n * (spec.arguments() > 1 ? spec.integer(1, 0, 1 << 20) : 16);
  constexpr std::int64_t bytes_per_edge = 2 * (2 * sizeof(Index) + sizeof(double));  // triplets, buckets
  require_room(spec, n, n, nedges, saturating_product(nedges, bytes_per_edge));
  Coo<double> edges{Index(n), Index(n), Array<Index>(nedges), Array<Index>(nedges), Array<double>(nedges)};
  for_each_index(on, nedges, 4, [&](std::int64_t e) {
    const Stream bits(seed, Draw::edges, std::uint64_t(e));
    std::uint32_t row = 0, col = 0;
    for (int level = 0; level < scale; ++level) {
      const std::uint32_t draw = std::uint32_t(bits(std::uint64_t(level) / 2) >> level % 2 * 32);
      row = row << 1 | (draw >= to_10);
      col = col << 1 | ((draw >= to_01 && draw < to_10) || draw >= to_11);
    }
    edges.row_idx[e] = Index(row);
    edges.col_idx[e] = Index(col);
    edges.values[e] = uniform(bits(std::uint64_t(scale)));
  });
  return to_csr<std::int64_t>(on, edges.view());
}

}  // namespace

constinit const Generator rmat{"rmat", "rmat:SCALE or rmat:SCALE:EDGEFACTOR (16 unless given)", "rmat:20",
                               "adjacency of a recursive graph (Graph500) of 2^SCALE vertices, EDGEFACTOR edges per "
                               "vertex, weights uniform in (0, 1), edges "
                               "in the same place added; nonsymmetric",
                               make_rmat};

}  // namespace seidel::generators
