// The tentative prolongator T: what the coarse unknowns of an aggregate stand for.
//
//   B = T B_c,   T' T = I
//
// The columns of B are the near-null vectors: what A maps to nearly nothing. Each aggregate has as many coarse unknowns as
// B has columns; its rows of T are an orthonormal basis of its rows of B. Columns that depend on those before them in an
// aggregate are zero there, and so is the coarse unknown.
// Source  Vanek, Mandel, Brezina, Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems,
//         Computing 56, 1996, section 5.
#pragma once
#include <utility>

#include <seidel/formats/convert.hpp>
#include <seidel/formats/multivector.hpp>
#include <seidel/kernels/aggregation/rows.hpp>
#include <seidel/kernels/spgemm/spgemm.hpp>

namespace seidel {

template <class Offset, MemorySpace Space>
struct Tentative {
  Csr<double, Offset, Space> T;             // every entry of an aggregate's block stored, zeros too
  MultiVector<double, Space> coarse_modes;  // B_c, column-major
};

namespace aggregation_detail {

template <class Space>
struct CountMember {
  Span<const Index, Space> of_node;
  Index block;
  Span<std::int32_t, Space> is_member;  // one more entry, 0
  SEIDEL_HD void operator()(Index i) const {
    is_member[i] = of_node[i / block] >= 0;
    if (i == 0) is_member[is_member.size() - 1] = 0;
  }
};

template <class Offset, class Space>
struct ListAggregate {
  Span<const Index, Space> of_node;
  Index block;
  Span<const Offset, Space> before;  // members before row i
  Span<Index, Space> aggregate;      // of each member
  SEIDEL_HD void operator()(Index i) const {
    if (before[i + 1] > before[i]) aggregate[before[i]] = of_node[i / block];
  }
};

/// Where the columns of an aggregate, which are rows of T', begin: one behind the other.
template <class Offset, class Space>
struct PlaceColumnsOfAggregate {
  Span<const Offset, Space> members;  // before each aggregate
  Index count;
  Span<Offset, Space> row_ptr;
  SEIDEL_HD void operator()(Index a) const {
    const Offset length = members[a + 1] - members[a];
    if (a == 0) row_ptr[0] = 0;
    for (Index c = 0; c < count; ++c) row_ptr[std::int64_t(a) * count + c + 1] = members[a] * count + (c + 1) * length;
  }
};

/// The columns of an aggregate by the modified Gram-Schmidt process, in the order of the modes; sums in that of the rows.
/// All columns of an aggregate have the same rows, so that they are vectors of one length.
template <class Offset, class Space>
struct ColumnsOfT {
  Index count;                        // per aggregate
  Span<const Offset, Space> row_ptr;  // of T'
  Span<double, Space> values;         // of T'
  Span<double, Space> squared;        // norm of each column of B in an aggregate, squared
  MultiVectorView<double, Space> coarse;

  SEIDEL_HD Offset length(Index i) const { return row_ptr[i + 1] - row_ptr[i]; }
  SEIDEL_HD double product(Index i, Index j) const {
    const double *const x = &values[row_ptr[i]], *const y = &values[row_ptr[j]];
    double sum = 0;
    for (Offset m = 0; m < length(i); ++m) sum = std::fma(x[m], y[m], sum);
    return sum;
  }
};

/// B, before it is made orthonormal. Rows of A that are zero are left alone.
template <class Offset, class Space>
struct FillColumn {
  ColumnsOfT<Offset, Space> columns;
  Span<const Offset, Space> members;  // before each aggregate
  Span<const Index, Space> member;
  Span<const double, Space> inverse_diagonal;
  MultiVectorView<const double, Space> modes;
  Span<Index, Space> col_idx;
  SEIDEL_HD void operator()(Index i) const {
    const Index a = i / columns.count, c = i % columns.count;
    for (Offset m = 0; m < columns.length(i); ++m) {
      const Index row = member[members[a] + m];
      col_idx[columns.row_ptr[i] + m] = row;
      columns.values[columns.row_ptr[i] + m] = inverse_diagonal[row] == 0 ? 0 : modes(row, c);
    }
    columns.squared[i] = columns.product(i, i);
  }
};

/// Column `which` of each aggregate gets norm 1, or 0 if it depends on those before it.
template <class Offset, class Space>
struct Normalize {
  ColumnsOfT<Offset, Space> columns;
  Index which;
  SEIDEL_HD void operator()(Index i) const {
    constexpr double dependent = 1e-16;  // what is left of a squared norm then
    if (i % columns.count != which) return;
    const double left = columns.product(i, i);
    const double norm = left > dependent * columns.squared[i] ? std::sqrt(left) : 0, scale = norm > 0 ? 1 / norm : 0;
    for (Offset m = 0; m < columns.length(i); ++m) columns.values[columns.row_ptr[i] + m] *= scale;
    columns.coarse(i, which) = norm;
  }
};

/// Those behind it become orthogonal to it.
template <class Offset, class Space>
struct Project {
  ColumnsOfT<Offset, Space> columns;
  Index which;
  SEIDEL_HD void operator()(Index i) const {
    const Index c = i % columns.count, onto = i - c + which;
    if (c <= which) return;
    const double s = columns.product(onto, i);
    columns.coarse(onto, c) = s;
    columns.coarse(i, which) = 0;
    const double* const q = &columns.values[columns.row_ptr[onto]];
    double* const x = &columns.values[columns.row_ptr[i]];
    for (Offset m = 0; m < columns.length(i); ++m) x[m] = std::fma(-s, q[m], x[m]);
  }
};

/// A T becomes T - omega D^-1 A T. Of a row of T all entries are in one aggregate, whose columns are neighbours.
template <class Offset, class Space>
struct SmoothRow {
  CsrView<double, Offset, Space> T;
  Span<const double, Space> inverse_diagonal;
  double omega;
  Span<const Offset, Space> row_ptr;
  Span<const Index, Space> col_idx;
  Span<double, Space> values;
  SEIDEL_HD void operator()(Index i) const {
    const Offset own = T.row_ptr[i], count = T.row_ptr[i + 1] - own;
    const Index first = count > 0 ? T.col_idx[own] : 0;
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      const Index c = col_idx[k] - first;
      const double t = c >= 0 && c < count ? T.values[own + c] : 0;
      values[k] = t - omega * (inverse_diagonal[i] * values[k]);
    }
  }
};

template <class Offset, class Space>
struct CompleteRow {
  Span<const Offset, Space> row_ptr;
  Span<const Index, Space> col_idx;
  Index first;
  double scale;
  Span<double, Space> values;
  SEIDEL_HD void operator()(Index i) const {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
      values[k] = col_idx[k] == first + i && values[k] == 0 ? 1 : scale * values[k];
  }
};

template <class Space>
struct UnitOfUnknown {
  MultiVectorView<double, Space> modes;
  SEIDEL_HD void operator()(Index i) const {
    for (Index c = 0; c < modes.ncols; ++c) modes(i, c) = i % modes.ncols == c;
  }
};

}  // namespace aggregation_detail

/// T and B_c for the rows of A in nodes of `block` rows, of which of_node[i] is the aggregate, 0 ... count - 1, or -1.
///
/// Shapes  A is n x n, modes (B) n x m, T n x (m count), B_c (m count) x m. `inverse_diagonal` is 0 for rows to be left alone.
/// Cost    2 m (m + 1) passes over a column of T per aggregate; as much memory as T, and 12 bytes per row. The host waits
///         once, and where transpose() does.
template <Backend B, class Offset>
Tentative<Offset, SpaceOf<B>> tentative(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                                        Span<const double, SpaceOf<B>> inverse_diagonal,
                                        Span<const Index, SpaceOf<B>> of_node, Index count, Index block,
                                        const MultiVectorView<const double, SpaceOf<B>>& modes) {
  using namespace aggregation_detail;
  using Space = SpaceOf<B>;
  const std::int64_t n = A.nrows, m = modes.ncols;
  spgemm_detail::require_countable<Offset>(m * n);
  const auto pattern = [&](Index nrows, Index ncols, std::int64_t nnz) {
    return Csr<double, Offset, Space>{
        nrows, ncols, Array<Offset, Space>(on, std::int64_t(nrows) + 1), Array<Index, Space>(on, nnz), {}};
  };
  const auto rows_of = [](const Csr<double, Offset, Space>& of) { return of.row_ptr.span(); };
  auto in = pattern(A.nrows, count, 0);  // the aggregate of each row that is in one
  {
    Array<std::int32_t, Space> is_member(on, n + 1);
    for_each_row(on, A.row_ptr, CountMember<Space>{of_node, block, is_member});
    in.col_idx = Array<Index, Space>(on, places_of<B, Offset>(on, is_member, in.row_ptr));
  }
  const std::int64_t all = in.col_idx.size();
  for_each_row(on, A.row_ptr, ListAggregate<Offset, Space>{of_node, block, in.row_ptr, in.col_idx});
  auto members = pattern(count, A.nrows, all);
  transpose(on, in.view(), members);
  auto Tt = pattern(Index(m * count), A.nrows, m * all);  // T', a row per column of T
  Tt.values = Array<double, Space>(on, m * all);
  for_each_row(on, rows_of(members), PlaceColumnsOfAggregate<Offset, Space>{members.row_ptr, Index(m), Tt.row_ptr});
  MultiVector<double, Space> coarse(on, m * count, m, Layout::column_major);
  Array<double, Space> squared(on, m * count);
  const ColumnsOfT<Offset, Space> columns{Index(m), rows_of(Tt), Tt.values, squared, coarse.view()};
  for_each_row(
      on, rows_of(Tt),
      FillColumn<Offset, Space>{columns, members.row_ptr, members.col_idx, inverse_diagonal, modes, Tt.col_idx});
  for (Index c = 0; c < m; ++c) {
    for_each_row(on, rows_of(Tt), Normalize<Offset, Space>{columns, c});
    for_each_row(on, rows_of(Tt), Project<Offset, Space>{columns, c});
  }
  return {transpose(on, Tt.view()), std::move(coarse)};
}

/// `values`, those of A T, become those of (I - omega D^-1 A) T, T of tentative().
/// Cost  one pass over A T. Does not wait.
template <Backend B, class Offset>
void smooth_rows(const B& on, const CsrView<double, Offset, SpaceOf<B>>& AT, Span<double, SpaceOf<B>> values,
                 Span<const double, SpaceOf<B>> inverse_diagonal, double omega,
                 const CsrView<double, Offset, SpaceOf<B>>& T) {
  aggregation_detail::for_each_row(
      on, AT.row_ptr,
      aggregation_detail::SmoothRow<Offset, SpaceOf<B>>{T, inverse_diagonal, omega, AT.row_ptr, AT.col_idx, values});
}

/// (I - omega D^-1 A) T for T of tentative().
/// Cost  as spgemm(A, T), and one pass over the result.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> smoothed(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                                         Span<const double, SpaceOf<B>> inverse_diagonal, double omega,
                                         const CsrView<double, Offset, SpaceOf<B>>& T) {
  auto P = spgemm(on, A, T);
  smooth_rows(on, P.view(), P.values, inverse_diagonal, omega, T);
  return P;
}

/// The coarse matrix is divided by this where P = T: else corrections would be too small, in the energy of A.
/// Source  Braess, Towards algebraic multigrid for elliptic problems of second order, Computing 55, 1995. 1.4 to 1.8 save
///         the same 2 of 19 iterations for an elastic body with its rigid-body modes.
inline constexpr double plain_correction = 1.5;

/// A_c of T' A T or P' A P, complete: divided by `correction`, and with a 1 on the diagonal of each coarse unknown that
/// stands for nothing, whose row is zero. The diagonal entry of row i is in column first + i.
/// Shapes  A_c has every diagonal entry stored; `values` are its own, to be written. Cost  reads and writes A_c once. Does not wait.
template <Backend B, class Offset>
void complete_coarse(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A, Span<double, SpaceOf<B>> values,
                     double correction, Index first = 0) {
  using Complete = aggregation_detail::CompleteRow<Offset, SpaceOf<B>>;
  aggregation_detail::for_each_row(on, A.row_ptr, Complete{A.row_ptr, A.col_idx, first, 1 / correction, values});
}

/// Ones for each unknown of a node apart: for displacements, translations.
template <Backend B, class Offset>
MultiVector<double, SpaceOf<B>> translations(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A, Index block) {
  MultiVector<double, SpaceOf<B>> modes(on, A.nrows, block, Layout::column_major);
  aggregation_detail::for_each_row(on, A.row_ptr, aggregation_detail::UnitOfUnknown<SpaceOf<B>>{modes.view()});
  return modes;
}

}  // namespace seidel
