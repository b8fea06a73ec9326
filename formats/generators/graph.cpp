// An irregular network: a lattice in natural order without some of its edges, plus edges to distant nodes.
#include <seidel/formats/generators/hash.hpp>
#include <seidel/formats/generators/list.hpp>

namespace seidel::generators {

namespace {

constexpr int far_kinds = 8;              // an edge leads from row i to row i xor mask, for one of so many masks
constexpr double near = 0.8, far = 0.25;  // share of lattice edges that are kept; other edges per row

struct Network {
  Box box;
  std::uint64_t seed;
  bool directed;
  std::int64_t masks[far_kinds];

  /// The random stream of the edge from row i to column j, and its number there: symmetric in i and j unless directed.
  std::uint64_t drawn(Draw what, std::int64_t i, std::int64_t j, int kind) const {
    if (!directed && i > j) std::swap(i, j);
    return Stream(seed, what, std::uint64_t(i))(std::uint64_t(j) * (far_kinds + 1) + std::uint64_t(kind));
  }
  /// Columns of row i, ascending; returns their number.
  int columns_of(std::int64_t i, Index (&columns)[7 + far_kinds]) const {
    int count = 0;
    const auto add = [&](std::int64_t j, int kind, double probability) {
      if (uniform(drawn(Draw::edges, i, j, kind)) >= probability) return;
      Index* const at = std::lower_bound(columns, columns + count, Index(j));
      if (at < columns + count && *at == j) return;
      std::copy_backward(at, columns + count, columns + count + 1);
      *at = Index(j), ++count;
    };
    const std::int64_t x = i % box.nx, y = i / box.nx % box.ny, z = i / (box.nx * box.ny);
    columns[count++] = Index(i);
    if (x > 0) add(i - 1, 0, near);
    if (x + 1 < box.nx) add(i + 1, 0, near);
    if (y > 0) add(i - box.nx, 0, near);
    if (y + 1 < box.ny) add(i + box.nx, 0, near);
    if (z > 0) add(i - box.nx * box.ny, 0, near);
    if (z + 1 < box.nz) add(i + box.nx * box.ny, 0, near);
    for (int k = 0; k < far_kinds; ++k)
      if ((i ^ masks[k]) < box.size()) add(i ^ masks[k], k + 1, far / far_kinds);
    return count;
  }
};

Matrix make_graph(const OpenMP& on, const Spec& spec, std::uint64_t seed) {
  spec.require_arguments(1, 3);
  Network network{spec.box(0, 3, 3), seed, spec.arguments() > 2, {}};
  const std::int64_t reach = spec.arguments() > 1 ? spec.integer(1, 2, std::int64_t(1) << 30) : 1 << 16;
  if (network.directed && spec.word(2) != "directed") spec.refuse(spec.word(2), "directed, or nothing");
  for (int k = 0; k < far_kinds; ++k)
    network.masks[k] = 1 + below(Stream(seed, Draw::lengths, 0)(std::uint64_t(k)), reach - 1);
  const std::int64_t n = network.box.size();
  return by_rows(
      on, spec, n, n,
      [&](std::int64_t i) {
        Index columns[7 + far_kinds];
        return network.columns_of(i, columns);
      },
      [&](std::int64_t i, Index* columns, double* values) {
        Index found[7 + far_kinds];
        const int count = network.columns_of(i, found);
        for (int k = 0; k < count; ++k) {
          const double drawn = uniform(network.drawn(Draw::values, i, found[k], 0));
          columns[k] = found[k];
          values[k] = found[k] == i ? 16 + drawn : -drawn;
        }
      });
}

}  // namespace

constinit const Generator graph{
    "graph", "graph:N[:REACH[:directed]]", "graph:128",
    "an irregular network, strictly diagonally dominant: a lattice N x N x N (or NXxNYxNZ) "
    "without a fifth of its edges, "
    "and one edge per four rows, to a row within REACH (65536) of its own; symmetric unless directed",
    make_graph};

}  // namespace seidel::generators
