// Which elements of a vector processes need of each other for a product with their rows of a matrix.
#pragma once
#include <vector>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/processes.hpp>

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

/// Finds it for the rows of this process, whose columns are those of the whole matrix, dealt out as `columns` says, and renumbers
/// these to places in x. Every process calls it, with the threads that it has.
/// Cost    reads the columns twice, writes them once; sorts those of other processes; two messages from each to each.
/// Errors  ResourceError for more than 2^31 - 1 columns here.
template <class Offset>
Halo find_halo(const OpenMP& on, const Processes& all, const RowShares& columns, Csr<double, Offset>& rows);

/// Renumbers columns of the whole matrix, which are own ones or in the halo, to places in x; the first own one is number `first`.
template <class Offset>
void renumber(const OpenMP& on, const Halo& halo, std::int64_t first, Csr<double, Offset>& rows);

/// The entries of rows of A between its own columns, numbered from 0: the part that concerns nobody else. Of renumbered rows.
template <class Offset>
Csr<double, Offset> own_block(const OpenMP& on, const Halo& halo, const CsrView<double, Offset, Host>& rows);

}  // namespace seidel
