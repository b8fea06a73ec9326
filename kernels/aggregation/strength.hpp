// Which couplings of a matrix are strong.
//
//   c_ij = -sign(a_ii) a_ij,   m_i = max over j != i of c_ij,   strong: c_ij > 0 and c_ij >= theta sqrt(m_i m_j)
//
// and for classical coarsening strong: c_ij >= theta min(m_i, m_j) > 0.
//
// A coupling is measured against the largest ones of both its rows: so equal couplings are all strong, whatever the
// diagonal, weak directions drop out, and nothing joins two regions across a jump of the coefficients. Couplings of the
// sign of the diagonal are never strong: the error need not be smooth along them.
// Source  Ruge, Stueben, Algebraic multigrid, in McCormick (ed.), Multigrid methods, SIAM 1987: couplings relative to the
//         largest; Vanek, Mandel, Brezina, Algebraic multigrid by smoothed aggregation, Computing 56, 1996: symmetric in i, j.
#pragma once
#include <cstdint>

#include <seidel/formats/convert.hpp>
#include <seidel/formats/runtime/array.hpp>
#include <seidel/kernels/aggregation/rows.hpp>

namespace seidel {

/// The couplings of a matrix that are strong.
enum class Strength {
  to_both,    // measured by sqrt(m_i m_j)
  to_either,  // by the smaller of the two: what is strong for one of its rows, so that a row has a strong coupling if any
};

/// What a row is measured by, one entry per row.
template <MemorySpace Space>
struct RowScales {
  Array<double, Space> inverse_diagonal;  // 1 / a_ii, or 0 where a row cannot be divided by its diagonal
  Array<double, Space> largest_coupling;  // m_i; 0 where no coupling is positive
  Array<double, Space> off_diagonal;      // sum over j != i of |a_ij / a_ii|; infinite where that, or 1 / a_ii, is not
                                          // finite, 0 for a row of zeros
};

/// The graph of strong couplings, in the pattern of the matrix: entry k of row i holds its column j where i and j are
/// strongly coupled, else ~j, which is negative.
template <class Offset, MemorySpace Space>
struct StrongView {
  Span<const Offset, Space> row_ptr;
  Span<const Index, Space> neighbour;
};

namespace aggregation_detail {

template <class Offset, class Space>
struct ScalesOfRow {
  Span<double, Space> inverse_diagonal, largest_coupling, off_diagonal;

  SEIDEL_HD void operator()(Index i, const CsrView<double, Offset, Space>& A) const {
    double diagonal = 0, lowest = 0, highest = 0, sum = 0;
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const double a = A.values[k];
      if (A.col_idx[k] == i) {
        diagonal = a;
      } else {
        sum += std::fabs(a);
        lowest = a < lowest ? a : lowest;
        highest = a > highest ? a : highest;
      }
    }
    const double inverse = 1 / diagonal, ratio = sum * std::fabs(inverse);
    const bool usable = inverse - inverse == 0 && ratio - ratio == 0;
    inverse_diagonal[i] = usable ? inverse : 0;
    largest_coupling[i] = !usable ? 0 : diagonal > 0 ? -lowest : highest;
    off_diagonal[i] = usable ? ratio : diagonal == 0 && sum == 0 ? 0 : std::numeric_limits<double>::infinity();
  }
};

template <class Offset, class Space>
struct MarkStrong {
  CsrView<double, Offset, Space> A;
  Span<const double, Space> inverse_diagonal, largest_coupling;
  Strength strength;
  double theta;
  Span<Index, Space> neighbour;

  SEIDEL_HD void operator()(Index i, Offset k) const {
    const Index j = A.col_idx[k];
    const double coupling = (inverse_diagonal[i] > 0 ? -1 : 1) * A.values[k];
    const double mine = largest_coupling[i], theirs = largest_coupling[j];
    // Quotients, which neither overflow nor depend on the scale of A; without a root, so that equal couplings are equal.
    const double of_mine = coupling / mine, of_theirs = coupling / theirs;
    const bool large = strength == Strength::to_both ? of_mine * of_theirs >= theta * theta
                                                     : (of_mine >= theta) | (of_theirs >= theta);
    const bool strong = (j != i) & (coupling > 0) & (mine > 0) & (theirs > 0) & large;
    neighbour[k] = j ^ (Index(strong) - 1);  // no branch, which none could foretell
  }
};

}  // namespace aggregation_detail

namespace aggregation_detail {

/// y = (x + y) / 2.
struct Average {
  const double* x;
  double* y;
  SEIDEL_HD void operator()(std::int64_t k) const { y[k] = (x[k] + y[k]) / 2; }
};

inline constexpr int packed_bits = 32;

/// Bit k % 32 of bits[k / 32]: whether entry k is a strong coupling.
template <class Space>
SEIDEL_HD bool is_strong(Span<const std::uint32_t, Space> bits, std::int64_t k) {
  return bits[k / packed_bits] >> k % packed_bits & 1;
}
template <class Space>
struct PackStrong {
  Span<const Index, Space> neighbour;
  Span<std::uint32_t, Space> bits;
  SEIDEL_HD void operator()(std::int64_t word) const {
    std::uint32_t all = 0;
    for (int b = 0; b < packed_bits && word * packed_bits + b < neighbour.size(); ++b)
      all |= std::uint32_t(neighbour[word * packed_bits + b] >= 0) << b;
    bits[word] = all;
  }
};

}  // namespace aggregation_detail

/// (A + A') / 2, whose couplings stand for those of A where it is not symmetric.
/// Shapes  the pattern of A is symmetric: of another one the result means nothing. Cost  transpose(on, A), and a pass.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> symmetric_part(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A) {
  auto half = transpose(on, A);
  aggregation_detail::for_each_of(on, A.nnz(), aggregation_detail::Average{A.values.data(), half.values.data()});
  return half;
}

/// Shapes  A is n x n. Cost  reads A once; three vectors. Does not wait.
template <Backend B, class Offset>
RowScales<SpaceOf<B>> row_scales(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A) {
  using Values = Array<double, SpaceOf<B>>;
  RowScales<SpaceOf<B>> scales{Values(on, A.nrows), Values(on, A.nrows), Values(on, A.nrows)};
  aggregation_detail::for_each_row_of(on, A,
                                      aggregation_detail::ScalesOfRow<Offset, SpaceOf<B>>{
                                          scales.inverse_diagonal, scales.largest_coupling, scales.off_diagonal});
  return scales;
}

/// Marks the couplings of A that are strong for this theta in this sense; `scales` are those of A, `neighbour` has nnz entries.
/// Cost  reads A once, writes 4 bytes per entry. Does not wait.
template <Backend B, class Offset>
void mark_strong(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A, const RowScales<SpaceOf<B>>& scales,
                 Strength strength, double theta, Span<Index, SpaceOf<B>> neighbour) {
  aggregation_detail::for_each_entry(
      on, A.row_ptr,
      aggregation_detail::MarkStrong<Offset, SpaceOf<B>>{A, scales.inverse_diagonal, scales.largest_coupling, strength,
                                                         theta, neighbour});
}

/// StrongView::neighbour as a bit per entry, to be kept. Cost  one pass. Does not wait.
template <Backend B>
Array<std::uint32_t, SpaceOf<B>> packed_strong(const B& on, Span<const Index, SpaceOf<B>> neighbour) {
  using namespace aggregation_detail;
  const std::int64_t words = (neighbour.size() + packed_bits - 1) / packed_bits;
  Array<std::uint32_t, SpaceOf<B>> bits(on, words);
  for_each_of(on, words, PackStrong<SpaceOf<B>>{neighbour, bits});
  return bits;
}

}  // namespace seidel
