// Products and residuals on the host: one core or several, the same code.
#include <algorithm>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/spmv/spmv.hpp>

namespace seidel::spmv_detail {

namespace {

/// Short rows that are summed side by side: the terms of one wait for each other. And how many entries before its sum a
/// row is asked for: processors do not look beyond the end of a page by themselves.
constexpr int rows_together = 4;
constexpr std::int64_t entries_ahead = 512;
/// The end of a loop that is not foreseen costs as much as so many terms. Four rows of uneven length go on to the end of the
/// longest where that adds no more terms than it saves.
constexpr std::int64_t terms_per_misprediction = 10;
/// Rows from which on it pays to look whether their columns are those of their neighbours, shifted.
constexpr std::int64_t min_shifted = 16;

/// The entries of a CSR matrix and the vector that it is multiplied by.
template <class Real>
struct Entries {
  const Index* col_idx;
  const Real* values;
  const Real* x;
  Real add(std::int64_t k, Real s) const { return std::fma(values[k], x[col_idx[k]], s); }
  Entries from(std::int64_t first) const { return {col_idx + first, values + first, x}; }
  /// Asks for what comes after entries first ... last - 1.
  void fetch_later(std::int64_t first, std::int64_t last) const {
    for (std::int64_t k = first + entries_ahead; k < last + entries_ahead; k += 64 / sizeof(Real))
      __builtin_prefetch(values + k);
    for (std::int64_t k = first + entries_ahead; k < last + entries_ahead; k += 64 / sizeof(Index))
      __builtin_prefetch(col_idx + k);
  }
};

/// A block of terms (kernels/sum.hpp).
template <class Real>
[[gnu::noinline]] Real sum_of_block(const Entries<Real>& A, std::int64_t first, std::int64_t last) {
  Real sum;
  with_avx2([&] {
    sum = seidel::sum_of_block<Real>(0, last - first, RowTerm<Real>{A.col_idx + first, A.values + first, 1, A.x});
  });
  return sum;
}

#ifdef __x86_64__
/// The same of rows that have the columns of the first one, one after the other: elements of x are fetched once. With masks
/// for an incomplete round, whose lanes a compiler leaves to scalars. Elements of x are fetched one by one: a gather takes
/// longer.
template <int nrows>
[[gnu::target("avx512f,avx512vl,avx512dq,avx512bw,bmi2")]] void sums_of_block_avx512(const Entries<double>& A,
                                                                                     std::int64_t first,
                                                                                     std::int64_t length,
                                                                                     double* sums) {
  constexpr int width = 8, parts = sum_lanes / width;
  __m512d lanes[nrows][parts] = {};
  const Index* const columns = A.col_idx + first;
  const double* const values = A.values + first;
  std::int64_t k = 0;
  for (; k + sum_lanes <= length; k += sum_lanes)
    for (int part = 0; part < parts; ++part) {
      const std::int64_t at = k + part * width;
      const Index* const c = columns + at;
      const __m512d factors =
          _mm512_setr_pd(A.x[c[0]], A.x[c[1]], A.x[c[2]], A.x[c[3]], A.x[c[4]], A.x[c[5]], A.x[c[6]], A.x[c[7]]);
      for (int i = 0; i < nrows; ++i)
        lanes[i][part] = _mm512_fmadd_pd(_mm512_loadu_pd(values + i * length + at), factors, lanes[i][part]);
    }
  for (int part = 0; part < parts && k < length; ++part, k += width) {
    const __mmask8 mask = __mmask8(_bzhi_u32(0xff, unsigned(length - k)));
    const __m256i some = _mm256_maskz_loadu_epi32(mask, columns + k);
    const __m512d factors = _mm512_mask_i32gather_pd(_mm512_setzero_pd(), mask, some, A.x, sizeof(double));
    for (int i = 0; i < nrows; ++i)
      lanes[i][part] =
          _mm512_mask3_fmadd_pd(_mm512_maskz_loadu_pd(mask, values + i * length + k), factors, lanes[i][part], mask);
  }
  for (int i = 0; i < nrows; ++i) {
    double of_8[width];
    _mm512_storeu_pd(of_8,
                     _mm512_add_pd(_mm512_add_pd(lanes[i][0], lanes[i][2]), _mm512_add_pd(lanes[i][1], lanes[i][3])));
    sums[i] = ((of_8[0] + of_8[4]) + (of_8[2] + of_8[6])) + ((of_8[1] + of_8[5]) + (of_8[3] + of_8[7]));
  }
}
double sum_of_block_avx512(const Entries<double>& A, std::int64_t first, std::int64_t last) {
  double sum;
  sums_of_block_avx512<1>(A, first, last - first, &sum);
  return sum;
}
/// Three rows of `length` entries, if they have the same columns.
[[gnu::target("avx2")]] bool sums_of_equal_avx512(const Entries<double>& A, std::int64_t first, std::int64_t length,
                                                  double* sums) {
  constexpr std::int64_t width = 8;
  const Index* const c = A.col_idx + first;
  if (c[0] != c[length] || c[0] != c[2 * length]) return false;
  const auto at = [c](std::int64_t k) __attribute__((target("avx2"), always_inline)) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(c + k));
  };
  __m256i differ = _mm256_setzero_si256();
  for (std::int64_t k = 0; k < 2 * length; k += width) {
    const std::int64_t from = std::min(k, 2 * length - width);
    differ = _mm256_or_si256(differ, _mm256_xor_si256(at(from), at(from + length)));
  }
  if (!_mm256_testz_si256(differ, differ)) return false;
  sums_of_block_avx512<3>(A, first, length, sums);
  return true;
}

/// Whether each of four rows of `length` entries has the columns of the row before plus one. By hand, since compilers leave
/// the loop to scalars.
[[gnu::target("avx2")]] inline bool are_shifted(const Index* c, std::int64_t length) {
  constexpr std::int64_t width = 8;
  const std::int64_t n = 3 * length;
  if (n < width || c[length] - c[0] != 1 || c[n + length - 1] - c[n - 1] != 1) return false;
  const __m256i one = _mm256_set1_epi32(1);
  __m256i differ = _mm256_setzero_si256();
  for (std::int64_t k = 0; k < n; k += width) {
    const std::int64_t at = std::min(k, n - width);
    differ = _mm256_or_si256(
        differ,
        _mm256_xor_si256(one, _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(c + at + length)),
                                               _mm256_loadu_si256(reinterpret_cast<const __m256i*>(c + at)))));
  }
  return _mm256_testz_si256(differ, differ);
}

/// Four rows of `length` entries, each with the columns of the row before plus one, so that their factors are neighbours in
/// x. Up to 3 entries after the last row are read, and not used.
[[gnu::target("avx2,fma")]] bool sums_of_shifted_avx2(const Entries<double>& A, std::int64_t first, std::int64_t length,
                                                      double* sums) {
  const Index* const c = A.col_idx + first;
  if (!are_shifted(c, length)) return false;
  const double* const values = A.values + first;
  __m256d s = _mm256_setzero_pd();
  for (std::int64_t k = 0; k < length; k += 4) {
    const __m256d row0 = _mm256_loadu_pd(values + k), row1 = _mm256_loadu_pd(values + length + k),
                  row2 = _mm256_loadu_pd(values + 2 * length + k), row3 = _mm256_loadu_pd(values + 3 * length + k);
    const __m256d even01 = _mm256_unpacklo_pd(row0, row1), odd01 = _mm256_unpackhi_pd(row0, row1),
                  even23 = _mm256_unpacklo_pd(row2, row3), odd23 = _mm256_unpackhi_pd(row2, row3);
    const std::int64_t left = length - k;
    s = _mm256_fmadd_pd(_mm256_permute2f128_pd(even01, even23, 0x20), _mm256_loadu_pd(A.x + c[k]), s);
    if (left < 2) break;
    s = _mm256_fmadd_pd(_mm256_permute2f128_pd(odd01, odd23, 0x20), _mm256_loadu_pd(A.x + c[k + 1]), s);
    if (left < 3) break;
    s = _mm256_fmadd_pd(_mm256_permute2f128_pd(even01, even23, 0x31), _mm256_loadu_pd(A.x + c[k + 2]), s);
    if (left < 4) break;
    s = _mm256_fmadd_pd(_mm256_permute2f128_pd(odd01, odd23, 0x31), _mm256_loadu_pd(A.x + c[k + 3]), s);
  }
  _mm256_storeu_pd(sums, s);
  return true;
}
#endif

/// How several rows are summed on this processor.
template <class Real>
struct SumsOfRows {
  Real (*of_block)(const Entries<Real>&, std::int64_t first, std::int64_t last) = sum_of_block<Real>;
  /// Of four rows whose columns are shifted: false if they are not. Null where it is not compiled.
  bool (*of_shifted)(const Entries<Real>&, std::int64_t first, std::int64_t length, Real* sums) = nullptr;
  /// Of three rows of 65 to 2048 entries each whose columns are the same, as in the rows of a node.
  bool (*of_equal)(const Entries<Real>&, std::int64_t first, std::int64_t length, Real* sums) = nullptr;
};

/// A row of any length.
template <class Real, class BlockSum>
Real row_sum(const Entries<Real>& A, const BlockSum& sum_of_block, std::int64_t first, std::int64_t last) {
  if (last - first <= short_sum) {
    Real s = 0;
    for (std::int64_t k = first; k < last; ++k) s = A.add(k, s);
    return s;
  }
  if (last - first <= sum_block) return sum_of_block(A, first, last);
  PairwiseTree<Real> tree;
  for (std::int64_t k = first; k < last; k += sum_block) tree.push(sum_of_block(A, k, std::min(k + sum_block, last)));
  return tree.sum();
}

/// More than 64 terms, `stride` apart; apart from the loops over rows, whose code it would swell.
template <class Real>
[[gnu::noinline]] Real long_sum(const RowTerm<Real>& term, std::int64_t length) {
  if (term.stride == 1) return row_sum(Entries<Real>{term.col_idx, term.values, term.x}, sum_of_block<Real>, 0, length);
  Real sum;
  with_avx2([&] { sum = sum_of_long<Real>(length, term); });
  return sum;
}

/// Four rows of up to 64 entries, side by side; false if they are not, or too uneven, or the last ones of the matrix.
template <class Real, class Offset, class Store>
bool store_four(const Offset* row_ptr, std::int64_t nnz, const Entries<Real>& A, const Store& store,
                const SumsOfRows<Real>& sums_of, std::int64_t row) {
  const std::int64_t at0 = row_ptr[row], at1 = row_ptr[row + 1], at2 = row_ptr[row + 2], at3 = row_ptr[row + 3],
                     at4 = row_ptr[row + 4];
  const std::int64_t longest = std::max(std::max(at1 - at0, at2 - at1), std::max(at3 - at2, at4 - at3));
  const std::int64_t added = rows_together * longest - (at4 - at0);
  if (longest > short_sum || added > rows_together * terms_per_misprediction || at3 + longest + rows_together > nnz)
    return false;
  A.fetch_later(at0, at4);
  if (Real sums[rows_together];
      sums_of.of_shifted && longest >= min_shifted && added == 0 && sums_of.of_shifted(A, at0, longest, sums)) {
    for (int i = 0; i < rows_together; ++i) store(Index(row + i), sums[i]);
    return true;
  }
  const Entries<Real> row0 = A.from(at0), row1 = A.from(at1), row2 = A.from(at2), row3 = A.from(at3);
  Real s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  if (added == 0) {
    for (std::int64_t k = 0; k < longest; ++k)
      s0 = row0.add(k, s0), s1 = row1.add(k, s1), s2 = row2.add(k, s2), s3 = row3.add(k, s3);
    store(Index(row), s0), store(Index(row + 1), s1), store(Index(row + 2), s2), store(Index(row + 3), s3);
    return true;
  }
  // All go on to the end of the longest and keep each partial sum.
  Real partial[rows_together][short_sum + 1];
  for (auto& of_row : partial) of_row[0] = 0;
  for (std::int64_t k = 0; k < longest; ++k) {
    partial[0][k + 1] = s0 = row0.add(k, s0), partial[1][k + 1] = s1 = row1.add(k, s1);
    partial[2][k + 1] = s2 = row2.add(k, s2), partial[3][k + 1] = s3 = row3.add(k, s3);
  }
  store(Index(row), partial[0][at1 - at0]), store(Index(row + 1), partial[1][at2 - at1]);
  store(Index(row + 2), partial[2][at3 - at2]), store(Index(row + 3), partial[3][at4 - at3]);
  return true;
}

/// A row, or three long ones with the same columns. Returns how many.
template <class Real, class Offset, class Store>
int store_one_or_three(const Offset* row_ptr, const Entries<Real>& A, const Store& store,
                       const SumsOfRows<Real>& sums_of, std::int64_t row, std::int64_t last) {
  const std::int64_t begin = row_ptr[row], end = row_ptr[row + 1], length = end - begin;
  if (sums_of.of_equal && length > short_sum && length <= sum_block && row + 3 <= last &&
      row_ptr[row + 2] - begin == 2 * length && row_ptr[row + 3] - begin == 3 * length) {
    A.fetch_later(begin, begin + 3 * length);
    if (Real sums[3]; sums_of.of_equal(A, begin, length, sums)) {
      for (int i = 0; i < 3; ++i) store(Index(row + i), sums[i]);
      return 3;
    }
  }
  A.fetch_later(begin, end);
  store(Index(row), row_sum(A, sums_of.of_block, begin, end));
  return 1;
}

/// Rows first ... last - 1 of CSR; by value, so that pointers stay in registers.
template <class Real, class Offset, class Store>
void csr_rows(const Offset* row_ptr, std::int64_t nnz, const Entries<Real> A, const Store store,
              const SumsOfRows<Real> sums_of, std::int64_t first, std::int64_t last) {
  for (std::int64_t row = first; row < last;) {
    const std::int64_t end = row + rows_together;
    if (end <= last && store_four(row_ptr, nnz, A, store, sums_of, row))
      row = end;
    else
      while (row < std::min(end, last)) row += store_one_or_three(row_ptr, A, store, sums_of, row, last);
  }
}

/// A row of any length, without AVX2.
template <class Real>
[[gnu::noinline]] Real plain_sum(const RowTerm<Real>& term, std::int64_t length) {
  return length <= short_sum ? sum_left_to_right<Real>(0, length, 1, term) : long_sum(term, length);
}
template <class Matrix, class Store>
void plain_rows(const Matrix& A, const typename Matrix::Real* x, const Store& store, std::int64_t first,
                std::int64_t last) {
  each_row(A, first, last, x, [&](const auto& row) { store(row.row, plain_sum(row.term, row.length)); });
}

template <class Real, class Offset, class Store>
void rows(const CsrView<Real, Offset, Host>& A, const Real* x, const Store& store, std::int64_t first,
          std::int64_t last) {
  const Entries<Real> entries{A.col_idx.data(), A.values.data(), x};
  SumsOfRows<Real> sums_of;
#ifdef __x86_64__
  if constexpr (std::is_same_v<Real, double>) {
    sums_of.of_shifted = sums_of_shifted_avx2;
    if (best_instruction_set() == InstructionSet::avx512)
      sums_of.of_block = sum_of_block_avx512, sums_of.of_equal = sums_of_equal_avx512;
  }
#endif
  with_avx2([&] { csr_rows(A.row_ptr.data(), A.row_ptr[A.nrows], entries, store, sums_of, first, last); },
            [&] { plain_rows(A, x, store, first, last); });
}

template <class Matrix, class Store>
void rows(const Matrix& A, const typename Matrix::Real* x, const Store& store, std::int64_t first, std::int64_t last) {
  with_avx2(
      [&] {
        each_row(A, first, last, x, [&](const auto& row) {
          store(row.row, row.length <= short_sum ? sum_left_to_right<typename Matrix::Real>(0, row.length, 1, row.term)
                                                 : long_sum(row.term, row.length));
        });
      },
      [&] { plain_rows(A, x, store, first, last); });
}

}  // namespace

template <class Matrix, class Store>
void product(const OpenMP& on, const Matrix& A, const typename Matrix::Real* x, const Store& store) {
  if constexpr (requires { A.row_ptr; })  // of rows, or of rows of blocks
    for_row_shares(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) { rows(A, x, store, first, last); });
  else
    for_shares(on, A.nrows, 1, [&](std::int64_t first, std::int64_t last, int) { rows(A, x, store, first, last); });
}

/// Never called: names every product, so that its code is emitted here.
void instances(const OpenMP& on) {
  with_each_real([&]<class Real>(Real* x) {
    const auto both = [&](const auto& A) {
      product(on, A, x, StoreProduct<Real>{x});
      product(on, A, x, StoreResidual<Real>{x, x});
    };
    std::apply([&](const auto&... A) { (both(A), ...); }, SpmvMatrices<Real, Host>{});
  });
}

}  // namespace seidel::spmv_detail
