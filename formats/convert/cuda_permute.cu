// A matrix with its unknowns in another order, on the device.
#include <seidel/formats/permute.hpp>

#include <seidel/formats/convert/cuda_device.cuh>
#include <seidel/formats/convert/instances.hpp>

namespace seidel {

using namespace convert_detail;

Array<Index, Device> inverse_permutation(const Cuda& on, DeviceSpan<const Index> new_to_old, Index n) {
  Array<Index, Device> old_to_new(on, n);
  Index* const inverse = old_to_new.data();
  const std::int64_t size = new_to_old.size();
  bool good = size == n && first_where(on, n, [=] __device__(std::int64_t k) {
                             return new_to_old[k] < 0 || new_to_old[k] >= n;
                           }) == n;
  if (good) {
    for_each(on, n, "inverting a permutation", [=] __device__(std::int64_t k) { inverse[new_to_old[k]] = Index(k); });
    // Of two entries with the same number only one was kept, so each kept once proves that all differ.
    good = first_where(on, n, [=] __device__(std::int64_t k) { return inverse[new_to_old[k]] != k; }) == n;
  }
  if (!good) {  // the host says what is wrong, in its words
    inverse_permutation(OpenMP{}, copied_to<Host>(on, new_to_old), n);
  }
  return old_to_new;
}

namespace {

/// Entries of rows up to this length find their place by counting those that come before them.
constexpr Index max_counted = 256;

/// Sorts by column, then by row. Any row may be long.
template <class Real, class Offset>
void fill_by_sorting(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Index* old_to_new,
                     Csr<Real, Offset, Device>& to) {
  const std::int64_t n = A.nnz();
  Array<Index, Device> row_of(on, n);
  rows_of_entries(on, A.row_ptr, row_of.span());
  const auto pairs = sorted_numbers<Offset>(
      on, n, A.nrows, [=, row = row_of.data()] __device__(Offset k) { return old_to_new[row[k]]; }, A.ncols,
      [=] __device__(std::int64_t k) { return old_to_new[A.col_idx[k]]; });
  for_each(on, n, "gathering entries",
           [=, place = pairs.payload[0].data(), col_idx = to.col_idx.data(),
            values = to.values.data()] __device__(std::int64_t p) {
             col_idx[p] = old_to_new[A.col_idx[place[p]]];
             values[p] = A.values[place[p]];
           });
}

/// Rows are short: 32 threads per row, no memory.
template <class Real, class Offset>
void fill_by_counting(const Cuda& on, const CsrView<Real, Offset, Device>& A, DeviceSpan<const Index> new_to_old,
                      const Index* old_to_new, Csr<Real, Offset, Device>& to) {
  constexpr int lanes = 32;
  for_each(on, std::int64_t(A.nrows) * lanes, "permuting rows",
           [=, ptr = to.row_ptr.data(), col_idx = to.col_idx.data(),
            values = to.values.data()] __device__(std::int64_t thread) {
             const std::int64_t row = thread / lanes;
             const Offset from = A.row_ptr[new_to_old[row]], at = ptr[row];
             const Index length = Index(ptr[row + 1] - at);
             for (Index k = Index(thread % lanes); k < length; k += lanes) {
               const Index column = old_to_new[A.col_idx[from + k]];
               Index before = 0;
               for (Index m = 0; m < length; ++m) {
                 const Index other = old_to_new[A.col_idx[from + m]];
                 before += other < column || (other == column && m < k);
               }
               col_idx[at + before] = column;
               values[at + before] = A.values[from + k];
             }
           });
}

}  // namespace

template <class Real, class Offset>
Csr<Real, Offset, Device> permuted(const Cuda& on, const CsrView<Real, Offset, Device>& A,
                                   DeviceSpan<const Index> new_to_old) {
  require_square(A.nrows, A.ncols, "permuted");
  const Array<Index, Device> old_to_new = inverse_permutation(on, new_to_old, A.nrows);
  const std::int64_t nrows = A.nrows;
  auto to = Csr<Real, Offset, Device>::uninitialised(on, A.nrows, A.ncols, A.nnz());
  for_each(on, nrows + 1, "taking lengths", [=, ptr = to.row_ptr.data()] __device__(std::int64_t i) {
    const std::int64_t old = i < nrows ? new_to_old[i] : 0;
    ptr[i] = i < nrows ? A.row_ptr[old + 1] - A.row_ptr[old] : 0;
  });
  exclusive_sum(on, to.row_ptr.span());
  if (longest_row(on, A.row_ptr) <= max_counted)
    fill_by_counting(on, A, new_to_old, old_to_new.data(), to);
  else
    fill_by_sorting(on, A, old_to_new.data(), to);
  return to;
}

template void convert_detail::instances_of_permuted(const Cuda&);

}  // namespace seidel
