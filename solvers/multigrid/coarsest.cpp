// A dense inverse by L D L'.
#include <seidel/solvers/multigrid/coarsest.hpp>

#include <algorithm>
#include <cmath>

#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/simd.hpp>

namespace seidel {

namespace {

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

/// L becomes the factor, without its diagonal of ones, and `inverse_pivots` those of D, 0 for rows that are left out.
void factorize(Lower& L, double vanishing, double* inverse_pivots) {
  const std::int64_t n = L.n;
  constexpr double rounding = 8 * 0x1p-53;
  const double least = double(n) * std::max(vanishing, rounding);
  // What rounding may leave of a pivot that is 0: that of its own row, and d_k -= l_ki^2 d_i of the pivots before it.
  Array<double> column(n), diagonal(n), doubt(n);
  for (std::int64_t i = 0; i < n; ++i) {
    diagonal[i] = L.row(i)[i];
    doubt[i] = std::sqrt(double(n)) * rounding * diagonal[i];
  }
  for (std::int64_t k = 0; k < n; ++k) {
    const double pivot = L.row(k)[k];
    const bool vanishes = !(pivot > std::max(least * diagonal[k], doubt[k]));
    inverse_pivots[k] = vanishes ? 0 : 1 / pivot;
    for (std::int64_t i = k + 1; i < n; ++i) column[i] = L.row(i)[k];
    for (std::int64_t i = k + 1; i < n; ++i) {
      const double factor = column[i] * inverse_pivots[k];
      add_multiple(i - k, -factor, column.data() + k + 1, L.row(i) + k + 1);
      L.row(i)[k] = factor;
      doubt[i] += factor * factor * doubt[k];
    }
  }
}

/// W = L^-1, row by row: w_i = e_i - sum over k < i of l_ik w_k.
Lower inverse_of(Lower& L) {
  Lower W{L.n};
  for (std::int64_t i = 0; i < L.n; ++i) {
    for (std::int64_t k = 0; k < i; ++k) add_multiple(k + 1, -L.row(i)[k], W.row(k), W.row(i));
    W.row(i)[i] = 1;
  }
  return W;
}

}  // namespace

template <class Offset>
Csr<double, Offset> dense_inverse(const CsrView<double, Offset, Host>& A, double vanishing) {
  const std::int64_t n = A.nrows;
  Csr<double, Offset> G{A.nrows, A.nrows, Array<Offset>(n + 1), Array<Index>(n * n), Array<double>(n * n)};
  for (std::int64_t i = 0; i <= n; ++i) G.row_ptr[i] = Offset(i * n);
  for (std::int64_t k = 0; k < n * n; ++k) G.col_idx[k] = Index(k % n);
  with_avx2([&] {
    Lower L{n}, sum{n};
    for (Index i = 0; i < A.nrows; ++i)
      for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (A.col_idx[k] <= i) L.row(i)[A.col_idx[k]] = A.values[k];
    Array<double> inverse_pivots(n);
    factorize(L, vanishing, inverse_pivots.data());
    Lower W = inverse_of(L);
    for (std::int64_t k = 0; k < n; ++k)  // G = sum over k of w_k' d_k^-1 w_k
      for (std::int64_t i = 0; i <= k; ++i) add_multiple(i + 1, inverse_pivots[k] * W.row(k)[i], W.row(k), sum.row(i));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j) G.values[i * n + j] = G.values[j * n + i] = sum.row(i)[j];
  });
  return G;
}

template Csr<double, std::int32_t> dense_inverse(const CsrView<double, std::int32_t, Host>&, double);
template Csr<double, std::int64_t> dense_inverse(const CsrView<double, std::int64_t, Host>&, double);

}  // namespace seidel
