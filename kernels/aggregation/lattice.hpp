// Linear interpolation from every second point of a lattice, the prolongator of geometric multigrid; and injection to these.
//
// A direction that is halved keeps its points 0, 2, 4, ... A point between two of them takes half of each; a point behind the
// last one takes that, or half of it where the row shows a boundary beyond, at which x = 0: where the row sums to at least half
// of its couplings back. In two and three dimensions the weights are the products of those of the directions.
//
// Only directions of strong coupling are halved, for along others a sweep does not smooth. The coupling of a direction is the
// second moment of the stencil, sum over j of a_ij (x_j - x_i)^2, which is twice the coefficient of -u_xx whatever the
// stencil; of all rows the 2-norm is taken.
//
// Source  Trottenberg, Oosterlee, Schueller, Multigrid, Academic Press 2001, section 2.3.
#pragma once
#include <algorithm>
#include <cstdint>

#include <seidel/formats/lattice.hpp>
#include <seidel/formats/permute.hpp>
#include <seidel/kernels/aggregation/rows.hpp>
#include <seidel/kernels/vector.hpp>

namespace seidel {

namespace aggregation_detail {

/// The one or two coarse points that a point lies at or between, along one direction.
struct Between {
  Index first, count = 1;
  bool behind = false;  // the last one

  SEIDEL_HD Between(Index at, Index points, Index coarse_points) : first(at) {
    if (coarse_points == points) return;
    first = at / 2;
    behind = at % 2 == 1 && first + 1 == coarse_points;
    if (at % 2 == 1 && !behind) count = 2;
  }
};

struct InterpolatedPoint {
  Between x, y, z;
  SEIDEL_HD InterpolatedPoint(const Lattice& fine, const Lattice& coarse, std::int64_t i)
      : x(Index(i % fine.nx), fine.nx, coarse.nx),
        y(Index(i / fine.nx % fine.ny), fine.ny, coarse.ny),
        z(Index(i / fine.nx / fine.ny), fine.nz, coarse.nz) {}
  SEIDEL_HD Index count() const { return x.count * y.count * z.count; }
};

template <class Space>
struct CountInterpolation {
  Lattice fine, coarse;
  Span<std::int32_t, Space> count;  // one more entry, 0
  SEIDEL_HD void operator()(std::int64_t i) const {
    count[i] = i < count.size() - 1 ? InterpolatedPoint(fine, coarse, i).count() : 0;
  }
};

template <class Offset, class Space>
struct FillInterpolation {
  CsrView<double, Offset, Space> A;
  Lattice fine, coarse;
  Span<const Offset, Space> row_ptr;
  Span<Index, Space> col_idx;
  Span<double, Space> values;
  SEIDEL_HD void operator()(std::int64_t i) const {
    const InterpolatedPoint point(fine, coarse, i);
    const double weight = along(point.x, i, 1, fine.nx) * along(point.y, i, fine.nx, fine.ny) *
                          along(point.z, i, std::int64_t(fine.nx) * fine.ny, fine.nz);
    Offset k = row_ptr[i];
    for (Index z = point.z.first; z < point.z.first + point.z.count; ++z)
      for (Index y = point.y.first; y < point.y.first + point.y.count; ++y)
        for (Index x = point.x.first; x < point.x.first + point.x.count; ++x, ++k)
          col_idx[k] = (z * coarse.ny + y) * coarse.nx + x, values[k] = weight;
  }
  /// The weight of one direction, whose points have numbers `stride` apart.
  SEIDEL_HD double along(const Between& at, std::int64_t i, std::int64_t stride, Index points) const {
    if (!at.behind) return 1.0 / at.count;
    double sum = 0, back = 0;
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      sum += A.values[k];
      if (A.col_idx[k] / stride % points < i / stride % points) back += A.values[k];
    }
    return sum >= -back / 2 ? 0.5 : 1;
  }
};

/// The second moments of a row.
template <class Offset, class Space>
struct MomentsOfRow {
  CsrView<double, Offset, Space> A;
  Lattice lattice;
  Span<double, Space> x, y, z;
  SEIDEL_HD void operator()(std::int64_t i) const {
    const Index plane = lattice.nx * lattice.ny;
    double of_x = 0, of_y = 0, of_z = 0;
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const Index j = A.col_idx[k];
      if (j % lattice.nx != Index(i % lattice.nx)) of_x += A.values[k];
      if (j / lattice.nx % lattice.ny != Index(i / lattice.nx % lattice.ny)) of_y += A.values[k];
      if (j / plane != Index(i / plane)) of_z += A.values[k];
    }
    x[i] = of_x, y[i] = of_y, z[i] = of_z;
  }
};

template <class Offset, class Space>
struct FillInjection {
  Lattice fine, coarse;
  Span<const Index, Space> fine_place, coarse_order;
  Span<Offset, Space> row_ptr;
  Span<Index, Space> col_idx;
  Span<double, Space> values;
  SEIDEL_HD void operator()(std::int64_t row) const {
    row_ptr[row] = Offset(row);
    if (row == col_idx.size()) return;
    const Index p = coarse_order.empty() ? Index(row) : coarse_order[row];
    const Index i = p % coarse.nx, j = p / coarse.nx % coarse.ny, k = p / coarse.nx / coarse.ny;
    const Index point = (2 * k * fine.ny + 2 * j) * fine.nx + 2 * i;
    col_idx[row] = fine_place.empty() ? point : fine_place[point];
    values[row] = 1;
  }
};

}  // namespace aggregation_detail

/// Every second point of `lattice`, along the directions whose coupling in A is at least half of the largest one.
/// Shapes  A has a row per point. Cost  reads A once; three vectors. The host waits once.
template <Backend B, class Offset>
Lattice halved(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A, const Lattice& lattice) {
  using V = Vector<double, B>;
  V x(on, A.nrows), y(on, A.nrows), z(on, A.nrows);
  aggregation_detail::for_each_of(
      on, A.nrows, aggregation_detail::MomentsOfRow<Offset, SpaceOf<B>>{A, lattice, x.span(), y.span(), z.span()});
  const auto coupling = sums(norm2_of(x), norm2_of(y), norm2_of(z));
  const double strong = *std::max_element(coupling.begin(), coupling.end()) / 2;
  const auto half = [&](Index points, double its) { return its >= strong ? (points + 1) / 2 : points; };
  return {half(lattice.nx, coupling[0]), half(lattice.ny, coupling[1]), half(lattice.nz, coupling[2])};
}

/// Columns and values of interpolation(), where row pointers and memory are there. Does not wait.
template <Backend B, class Offset>
void fill_interpolation(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A, const Lattice& fine,
                        const Lattice& coarse, Csr<double, Offset, SpaceOf<B>>& P) {
  using namespace aggregation_detail;
  for_each_of(on, P.nrows, FillInterpolation<Offset, SpaceOf<B>>{A, fine, coarse, P.row_ptr, P.col_idx, P.values});
}

/// P from the points of `coarse`, which halved() made of those of `fine`, to these. A has a row for each of them.
/// Cost  12 bytes for each of its at most 27/8 entries per row, and 4 per row beside them. The host waits once, for its size.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> interpolation(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                                              const Lattice& fine, const Lattice& coarse) {
  using namespace aggregation_detail;
  using Space = SpaceOf<B>;
  const std::int64_t n = fine.points();
  Csr<double, Offset, Space> P{Index(n), Index(coarse.points()), Array<Offset, Space>(on, n + 1), {}, {}};
  Array<std::int32_t, Space> count(on, n + 1);
  for_each_of(on, n + 1, CountInterpolation<Space>{fine, coarse, count});
  P.take_entries(on, places_of<B, Offset>(on, count, P.row_ptr));
  fill_interpolation(on, A, fine, coarse, P);
  return P;
}

/// Injection, as HPCG restricts: the matrix that takes the point (2i, 2j, 2k) of `fine` for each point (i, j, k) of its half. The points of either may
/// stand in another order: new_to_old, empty for that of the lattice.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> injection(const B& on, const Lattice& fine, Span<const Index, SpaceOf<B>> fine_order,
                                          Span<const Index, SpaceOf<B>> coarse_order) {
  using Space = SpaceOf<B>;
  const Lattice coarse = fine.halved();
  const std::int64_t n = coarse.points();
  Array<Index, Space> fine_place;
  if (!fine_order.empty()) fine_place = inverse_permutation(on, fine_order, Index(fine.points()));
  auto R = Csr<double, Offset, Space>::uninitialised(on, Index(n), Index(fine.points()), n);
  aggregation_detail::for_each_of(
      on, n + 1,
      aggregation_detail::FillInjection<Offset, Space>{fine, coarse, std::as_const(fine_place).span(), coarse_order,
                                                       R.row_ptr, R.col_idx, R.values});
  return R;
}

}  // namespace seidel
