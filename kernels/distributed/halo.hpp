// Which elements of a vector processes need of each other for a product with their rows of a matrix.
#pragma once
#include <vector>

#include <seidel/formats/runtime/processes.hpp>
#include <seidel/kernels/distributed/local_rows.hpp>

namespace seidel {

/// The rows of one process multiply x = [elements of processes before; its own; of processes after], in ascending order: so the
/// terms of a row keep their order, and its sum its bits.
struct Halo {
  std::int64_t before = 0, own = 0, after = 0;  // elements
  Array<Index> outside;                         // where those before and after are in the whole vector
  Array<Index> sent;                            // own elements that others need, process by process
  std::vector<std::int64_t> sends, receives;    // how many of each process

  std::int64_t columns() const { return before + own + after; }
};

namespace halo_detail {

/// Ascending, each once.
std::vector<Index> each_once(const OpenMP& on, HostSpan<const Index> columns);

/// The halo for these columns of other processes, in any order, where columns are dealt out as the second argument says.
Halo halo_of(const OpenMP& on, const Processes& all, const RowShares& columns, HostSpan<const Index> outside);

template <class Space>
struct Renumber {
  Span<const Index, Space> outside;
  std::int64_t first, own, before;
  Span<Index, Space> columns;
  SEIDEL_HD void operator()(std::int64_t k) const {
    const Index c = columns[k];
    columns[k] = c >= first && c < first + own
                     ? Index(c - first + before)
                     : Index(count_below(outside.data(), outside.size(), c) + (c < first ? 0 : own));
  }
};

}  // namespace halo_detail

/// Renumbers columns of the whole matrix, which are own ones or in the halo, to places in x; the first own one is number `first`.
template <Backend B, class Offset>
void renumber(const B& on, const Halo& halo, std::int64_t first, Csr<double, Offset, SpaceOf<B>>& rows) {
  using Space = SpaceOf<B>;
  const Array<Index, Space> outside = copied_to<Space>(on, halo.outside);
  distributed_detail::for_each_of(on, rows.nnz(),
                                  halo_detail::Renumber<Space>{outside, first, halo.own, halo.before, rows.col_idx});
  rows.ncols = Index(halo.columns());
}

/// Finds it for the rows of this process, whose columns are those of the whole matrix, dealt out as `columns` says, and renumbers
/// these to places in x. Every process calls it.
/// Cost    reads the columns three times, writes them once; sorts those of other processes, on the host; two messages from each
///         to each.
/// Errors  ResourceError for more than 2^31 - 1 columns here.
template <Backend B, class Offset>
Halo find_halo(const B& on, const Processes& all, const RowShares& columns, Csr<double, Offset, SpaceOf<B>>& rows) {
  const std::int64_t first = columns.first(all.rank());
  Array<Index> outside;
  together(all, [&] {
    const ColumnsOf<Offset, SpaceOf<B>> those{{rows.view()}, Index(first), Index(columns.rows(all.rank())), false};
    outside = copied_to<Host>(on, made_of_rows(on, rows.nrows, rows.ncols, those).col_idx);
  });
  Halo halo = halo_detail::halo_of(host_of(on), all, columns, outside);
  together(all, [&] { renumber(on, halo, first, rows); });
  return halo;
}

/// The entries of rows of A between its own columns, numbered from 0: the part that concerns nobody else. Of renumbered rows.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> own_block(const B& on, const Halo& halo,
                                          const CsrView<double, Offset, SpaceOf<B>>& rows) {
  return made_of_rows(on, rows.nrows, halo.own,
                      ColumnsOf<Offset, SpaceOf<B>>{{rows}, Index(halo.before), Index(halo.own), true});
}

/// Their diagonal, as a matrix: what is not stored there is not stored here.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> own_diagonal(const B& on, const Halo& halo,
                                             const CsrView<double, Offset, SpaceOf<B>>& rows) {
  return made_of_rows(on, rows.nrows, rows.nrows,
                      ColumnsOf<Offset, SpaceOf<B>>{{rows}, Index(halo.before), 1, true, 1});
}

/// These rows, with a row for each of their other columns that has a 1 on the diagonal alone: a square matrix.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> with_rows_of_others(const B& on, const Halo& halo,
                                                    const CsrView<double, Offset, SpaceOf<B>>& rows) {
  return made_of_rows(on, halo.columns(), halo.columns(), WithUnitRows<Offset, SpaceOf<B>>{{rows}, Index(halo.before)});
}

}  // namespace seidel
