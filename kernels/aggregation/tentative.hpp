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

/// The aggregate of row i, and its row of B, which becomes one of T. Rows of A that are zero are left alone.
template <class Offset, class Space>
struct CopyModes {
  MultiVectorView<const double, Space> modes;
  Span<const double, Space> inverse_diagonal;
  Span<const Index, Space> of_node;
  Index block;
  Span<const Offset, Space> before;  // members before row i
  Span<Index, Space> aggregate;      // of each member
  Span<Offset, Space> row_ptr;
  Span<Index, Space> col_idx;
  Span<double, Space> values;
  SEIDEL_HD void operator()(Index i) const {
    const Index count = Index(modes.ncols);
    const Offset first = before[i] * count;
    if (i == 0) row_ptr[0] = 0;
    row_ptr[i + 1] = before[i + 1] * count;
    if (before[i + 1] == before[i]) return;
    const Index a = of_node[i / block];
    aggregate[before[i]] = a;
    for (Index c = 0; c < count; ++c) {
      col_idx[first + c] = a * count + c;
      values[first + c] = inverse_diagonal[i] == 0 ? 0 : modes(i, c);
    }
  }
};

/// The columns of an aggregate by the modified Gram-Schmidt process, in the order of the modes; sums in that of the rows.
template <class Offset, class Space>
struct Orthonormalize {
  Span<const Offset, Space> first_member;
  Span<const Index, Space> member;  // rows of T by aggregate
  Span<const Offset, Space> row_ptr;
  Span<double, Space> values;
  MultiVectorView<double, Space> coarse;

  SEIDEL_HD double& at(Offset m, Index c) const { return values[row_ptr[member[m]] + c]; }
  SEIDEL_HD double product(Index aggregate, Index p, Index c) const {
    double sum = 0;
    for (Offset m = first_member[aggregate]; m < first_member[aggregate + 1]; ++m)
      sum = std::fma(at(m, p), at(m, c), sum);
    return sum;
  }
  SEIDEL_HD void operator()(Index aggregate) const {
    constexpr double dependent = 1e-16;  // what is left of a squared norm then
    const Index count = Index(coarse.ncols);
    const std::int64_t first = std::int64_t(aggregate) * count;
    for (Index c = 0; c < count; ++c) {
      const double before = product(aggregate, c, c);
      for (Index p = 0; p < c; ++p) {
        const double s = product(aggregate, p, c);
        coarse(first + p, c) = s;
        coarse(first + c, p) = 0;
        for (Offset m = first_member[aggregate]; m < first_member[aggregate + 1]; ++m)
          at(m, c) = std::fma(-s, at(m, p), at(m, c));
      }
      const double after = product(aggregate, c, c);
      const double norm = after > dependent * before ? std::sqrt(after) : 0, scale = norm > 0 ? 1 / norm : 0;
      coarse(first + c, c) = norm;
      for (Offset m = first_member[aggregate]; m < first_member[aggregate + 1]; ++m) at(m, c) *= scale;
    }
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
  double scale;
  Span<double, Space> values;
  SEIDEL_HD void operator()(Index i) const {
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
      values[k] = col_idx[k] == i && values[k] == 0 ? 1 : scale * values[k];
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
/// Cost    m (m + 1) passes over T, by one thread per aggregate; 12 bytes per row. The host waits once.
template <Backend B, class Offset>
Tentative<Offset, SpaceOf<B>> tentative(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                                        Span<const double, SpaceOf<B>> inverse_diagonal,
                                        Span<const Index, SpaceOf<B>> of_node, Index count, Index block,
                                        const MultiVectorView<const double, SpaceOf<B>>& modes) {
  using namespace aggregation_detail;
  using Space = SpaceOf<B>;
  const std::int64_t n = A.nrows, m = modes.ncols;
  spgemm_detail::require_countable<Offset>(m * n);
  Csr<double, Offset, Space> in{A.nrows, count, Array<Offset, Space>(on, n + 1), {}, {}};  // a row's aggregate
  {
    Array<std::int32_t, Space> is_member(on, n + 1);
    for_each_row(on, A.row_ptr, CountMember<Space>{of_node, block, is_member});
    in.col_idx = Array<Index, Space>(on, places_of<B, Offset>(on, is_member, in.row_ptr));
  }
  Csr<double, Offset, Space> T{A.nrows, Index(m * count), Array<Offset, Space>(on, n + 1),
                               Array<Index, Space>(on, m * in.col_idx.size()),
                               Array<double, Space>(on, m * in.col_idx.size())};
  for_each_row(on, A.row_ptr,
               CopyModes<Offset, Space>{modes, inverse_diagonal, of_node, block, in.row_ptr, in.col_idx, T.row_ptr,
                                        T.col_idx, T.values});
  Csr<double, Offset, Space> members{count,
                                     A.nrows,
                                     Array<Offset, Space>(on, std::int64_t(count) + 1),
                                     Array<Index, Space>(on, in.col_idx.size()),
                                     {}};
  transpose(on, std::as_const(in).view(), members);
  MultiVector<double, Space> coarse(on, m * count, m, Layout::column_major);
  for_each_row(on, Span<const Offset, Space>(members.row_ptr),
               Orthonormalize<Offset, Space>{members.row_ptr, members.col_idx, T.row_ptr, T.values, coarse.view()});
  return {std::move(T), std::move(coarse)};
}

/// (I - omega D^-1 A) T for T of tentative().
/// Cost  as spgemm(A, T), and one pass over the result.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> smoothed(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                                         Span<const double, SpaceOf<B>> inverse_diagonal, double omega,
                                         const CsrView<double, Offset, SpaceOf<B>>& T) {
  auto P = spgemm(on, A, T);
  aggregation_detail::for_each_row(
      on, A.row_ptr,
      aggregation_detail::SmoothRow<Offset, SpaceOf<B>>{T, inverse_diagonal, omega, P.row_ptr, P.col_idx, P.values});
  return P;
}

/// What a coarse matrix is divided by where P = T: corrections are too small then, in the energy of A.
/// Source  Braess, Towards algebraic multigrid for elliptic problems of second order, Computing 55, 1995. 1.4 to 1.8 save
///         the same 2 of 19 iterations for an elastic body with its rigid-body modes.
inline constexpr double plain_correction = 1.5;

/// A_c of T' A T or P' A P, complete: divided by `correction`, and with a 1 on the diagonal of each coarse unknown that
/// stands for nothing, whose row is zero.
/// Shapes  A_c has every diagonal entry stored. Cost  reads and writes A_c once. Does not wait.
template <Backend B, class Offset>
void complete_coarse(const B& on, Csr<double, Offset, SpaceOf<B>>& A, double correction) {
  aggregation_detail::for_each_row(
      on, Span<const Offset, SpaceOf<B>>(A.row_ptr),
      aggregation_detail::CompleteRow<Offset, SpaceOf<B>>{A.row_ptr, A.col_idx, 1 / correction, A.values});
}

/// Ones for each unknown of a node apart: for displacements, translations.
template <Backend B, class Offset>
MultiVector<double, SpaceOf<B>> translations(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A, Index block) {
  MultiVector<double, SpaceOf<B>> modes(on, A.nrows, block, Layout::column_major);
  aggregation_detail::for_each_row(on, A.row_ptr, aggregation_detail::UnitOfUnknown<SpaceOf<B>>{modes.view()});
  return modes;
}

}  // namespace seidel
