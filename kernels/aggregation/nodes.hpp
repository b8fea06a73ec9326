// Nodes: consecutive rows that belong together, as the displacements of a point do. Aggregates are made of nodes.
#pragma once
#include <algorithm>

#include <seidel/formats/convert.hpp>
#include <seidel/kernels/aggregation/hash.hpp>

namespace seidel {

inline constexpr int max_unknowns_per_node = 16;

namespace aggregation_detail {

/// Whether the rows i - 1 and i are of one node of `block` rows, and have different columns.
template <class Offset, class Space>
struct DiffersWithinNode {
  Span<const Offset, Space> row_ptr;
  Span<const Index, Space> col_idx;
  Index block;
  SEIDEL_HD bool operator()(Index i) const {
    if (i % block == 0) return false;
    const Offset before = row_ptr[i - 1], first = row_ptr[i], length = row_ptr[i + 1] - first;
    if (first - before != length) return true;
    Index differing_bits = 0;
    for (Offset k = 0; k < length; ++k) differing_bits |= col_idx[before + k] ^ col_idx[first + k];
    return differing_bits != 0;
  }
};

/// The rows of a node as one row of blocks.
template <class Offset, class Space>
struct NodeRow {
  CsrView<double, Offset, Space> A;
  Index block;

  /// Calls each(j, the largest magnitude in block j), j ascending.
  SEIDEL_HD void blocks(Index node, const auto& each) const {
    constexpr Index nothing = std::numeric_limits<Index>::max();
    Offset at[max_unknowns_per_node];
    const Index first = node * block;
    for (Index d = 0; d < block; ++d) at[d] = A.row_ptr[first + d];
    for (;;) {
      Index next = nothing;
      for (Index d = 0; d < block; ++d)
        if (at[d] < A.row_ptr[first + d + 1] && A.col_idx[at[d]] < next) next = A.col_idx[at[d]];
      if (next == nothing) return;
      next /= block;
      const std::int64_t end = std::int64_t(next + 1) * block;
      double largest = 0;
      for (Index d = 0; d < block; ++d)
        for (; at[d] < A.row_ptr[first + d + 1] && A.col_idx[at[d]] < end; ++at[d])
          largest = std::fmax(largest, std::fabs(A.values[at[d]]));
      each(next, largest);
    }
  }
};

template <class Offset, class Space>
struct CountBlocks {
  NodeRow<Offset, Space> row;
  Span<std::int32_t, Space> count;            // one more entry, 0
  SEIDEL_HD void operator()(Index i) const {  // its first row counts for a node
    if (i % row.block != 0) return;
    std::int32_t blocks = 0;
    row.blocks(i / row.block, [&](Index, double) { ++blocks; });
    count[i / row.block] = blocks;
    if (i == 0) count[count.size() - 1] = 0;
  }
};

template <class Offset, class Space>
struct FillBlocks {
  NodeRow<Offset, Space> row;
  Span<const Offset, Space> row_ptr;
  Span<Index, Space> col_idx;
  Span<double, Space> values;
  SEIDEL_HD void operator()(Index node) const {
    Offset k = row_ptr[node];
    row.blocks(node, [&](Index j, double largest) {
      col_idx[k] = j;
      values[k++] = j == node ? largest : -largest;
    });
  }
};

// The same where all blocks are full: then the rows of a node are one behind the other, of one length.

template <class Offset, class Space>
struct CountFullBlocks {
  Span<const Offset, Space> row_ptr;
  Index block;
  Span<std::int32_t, Space> count;  // one more entry, 0
  SEIDEL_HD void operator()(Index i) const {
    if (i % block == 0) count[i / block] = std::int32_t((row_ptr[i + 1] - row_ptr[i]) / block);
    if (i == 0) count[count.size() - 1] = 0;
  }
};

template <class Offset, class Space>
struct FillFullBlocks {
  CsrView<double, Offset, Space> A;
  Index block;
  Span<const Offset, Space> row_ptr;
  Span<Index, Space> col_idx;
  Span<double, Space> values;
  SEIDEL_HD void operator()(Index node) const {
    const Offset first = A.row_ptr[std::int64_t(node) * block];
    const Offset length = (row_ptr[node + 1] - row_ptr[node]) * block;
    for (Offset k = row_ptr[node]; k < row_ptr[node + 1]; ++k) {
      const Offset at = first + (k - row_ptr[node]) * block;
      double largest = 0;
      for (Index d = 0; d < block; ++d)
        for (Index e = 0; e < block; ++e) largest = std::fmax(largest, std::fabs(A.values[at + d * length + e]));
      col_idx[k] = A.col_idx[at] / block;
      values[k] = col_idx[k] == node ? largest : -largest;
    }
  }
};

// Nodes by their translations: where zeros are left out of the blocks, the pattern does not show how many rows belong together, but
// the values do. A body that is moved along one direction resists with no force, so in each row of an elastic body the entries
// of each unknown sum to zero: those in the columns c, c + b, c + 2 b, ... for every c < b.

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

/// The largest b of 6, 5, ..., 2 that divides the number of rows and for which rows k b ... k b + b - 1 have the same
/// columns, for every k; 1 if there is none. Where the pattern is symmetric, it consists of full blocks of b x b then.
///
/// Cost    reads the pattern up to a row that shows otherwise, for each b that the first rows allow; the host waits once where the
///         second row has not as many entries as the first, else up to seven times.
template <Backend B, class Offset>
Index unknowns_per_node(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A) {
  using namespace aggregation_detail;
  const Index nrows = std::min<Index>(A.nrows, 6);
  if (nrows < 2) return 1;
  const auto ends = copied_to<Host>(on, A.row_ptr.subspan(0, nrows + 1));
  Index as_long = 1, alike = 1;  // rows as the first one, from there on: by their lengths, and by their columns
  while (as_long < nrows && ends[as_long + 1] - ends[as_long] == ends[1]) ++as_long;
  if (as_long == 1) return 1;
  const auto rows = copied_to<Host>(on, A.col_idx.subspan(0, ends[as_long]));
  while (alike < as_long && std::equal(rows.begin(), rows.begin() + ends[1], rows.begin() + ends[alike])) ++alike;
  for (Index b = alike; b > 1; --b)
    if (A.nrows % b == 0 && !any_row(on, A.row_ptr, DiffersWithinNode<Offset, SpaceOf<B>>{A.row_ptr, A.col_idx, b}))
      return b;
  return 1;
}

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

/// Whether every entry of a block is stored where any is.
enum class Blocks { full, any };

/// One row per node of `block` rows: entry (i, j) is minus the largest magnitude in block (i, j), on the diagonal plus
/// that. What the aggregation of rows takes as a matrix whose couplings are all of the right sign.
///
/// Shapes  A is n x n, n a multiple of block and not 0; block is 1 to max_unknowns_per_node.
/// Cost    reads A once where blocks are full, else twice; the host waits once.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> node_matrix(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A, Index block,
                                            Blocks blocks) {
  using namespace aggregation_detail;
  using Space = SpaceOf<B>;
  const Index nodes = A.nrows / block;
  Csr<double, Offset, Space> G{nodes, nodes, Array<Offset, Space>(on, std::int64_t(nodes) + 1), {}, {}};
  Array<std::int32_t, Space> count(on, std::int64_t(nodes) + 1);
  const NodeRow<Offset, Space> row{A, block};
  if (blocks == Blocks::full)
    for_each_row(on, A.row_ptr, CountFullBlocks<Offset, Space>{A.row_ptr, block, count});
  else
    for_each_row(on, A.row_ptr, CountBlocks<Offset, Space>{row, count});
  G.take_entries(on, places_of<B, Offset>(on, count, G.row_ptr));
  const Span<const Offset, Space> row_ptr = G.row_ptr;
  if (blocks == Blocks::full)
    for_each_row(on, row_ptr, FillFullBlocks<Offset, Space>{A, block, row_ptr, G.col_idx, G.values});
  else
    for_each_row(on, row_ptr, FillBlocks<Offset, Space>{row, row_ptr, G.col_idx, G.values});
  return G;
}

}  // namespace seidel
