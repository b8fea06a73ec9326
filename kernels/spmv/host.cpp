// Products and residuals on the host: one core or several, the same code.
#include <algorithm>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/spmv/spmv.hpp>

namespace seidel::spmv_detail {

namespace {

/// Short rows that are summed side by side: the terms of one wait for each other. And how many entries before its sum a
/// row is asked for: processors do not look beyond the end of a page by themselves.
constexpr int rows_together = 4;
constexpr std::int64_t entries_ahead = 256;

/// The entries of a CSR matrix and the vector that it is multiplied by.
template <class Real>
struct Entries {
  const Index* col_idx;
  const Real* values;
  const Real* x;
  Real add(std::int64_t k, Real s) const { return std::fma(values[k], x[col_idx[k]], s); }
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
/// The same with masks for an incomplete round, whose lanes a compiler leaves to scalars. Elements of x are fetched one by
/// one: a gather takes longer.
[[gnu::target("avx512f,avx512vl,avx512dq,avx512bw,bmi2")]] double sum_of_block_avx512(const Entries<double>& A,
                                                                                      std::int64_t first,
                                                                                      std::int64_t last) {
  constexpr int width = 8, parts = sum_lanes / width;
  __m512d lanes[parts] = {};
  std::int64_t k = first;
  for (; k + sum_lanes <= last; k += sum_lanes)
    for (int part = 0; part < parts; ++part) {
      const Index* const c = A.col_idx + k + part * width;
      const __m512d factors =
          _mm512_setr_pd(A.x[c[0]], A.x[c[1]], A.x[c[2]], A.x[c[3]], A.x[c[4]], A.x[c[5]], A.x[c[6]], A.x[c[7]]);
      lanes[part] = _mm512_fmadd_pd(_mm512_loadu_pd(A.values + k + part * width), factors, lanes[part]);
    }
  for (int part = 0; part < parts && k < last; ++part, k += width) {
    const __mmask8 mask = __mmask8(_bzhi_u32(0xff, unsigned(last - k)));
    const __m256i columns = _mm256_maskz_loadu_epi32(mask, A.col_idx + k);
    const __m512d factors = _mm512_mask_i32gather_pd(_mm512_setzero_pd(), mask, columns, A.x, sizeof(double));
    lanes[part] = _mm512_mask3_fmadd_pd(_mm512_maskz_loadu_pd(mask, A.values + k), factors, lanes[part], mask);
  }
  double of_8[width];
  _mm512_storeu_pd(of_8, _mm512_add_pd(_mm512_add_pd(lanes[0], lanes[2]), _mm512_add_pd(lanes[1], lanes[3])));
  return ((of_8[0] + of_8[4]) + (of_8[2] + of_8[6])) + ((of_8[1] + of_8[5]) + (of_8[3] + of_8[7]));
}
#endif

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

/// Rows first ... last - 1 of CSR; by value, so that pointers stay in registers.
template <class Real, class Offset, class Store, class BlockSum>
void csr_rows(const Offset* row_ptr, const Entries<Real> A, const Store store, const BlockSum sum_of_block,
              std::int64_t first, std::int64_t last) {
  const auto store_finished = [=](std::int64_t row, Real s, std::int64_t k, std::int64_t end) {
    for (; k < end; ++k) s = A.add(k, s);
    store(Index(row), s);
  };
  for (std::int64_t row = first; row < last;) {
    const std::int64_t end = std::min(row + rows_together, last);
    if (end - row == rows_together) {
      const std::int64_t at0 = row_ptr[row], at1 = row_ptr[row + 1], at2 = row_ptr[row + 2], at3 = row_ptr[row + 3],
                         at4 = row_ptr[row + 4];
      const std::int64_t longest = std::max(std::max(at1 - at0, at2 - at1), std::max(at3 - at2, at4 - at3));
      if (longest <= short_sum) {
        for (std::int64_t k = at0 + entries_ahead; k < at4 + entries_ahead; k += 64 / sizeof(Real))
          __builtin_prefetch(A.values + k);
        for (std::int64_t k = at0 + entries_ahead; k < at4 + entries_ahead; k += 64 / sizeof(Index))
          __builtin_prefetch(A.col_idx + k);
        const std::int64_t shortest = std::min(std::min(at1 - at0, at2 - at1), std::min(at3 - at2, at4 - at3));
        const std::int64_t to1 = at1 - at0, to2 = at2 - at0, to3 = at3 - at0;
        Real s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (std::int64_t k = at0; k < at0 + shortest; ++k)
          s0 = A.add(k, s0), s1 = A.add(k + to1, s1), s2 = A.add(k + to2, s2), s3 = A.add(k + to3, s3);
        store_finished(row, s0, at0 + shortest, at1);
        store_finished(row + 1, s1, at1 + shortest, at2);
        store_finished(row + 2, s2, at2 + shortest, at3);
        store_finished(row + 3, s3, at3 + shortest, at4);
        row = end;
        continue;
      }
    }
    for (; row < end; ++row) store(Index(row), row_sum(A, sum_of_block, row_ptr[row], row_ptr[row + 1]));
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
  auto* block_sum = sum_of_block<Real>;
#ifdef __x86_64__
  if constexpr (std::is_same_v<Real, double>)
    if (best_instruction_set() == InstructionSet::avx512) block_sum = sum_of_block_avx512;
#endif
  with_avx2([&] { csr_rows(A.row_ptr.data(), entries, store, block_sum, first, last); },
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

template <class Real, class Offset, class Store>
void share_out(const OpenMP& on, const CsrView<Real, Offset, Host>& A, const Real* x, const Store& store) {
  for_row_shares(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) { rows(A, x, store, first, last); });
}
template <class Real, int block, class Store>
void share_out(const OpenMP& on, const BsrView<Real, block, Host>& A, const Real* x, const Store& store) {
  for_row_shares(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) { rows(A, x, store, first, last); });
}
template <class Matrix, class Store>
void share_out(const OpenMP& on, const Matrix& A, const typename Matrix::Real* x, const Store& store) {
  for_shares(on, A.nrows, 1, [&](std::int64_t first, std::int64_t last, int) { rows(A, x, store, first, last); });
}

}  // namespace

template <class Matrix, class Store>
void product(const OpenMP& on, const Matrix& A, const typename Matrix::Real* x, const Store& store) {
  share_out(on, A, x, store);
}

/// Never called: names every product, so that its code is emitted here.
template <class Real>
void instances(const OpenMP& on, Real* x) {
  const auto both = [&](const auto& A) {
    product(on, A, x, StoreProduct<Real>{x});
    product(on, A, x, StoreResidual<Real>{x, x});
  };
  std::apply([&](const auto&... A) { (both(A), ...); }, SpmvMatrices<Real, Host>{});
}
template void instances(const OpenMP&, double*);
template void instances(const OpenMP&, float*);

}  // namespace seidel::spmv_detail
