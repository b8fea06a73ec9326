// Matrices that kernels are tested on, and what tests compare with.
#pragma once
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/ell.hpp>
#include <seidel/formats/sell.hpp>

#include "../matrices.hpp"

namespace seidel::tests {

/// Padding is poisoned: a kernel that reads it fails.
template <class Real>
Ell<Real> ell_of(const Csr<Real, std::int32_t>& A) {
  Ell<Real> E{A.nrows, A.ncols, 0, Array<Index>(A.nrows), {}, {}, A.nnz()};
  for (Index i = 0; i < A.nrows; ++i) E.width = std::max(E.width, E.row_length[i] = A.row_ptr[i + 1] - A.row_ptr[i]);
  E.col_idx = Array<Index>(std::int64_t(E.width) * A.nrows, 0);
  E.values = Array<Real>(std::int64_t(E.width) * A.nrows, std::numeric_limits<Real>::quiet_NaN());
  for (Index i = 0; i < A.nrows; ++i)
    for (Index k = 0; k < E.row_length[i]; ++k) {
      E.col_idx[E.view().at(i, k)] = A.col_idx[A.row_ptr[i] + k];
      E.values[E.view().at(i, k)] = A.values[A.row_ptr[i] + k];
    }
  return E;
}

/// Slices of C rows; rows are taken in the order of `permutation`, or of the matrix if it is empty. Padding is
/// poisoned.
template <class Real>
Sell<Real> sell_of(const Csr<Real, std::int32_t>& A, Index C, const std::vector<Index>& permutation = {}) {
  const std::int64_t nslices = (A.nrows + C - 1) / C;
  Sell<Real> S{A.nrows,     A.ncols, C,  1,      Array<std::int64_t>(nslices + 1), Array<Index>(C * nslices, 0),
               permutation, {},      {}, A.nnz()};
  S.slice_ptr[0] = 0;
  const auto row_at = [&](std::int64_t p) { return permutation.empty() ? Index(p) : permutation[p]; };
  for (std::int64_t s = 0; s < nslices; ++s) {
    Index width = 0;
    for (std::int64_t p = s * C; p < std::min<std::int64_t>(A.nrows, (s + 1) * C); ++p)
      width = std::max(width, S.row_length[p] = A.row_ptr[row_at(p) + 1] - A.row_ptr[row_at(p)]);
    S.slice_ptr[s + 1] = S.slice_ptr[s] + std::int64_t(width) * C;
  }
  S.col_idx = Array<Index>(S.slice_ptr[nslices], 0);
  S.values = Array<Real>(S.slice_ptr[nslices], std::numeric_limits<Real>::quiet_NaN());
  for (std::int64_t p = 0; p < A.nrows; ++p)
    for (Index k = 0; k < S.row_length[p]; ++k) {
      const std::int64_t at = S.slice_ptr[p / C] + k * std::int64_t(C) + p % C;
      S.col_idx[at] = A.col_idx[A.row_ptr[row_at(p)] + k];
      S.values[at] = A.values[A.row_ptr[row_at(p)] + k];
    }
  return S;
}

template <class Real>
std::vector<Real> random_values(std::int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Real> x(n);
  for (auto& v : x) v = Real(uniform(random));
  return x;
}

template <class Real>
std::vector<Real> poisoned(std::int64_t n) {
  return std::vector<Real>(n, std::numeric_limits<Real>::quiet_NaN());
}

/// Elements that differ; NaN differs from all.
template <class Real>
std::int64_t differing(const std::vector<Real>& x, const std::vector<Real>& y) {
  if (x.size() != y.size()) return std::int64_t(std::max(x.size(), y.size()));
  std::int64_t count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) count += !(x[i] == y[i]);
  return count;
}

/// Every seam of the one sum: 0 ... 70 entries, around one and two blocks, many blocks.
std::vector<std::int64_t> awkward_lengths();

/// Row k of the result is row new_to_old[k] of A, columns likewise.
Plain permuted(const Plain& A, const Array<Index>& new_to_old);

/// n rows with `entries` at random places and a dominant diagonal, which is negative in every fifth row.
Plain random_square(Index n, Index entries, unsigned seed);

struct NamedPlain {
  std::string name;
  Plain plain;
};

/// Square matrices with a full diagonal whose sweeps are hard to get right.
std::vector<NamedPlain> awkward_to_sweep(unsigned seed);

}  // namespace seidel::tests
