// The lattices of the HPCG benchmark.
#include <seidel/solvers/multigrid/hpcg.hpp>

#include <numeric>

#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::hpcg_detail {

HostMatrix matrix(const OpenMP& on, const Lattice& lattice) {
  const auto side = [](Index n) { return std::to_string(n); };
  const auto wide = generate(on, "hpcg:" + side(lattice.nx) + "x" + side(lattice.ny) + "x" + side(lattice.nz));
  return with_offsets<std::int32_t>(on, wide.view());
}

Array<Index> injection(const OpenMP& on, const Lattice& fine) {
  const Lattice coarse = fine.halved();
  Array<Index> points(coarse.size());
  parallel_for(on, points.size(), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = first; p < last; ++p) {
      const std::int64_t i = p % coarse.nx, j = p / coarse.nx % coarse.ny, k = p / coarse.nx / coarse.ny;
      points[p] = Index((2 * k * fine.ny + 2 * j) * fine.nx + 2 * i);
    }
  });
  return points;
}

HostMatrix rows_of(const OpenMP& on, const CsrView<double, std::int32_t, Host>& A, HostSpan<const Index> rows) {
  const std::int64_t n = rows.size();
  Array<std::int32_t> row_ptr(n + 1, 0);
  for (std::int64_t i = 0; i < n; ++i) row_ptr[i + 1] = row_ptr[i] + A.row_ptr[rows[i] + 1] - A.row_ptr[rows[i]];
  Array<Index> col_idx(row_ptr[n]);
  Array<double> values(row_ptr[n]);
  parallel_for(on, n, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int32_t begin = A.row_ptr[rows[i]], size = row_ptr[i + 1] - row_ptr[i];
      std::copy_n(A.col_idx.data() + begin, size, col_idx.data() + row_ptr[i]);
      std::copy_n(A.values.data() + begin, size, values.data() + row_ptr[i]);
    }
  });
  return {Index(n), A.ncols, std::move(row_ptr), std::move(col_idx), std::move(values)};
}

}  // namespace seidel::hpcg_detail
