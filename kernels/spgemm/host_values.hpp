// The values of a sparse product on the host where its pattern is known.
//
// For each entry a_ik of A's row, a bit per entry of C's row tells which of them get a product with row k of B: so no column is
// looked up. Both rows have ascending columns, so that the bits tell the order of these products, too. With AVX-512 eight sums
// stay in a register for all of A's row, over which the entries of B are spread by the bits. Neighbouring rows of A with the same
// columns, the unknowns of a node, have the same bits: up to three are summed side by side.
//
//   bits:  for each group of rows  their number, or 0 for one long row of C, which has no bits;
//                                  then for each a_ik of one of them a byte per 8 entries of C's row
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <seidel/formats/runtime/simd.hpp>
#include <seidel/kernels/spgemm/spgemm.hpp>

namespace seidel::spgemm_detail {

inline constexpr int max_rows_of_group = 3, max_bytes = 8;  // 24 registers for sums
inline constexpr int entries_per_byte = 8;
constexpr std::int64_t bytes_for(std::int64_t n) { return (n + entries_per_byte - 1) / entries_per_byte; }

/// The sums of row `row` of A B where `columns` are those of its n entries, ascending.
template <class Real, class Offset>
void add_products(const CsrView<Real, Offset, Host>& A, const CsrView<Real, Offset, Host>& B, std::int64_t row,
                  const Index* columns, Index n, Index* place_of, Real* sums) {
  for (Index place = 0; place < n; ++place) place_of[columns[place]] = place, sums[place] = 0;
  for (Offset e = A.row_ptr[row]; e < A.row_ptr[row + 1]; ++e) {
    const std::int64_t k = A.col_idx[e];
    const Real a = A.values[e];
    for (Offset f = B.row_ptr[k]; f < B.row_ptr[k + 1]; ++f) {
      Real& sum = sums[place_of[B.col_idx[f]]];
      sum = std::fma(a, B.values[f], sum);
    }
  }
}

/// Calls visit(row, rows, n) for each group of a part: rows = 0 for a long row, n entries of C in each. C has the pattern of A B.
template <class Real, class Offset, class Visit>
void for_groups(const Plan<Host>& plan, int part, const CsrView<Real, Offset, Host>& A,
                const CsrView<Real, Offset, Host>& C, const Visit& visit) {
  const std::int64_t last = plan.first_row[part + 1];
  const auto columns_of = [&](std::int64_t row) {
    return A.col_idx.subspan(A.row_ptr[row], A.row_ptr[row + 1] - A.row_ptr[row]);
  };
  for (std::int64_t row = plan.first_row[part]; row < last;) {
    const std::int64_t n = C.row_ptr[row + 1] - C.row_ptr[row];
    const bool is_long = bytes_for(n) > max_bytes;
    const auto columns = columns_of(row);
    int rows = 1;
    for (; !is_long && rows < max_rows_of_group && row + rows < last; ++rows) {
      const auto others = columns_of(row + rows);
      if (!std::equal(columns.begin(), columns.end(), others.begin(), others.end())) break;
    }
    visit(row, is_long ? 0 : rows, n);
    row += rows;
  }
}

/// Makes the bits of a part. C has the pattern of A B.
template <class Real, class Offset>
void keep_bits(Plan<Host>& plan, int part, const CsrView<Real, Offset, Host>& A, const CsrView<Real, Offset, Host>& B,
               const CsrView<Real, Offset, Host>& C) {
  std::int64_t size = 0;
  bool any_long = false;
  for_groups(plan, part, A, C, [&](std::int64_t row, int rows, std::int64_t n) {
    size += 1 + (rows > 0 ? (A.row_ptr[row + 1] - A.row_ptr[row]) * bytes_for(n) : 0);
    any_long = any_long || rows == 0;
  });
  Array<std::uint8_t>& bits = plan.bits[std::size_t(part)] = Array<std::uint8_t>(size, 0);
  Array<Index> place_of(B.ncols, 0);
  std::uint8_t* to = bits.data();
  for_groups(plan, part, A, C, [&](std::int64_t row, int rows, std::int64_t n) {
    *to++ = std::uint8_t(rows);
    if (rows == 0) return;
    for (std::int64_t place = 0; place < n; ++place) place_of[C.col_idx[C.row_ptr[row] + place]] = Index(place);
    for (Offset e = A.row_ptr[row]; e < A.row_ptr[row + 1]; ++e, to += bytes_for(n)) {
      const std::int64_t k = A.col_idx[e];
      for (Offset f = B.row_ptr[k]; f < B.row_ptr[k + 1]; ++f) {
        const Index place = place_of[B.col_idx[f]];
        to[place / entries_per_byte] |= std::uint8_t(1 << place % entries_per_byte);
      }
    }
  });
  if (any_long) plan.place_of[std::size_t(part)] = std::move(place_of);
}

/// The sums of a row of n entries, from its bits.
template <class Real, class Offset>
void add_by_bits(const CsrView<Real, Offset, Host>& A, const CsrView<Real, Offset, Host>& B, std::int64_t row,
                 std::int64_t n, const std::uint8_t* bits, Real* sums) {
  std::fill(sums, sums + n, Real(0));
  for (Offset e = A.row_ptr[row]; e < A.row_ptr[row + 1]; ++e) {
    const Real a = A.values[e];
    const Real* b = B.values.data() + B.row_ptr[A.col_idx[e]];
    for (Real* of_byte = sums; of_byte < sums + n; of_byte += entries_per_byte)
      for (unsigned left = *bits++; left; left &= left - 1) {
        Real& sum = of_byte[std::countr_zero(left)];
        sum = std::fma(a, *b++, sum);
      }
  }
}

#ifdef __x86_64__
/// The same for `rows` rows with these bits, which follow each other.
template <class Offset, int rows, int bytes>
[[gnu::target("avx512f,avx512vl,avx512dq,avx512bw,bmi2,popcnt")]] void add_by_masks(
    const CsrView<double, Offset, Host>& A, const CsrView<double, Offset, Host>& B, std::int64_t row, std::int64_t n,
    const std::uint8_t* bits, double* values) {
  __m512d sums[rows][bytes > 0 ? bytes : 1] = {};
  const std::int64_t first = A.row_ptr[row], length = A.row_ptr[row + 1] - first;
  for (std::int64_t e = first; e < first + length; ++e) {
    const double* b = B.values.data() + B.row_ptr[A.col_idx[e]];
    for (int byte = 0; byte < bytes; ++byte) {
      const __mmask8 mask = *bits++;
      const __m512d spread = _mm512_maskz_expandloadu_pd(mask, b);
      b += std::popcount(unsigned(mask));
      for (int r = 0; r < rows; ++r)
        sums[r][byte] = _mm512_mask3_fmadd_pd(_mm512_set1_pd(A.values[e + r * length]), spread, sums[r][byte], mask);
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int byte = 0; byte < bytes; ++byte) {
      const std::int64_t done = byte * entries_per_byte;
      _mm512_mask_storeu_pd(values + r * n + done, __mmask8(_bzhi_u32(0xff, unsigned(n - done))), sums[r][byte]);
    }
}

/// add_by_masks() by rows and bytes.
template <class Offset>
constexpr auto by_masks = []<int... i>(std::integer_sequence<int, i...>) {
  return std::array{add_by_masks<Offset, 1 + i / (max_bytes + 1), i % (max_bytes + 1)>...};
}
(std::make_integer_sequence<int, max_rows_of_group*(max_bytes + 1)>());
#endif

/// The values of C's rows of a part.
template <class Real, class Offset>
void values_of_part(Plan<Host>& plan, int part, const CsrView<Real, Offset, Host>& A,
                    const CsrView<Real, Offset, Host>& B, Csr<Real, Offset, Host>& C) {
  const std::uint8_t* bits = plan.bits[std::size_t(part)].data();
  Index* const place_of = plan.place_of[std::size_t(part)].data();
  /// Calls add(row, rows, n, values) for each group.
  const auto for_each_group = [&](const auto& add) {
    for (std::int64_t row = plan.first_row[part]; row < plan.first_row[part + 1];) {
      const Offset begin = C.row_ptr[row];
      const std::int64_t n = C.row_ptr[row + 1] - begin;
      Real* const values = C.values.data() + begin;
      const int rows = *bits++;
      if (rows == 0) {
        with_avx2([&] { add_products(A, B, row, C.col_idx.data() + begin, Index(n), place_of, values); });
      } else {
        add(row, rows, n, values);
        bits += bytes_for(n) * (A.row_ptr[row + 1] - A.row_ptr[row]);
      }
      row += std::max(rows, 1);
    }
  };
#ifdef __x86_64__
  if constexpr (std::is_same_v<Real, double>)
    if (best_instruction_set() == InstructionSet::avx512)
      return for_each_group([&](std::int64_t row, int rows, std::int64_t n, Real* values) {
        by_masks<Offset>[(rows - 1) * (max_bytes + 1) + bytes_for(n)](A, B, row, n, bits, values);
      });
#endif
  for_each_group([&](std::int64_t row, int rows, std::int64_t n, Real* values) {
    with_avx2([&] {
      for (int r = 0; r < rows; ++r) add_by_bits(A, B, row + r, n, bits, values + r * n);
    });
  });
}

}  // namespace seidel::spgemm_detail
