// Dense inverses, by L D L' and by Gauss-Jordan elimination.
#include <seidel/solvers/multigrid/coarsest.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <seidel/formats/convert/refusals.hpp>
#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/formats/runtime/simd.hpp>

namespace seidel {

namespace {

constexpr double rounding = 8 * 0x1p-53;

/// A dense lower triangle by rows.
struct Lower {
  std::int64_t n;
  Array<double> entries = Array<double>(n * n, 0.0);
  double* row(std::int64_t i) { return entries.data() + i * n; }
};

/// y += a x.
void add_multiple(std::int64_t n, double a, const double* x, double* y) {
  for (std::int64_t j = 0; j < n; ++j) y[j] = std::fma(a, x[j], y[j]);
}

/// Rows that are added at once, so that y is read and written once for all of them: y += a_0 x_0, then y += a_1 x_1, ...
constexpr int together = 4;
void add_multiples(std::int64_t n, const double (&a)[together], const double* const (&x)[together], double* y) {
  const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
  const double *const x0 = x[0], *const x1 = x[1], *const x2 = x[2], *const x3 = x[3];
  for (std::int64_t j = 0; j < n; ++j)
    y[j] = std::fma(a3, x3[j], std::fma(a2, x2[j], std::fma(a1, x1[j], std::fma(a0, x0[j], y[j]))));
}

/// Pieces of `rows` rows, in turn, since they differ in what they cost; one thread takes all of them at once.
void for_pieces(const OpenMP& on, std::int64_t first, std::int64_t last, std::int64_t rows, const auto& body) {
  if (on.threads == 1) rows = std::max<std::int64_t>(last - first, 1);
  for_each_in_turn(on, (last - first + rows - 1) / rows, [&](std::int64_t piece, int) {
    with_avx2([&] { body(first + piece * rows, std::min(last, first + (piece + 1) * rows)); });
  });
}

/// L becomes the factor, without its diagonal of ones, and `inverse_pivots` those of D, 0 for rows that are left out.
/// Each entry is one sum in order of columns, whatever the width of a panel.
void factorize(const OpenMP& on, Lower& L, double vanishing, double* inverse_pivots) {
  const std::int64_t n = L.n, width = on.threads == 1 ? together : 8 * together;
  const double least = double(n) * std::max(vanishing, rounding);
  constexpr double least_negative =
      1e-8;  // less is no sign that A is indefinite, but what rounding made of a coarse matrix
  // What rounding may leave of a pivot that is 0: that of its own row, and d_k -= l_ki^2 d_i of the pivots before it.
  Array<double> columns(width * n), diagonal(n), doubt(n);
  for (std::int64_t i = 0; i < n; ++i) {
    diagonal[i] = L.row(i)[i];
    doubt[i] = std::sqrt(double(n)) * rounding * std::abs(diagonal[i]);
  }
  for (std::int64_t first = 0; first < n; first += width) {  // columns of a panel; L D of it is kept in `columns`
    const std::int64_t end = std::min(first + width, n);
    const auto column = [&](std::int64_t k) { return columns.data() + (k - first) * n; };
    const auto eliminate = [&](std::int64_t k, std::int64_t from, std::int64_t to) {
      double* const c = column(k);
      for (std::int64_t i = from; i < to; ++i) c[i] = L.row(i)[k];
      for (std::int64_t i = from; i < to; ++i) {
        const double factor = c[i] * inverse_pivots[k];
        add_multiple(std::min(i + 1, end) - (k + 1), -factor, c + k + 1, L.row(i) + k + 1);
        L.row(i)[k] = factor;
        doubt[i] += factor * factor * doubt[k];
      }
    };
    with_avx2([&] {
      for (std::int64_t k = first; k < end; ++k) {
        const double pivot = L.row(k)[k];
        const double part = pivot < 0 ? std::max(least, least_negative) : least;
        const bool vanishes = !(std::abs(pivot) > std::max(part * std::abs(diagonal[k]), doubt[k]));
        inverse_pivots[k] = vanishes ? 0 : 1 / pivot;
        eliminate(k, k + 1, end);
      }
    });
    for_pieces(on, end, n, 8, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t k = first; k < end; ++k) eliminate(k, from, to);
    });
    for_pieces(on, end, n, 4, [&](std::int64_t from, std::int64_t to) {  // columns behind the panel
      for (std::int64_t i = from; i < to; ++i)
        for (std::int64_t k = first; k < end; k += together) {
          const double* const l = L.row(i) + k;
          add_multiples(i + 1 - end, {-l[0], -l[1], -l[2], -l[3]},
                        {column(k) + end, column(k + 1) + end, column(k + 2) + end, column(k + 3) + end},
                        L.row(i) + end);
        }
    });
  }
}

/// Columns first ... last - 1 of W = L^-1, row by row: w_i = e_i - sum over k < i of l_ik w_k.
void invert(Lower& L, std::int64_t first, std::int64_t last, Lower& W) {
  for (std::int64_t i = first; i < L.n; ++i) {
    const double* const l = L.row(i);
    double* const w = W.row(i);
    std::int64_t k = first;
    for (; k + together <= i; k += together) {
      add_multiples(std::min(k + 1, last) - first, {-l[k], -l[k + 1], -l[k + 2], -l[k + 3]},
                    {W.row(k) + first, W.row(k + 1) + first, W.row(k + 2) + first, W.row(k + 3) + first}, w + first);
      for (int t = 1; t < together; ++t)
        add_multiple(std::min(k + 1 + t, last) - (k + 1), -l[k + t], W.row(k + t) + k + 1, w + k + 1);
    }
    for (; k < i; ++k) add_multiple(std::min(k + 1, last) - first, -l[k], W.row(k) + first, w + first);
    if (i < last) w[i] = 1;
  }
}

/// Row i of G = sum over k of w_k' d_k^-1 w_k, up to its diagonal, and what mirrors it.
void sum_row(Lower& W, const double* inverse_pivots, std::int64_t i, double* G) {
  const std::int64_t n = W.n;
  double* const sums = G + i * n;
  std::fill(sums, sums + i + 1, 0.0);
  const auto factor = [&](std::int64_t k) { return inverse_pivots[k] * W.row(k)[i]; };
  std::int64_t k = i;
  for (; k + together <= n; k += together)
    add_multiples(i + 1, {factor(k), factor(k + 1), factor(k + 2), factor(k + 3)},
                  {W.row(k), W.row(k + 1), W.row(k + 2), W.row(k + 3)}, sums);
  for (; k < n; ++k) add_multiple(i + 1, factor(k), W.row(k), sums);
  for (std::int64_t j = 0; j < i; ++j) G[j * n + i] = sums[j];
}

template <class Offset>
void require_dense_offsets(std::int64_t n) {
  convert_detail::require_offsets<Offset>("the inverse of the coarsest level", n * n,
                                          "take a smaller coarsest level, or 64-bit row pointers");
}

/// Room for every entry of an n x n matrix.
template <class Offset>
Csr<double, Offset> dense(Index n) {
  Csr<double, Offset> G{n, n, Array<Offset>(n + std::int64_t(1)), Array<Index>(std::int64_t(n) * n),
                        Array<double>(std::int64_t(n) * n, 0.0)};
  for (std::int64_t i = 0; i <= n; ++i) G.row_ptr[i] = Offset(i * n);
  for (std::int64_t k = 0; k < std::int64_t(n) * n; ++k) G.col_idx[k] = Index(k % n);
  return G;
}

}  // namespace

template <class Offset>
Csr<double, Offset> dense_inverse(const OpenMP& on, const CsrView<double, Offset, Host>& A, double vanishing,
                                  Definite definite) {
  const std::int64_t n = A.nrows;
  require_dense_offsets<Offset>(n);
  auto G = dense<Offset>(A.nrows);
  if (n == 0) return G;
  Lower L{n}, W{n};
  Array<double> inverse_pivots(n);
  for (Index i = 0; i < A.nrows; ++i)
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col_idx[k] <= i) L.row(i)[A.col_idx[k]] = A.values[k];
  const OpenMP team = n < 64 ? OpenMP{1} : on;
  factorize(n < 192 || on.threads < 4 ? OpenMP{1} : on, L, vanishing, inverse_pivots.data());  // two barriers per panel
  if (definite == Definite::made)
    for (double& d : inverse_pivots) d = std::abs(d);
  // The first columns of W are the longest, and the middle rows of G take most products.
  for_pieces(team, 0, n, 8, [&](std::int64_t first, std::int64_t last) { invert(L, first, last, W); });
  for_pieces(team, 0, n, 4, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) sum_row(W, inverse_pivots.data(), i, G.values.data());
  });
  return G;
}

template <class Offset>
Csr<double, Offset> dense_inverse_by_rows(const CsrView<double, Offset, Host>& A, double vanishing) {
  const std::int64_t n = A.nrows;
  require_dense_offsets<Offset>(n);
  Array<double> entries(n * n, 0.0), inverse(n * n, 0.0);
  Array<Index> column_of(n);               // whose pivot row k has
  Array<double> size(n, 0.0);              // of the largest entry of each column
  std::vector<double*> left(n), right(n);  // the rows of A, which become those of the identity, and of the identity
  for (std::int64_t i = 0; i < n; ++i) {
    left[i] = entries.data() + i * n, right[i] = inverse.data() + i * n;
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const Index j = A.col_idx[k];
      left[i][j] = A.values[k];
      size[j] = std::max(size[j], std::fabs(A.values[k]));
    }
    right[i][i] = 1;
  }
  const double least = double(n) * std::max(vanishing, rounding);
  std::int64_t rank = 0;
  with_avx2([&] {
    for (std::int64_t c = 0; c < n; ++c) {
      std::int64_t best = rank;
      for (std::int64_t i = rank; i < n; ++i)
        if (std::fabs(left[i][c]) > std::fabs(left[best][c])) best = i;
      if (rank == n || !(std::fabs(left[best][c]) > least * size[c])) continue;
      std::swap(left[rank], left[best]), std::swap(right[rank], right[best]);
      const double pivot = left[rank][c];
      for (std::int64_t i = 0; i < n; ++i) {
        const double factor = left[i][c] / pivot;
        if (i == rank || factor == 0) continue;
        add_multiple(n - c, -factor, left[rank] + c, left[i] + c);
        add_multiple(n, -factor, right[rank], right[i]);
      }
      column_of[rank++] = Index(c);
    }
  });
  auto G = dense<Offset>(A.nrows);
  for (std::int64_t k = 0; k < rank; ++k) {
    const double pivot = left[k][column_of[k]];
    for (std::int64_t j = 0; j < n; ++j) G.values[column_of[k] * n + j] = right[k][j] / pivot;
  }
  return G;
}

template Csr<double, std::int32_t> dense_inverse_by_rows(const CsrView<double, std::int32_t, Host>&, double);
template Csr<double, std::int64_t> dense_inverse_by_rows(const CsrView<double, std::int64_t, Host>&, double);
template Csr<double, std::int32_t> dense_inverse(const OpenMP&, const CsrView<double, std::int32_t, Host>&, double,
                                                 Definite);
template Csr<double, std::int64_t> dense_inverse(const OpenMP&, const CsrView<double, std::int64_t, Host>&, double,
                                                 Definite);

}  // namespace seidel
