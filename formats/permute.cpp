// A matrix with its unknowns in another order.
#include <seidel/formats/permute.hpp>

#include <seidel/formats/convert/instances.hpp>
#include <seidel/formats/convert/sort_rows.hpp>
#include <seidel/formats/runtime/quantity.hpp>

namespace seidel {

Array<Index> inverse_permutation(const OpenMP& on, HostSpan<const Index> new_to_old, Index n) {
  if (new_to_old.size() != n)
    throw ShapeError("permutation: found " + counted(new_to_old.size(), "entry", "entries") + ", expected " +
                     std::to_string(n));
  const std::int64_t outside =
      first_where(on, n, 1, [&](std::int64_t k) { return new_to_old[k] < 0 || new_to_old[k] >= n; });
  if (outside < n)
    throw InputError("permutation: found entry " + std::to_string(outside + 1) + " to be " +
                     std::to_string(new_to_old[outside]) + ", expected 0 ... " + std::to_string(n - 1));
  Array<Index> old_to_new(n);
  for_each_index(on, n, 1, [&](std::int64_t k) {
    std::atomic_ref<Index>(old_to_new[new_to_old[k]]).store(Index(k), std::memory_order_relaxed);
  });
  // Of two entries with the same number only one was kept. So if all were kept, all differ. Which one was kept may
  // depend on the threads; the first entry that repeats an earlier one does not.
  if (first_where(on, n, 1, [&](std::int64_t k) { return old_to_new[new_to_old[k]] != k; }) < n) {
    std::fill(old_to_new.begin(), old_to_new.end(), Index(-1));
    for (Index k = 0; k < n; ++k) {
      Index& earlier = old_to_new[new_to_old[k]];
      if (earlier >= 0)
        throw InputError("permutation: found " + std::to_string(new_to_old[k]) + " as entries " +
                         std::to_string(earlier + 1) + " and " + std::to_string(std::int64_t(k) + 1) +
                         ", expected each of 0 ... " + std::to_string(n - 1) + " once");
      earlier = k;
    }
  }
  return old_to_new;
}

template <class Real, class Offset>
Csr<Real, Offset> permuted(const OpenMP& on, const CsrView<Real, Offset, Host>& A, HostSpan<const Index> new_to_old) {
  require_square(A.nrows, A.ncols, "permuted");
  const Array<Index> old_to_new = inverse_permutation(on, new_to_old, A.nrows);
  auto to = Csr<Real, Offset>::uninitialised(on, A.nrows, A.ncols, A.nnz());
  for_each_index(on, A.nrows, 1, [&](std::int64_t i) {
    const std::int64_t old = new_to_old[i];
    to.row_ptr[i + 1] = A.row_ptr[old + 1] - A.row_ptr[old];
  });
  offsets_from_lengths(on, to.row_ptr);
  convert_detail::RowSorter<Real> sort(on.threads);
  convert_detail::for_row_pieces(
      on, HostSpan<const Offset>(to.row_ptr), [&](std::int64_t first, std::int64_t last, int thread) {
        for (std::int64_t i = first; i < last; ++i) {
          Index* const columns = to.col_idx.data() + to.row_ptr[i];
          Real* const values = to.values.data() + to.row_ptr[i];
          const std::int64_t from = A.row_ptr[new_to_old[i]], length = to.row_ptr[i + 1] - to.row_ptr[i];
          for (std::int64_t k = 0; k < length; ++k) {
            columns[k] = old_to_new[A.col_idx[from + k]];
            values[k] = A.values[from + k];
          }
          sort(columns, values, length, thread);
        }
      });
  return to;
}

template void convert_detail::instances_of_permuted(const OpenMP&);

}  // namespace seidel
