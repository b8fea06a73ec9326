// The lattices of the HPCG benchmark.
#include <seidel/solvers/multigrid/hpcg.hpp>

#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::hpcg_detail {

HostMatrix matrix(const OpenMP& on, const Lattice& lattice) {
  const auto side = [](Index n) { return std::to_string(n); };
  const auto wide = generate(on, "hpcg:" + side(lattice.nx) + "x" + side(lattice.ny) + "x" + side(lattice.nz));
  return with_offsets<std::int32_t>(on, wide.view());
}

HostMatrix injection(const OpenMP& on, const Lattice& fine, HostSpan<const Index> fine_order,
                     HostSpan<const Index> coarse_order) {
  const Lattice coarse = fine.halved();
  const std::int64_t n = coarse.points();
  const Array<Index> fine_place =
      fine_order.empty() ? Array<Index>() : inverse_permutation(on, fine_order, Index(fine.points()));
  HostMatrix R{Index(n), Index(fine.points()), Array<std::int32_t>(n + 1), Array<Index>(n), Array<double>(n, 1.0)};
  parallel_for(on, n + 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) R.row_ptr[row] = std::int32_t(row);
  });
  parallel_for(on, n, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t p = coarse_order.empty() ? row : coarse_order[row];
      const std::int64_t i = p % coarse.nx, j = p / coarse.nx % coarse.ny, k = p / coarse.nx / coarse.ny;
      const auto point = Index((2 * k * fine.ny + 2 * j) * fine.nx + 2 * i);
      R.col_idx[row] = fine_place.empty() ? point : fine_place[point];
    }
  });
  return R;
}

}  // namespace seidel::hpcg_detail
