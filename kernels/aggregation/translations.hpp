// Nodes by their translations: where zeros are left out of the blocks, the pattern does not show how many rows belong together, but
// the values do. A body that is moved along one direction resists with no force, so in each row of an elastic body the entries
// of each unknown sum to zero: those in the columns c, c + b, c + 2 b, ... for every c < b.
#pragma once
#include <seidel/kernels/aggregation/hash.hpp>

namespace seidel {

namespace aggregation_detail {

inline constexpr Index most_unknowns_looked_for = 6;

/// Bit b of bits[s]: whether that is so for b unknowns per node in the row that is sample s.
template <class Offset, class Space>
struct SumsVanish {
  CsrView<double, Offset, Space> A;
  Span<Index, Space> bits;

  SEIDEL_HD void operator()(std::int64_t sample) const {
    constexpr double vanishing = 1e-6;  // of the magnitudes: files may have few digits
    const Index i = Index((hashed(Index(sample), 0) - 1) % std::uint32_t(A.nrows));
    Index found = 0;
    for (Index b = 2; b <= most_unknowns_looked_for; ++b) {
      double sum[most_unknowns_looked_for] = {}, all = 0, beside = 0;
      for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const double a = A.values[k];
        for (Index c = 0; c < b; ++c) sum[c] += A.col_idx[k] % b == c ? a : 0;
        all += std::fabs(a);
        beside += A.col_idx[k] == i ? 0 : std::fabs(a);
      }
      bool vanish = beside > 0;
      for (Index c = 0; c < b; ++c) vanish = vanish && std::fabs(sum[c]) <= vanishing * all;
      if (vanish) found |= Index(1) << b;
    }
    bits[sample] = found;
  }
};

}  // namespace aggregation_detail

/// The largest b of 6, 5, ..., 2 that divides the number of rows and of whose unknowns each sums to zero in half of the rows or
/// more; 1 if there is none. Looks at 256 rows, or as many as there are. A scalar Laplacian has no such b: there rows sum to zero
/// only with all their entries.
///
/// Cost    as that of so few rows; the host waits once.
template <Backend B, class Offset>
Index unknowns_by_translations(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A) {
  using namespace aggregation_detail;
  const std::int64_t samples = std::min<std::int64_t>(A.nrows, 256);
  if (samples == 0) return 1;
  Array<Index, SpaceOf<B>> bits(on, samples);
  for_each_of(on, samples, SumsVanish<Offset, SpaceOf<B>>{A, bits});
  const auto here = copied_to<Host>(on, Span<const Index, SpaceOf<B>>(bits));
  for (Index b = most_unknowns_looked_for; b > 1; --b) {
    std::int64_t vanish = 0;
    for (const Index found : here) vanish += found >> b & 1;
    if (A.nrows % b == 0 && 2 * vanish >= samples) return b;
  }
  return 1;
}

}  // namespace seidel
