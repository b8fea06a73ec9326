// Triplets to CSR on the device: two stable sorts, by column and then by row.
#include <seidel/formats/check.hpp>
#include <seidel/formats/convert.hpp>

#include <seidel/formats/convert/cuda_device.cuh>
#include <seidel/formats/convert/instances.hpp>
#include <seidel/formats/runtime/search.hpp>

namespace seidel {

using namespace convert_detail;

namespace {

/// What check() says of A, in its words: the entries are looked at here, and go to it only if one is wrong.
template <class Real>
void check_there(const Cuda& on, const CooView<Real, Device>& A) {
  const std::int64_t n = A.nnz();
  const bool sizes = A.nrows >= 0 && A.ncols >= 0 && A.row_idx.size() == n && A.col_idx.size() == n;
  if (sizes && first_where(on, n, [=] __device__(std::int64_t k) {
                 return A.row_idx[k] < 0 || A.row_idx[k] >= A.nrows || A.col_idx[k] < 0 || A.col_idx[k] >= A.ncols;
               }) == n)
    return;
  const auto row_idx = copied_to<Host>(on, A.row_idx), col_idx = copied_to<Host>(on, A.col_idx);
  const auto values = copied_to<Host>(on, A.values);
  check(on.host(), CooView<Real, Host>{A.nrows, A.ncols, row_idx, col_idx, values});
}

/// Entries in the order of the matrix: row[p], and where in A each comes from.
template <class Real, class Offset>
struct Sorted {
  CooView<Real, Device> A;
  const Index* row;
  const Offset* place;

  __device__ bool opens_place(std::int64_t p) const {
    return p == 0 || row[p] != row[p - 1] || A.col_idx[place[p]] != A.col_idx[place[p - 1]];
  }
};

}  // namespace

template <class Offset, class Real>
Csr<Real, Offset, Device> to_csr(const Cuda& on, const CooView<Real, Device>& A, ToCsrReport* report) {
  check_there(on, A);
  const std::int64_t n = A.nnz(), nrows = A.nrows;
  require_offsets<Offset>("to_csr", n, "take 64-bit row pointers");
  auto pairs = sorted_numbers<Offset>(
      on, n, nrows, [=] __device__(Offset k) { return A.row_idx[k]; }, A.ncols,
      [=] __device__(std::int64_t k) { return A.col_idx[k]; });

  // Of the entries in one place the first in A opens the place, and adds the others.
  const Sorted<Real, Offset> sorted{A, pairs.key[0].data(), pairs.payload[0].data()};
  Offset* const opened = pairs.payload[1].data();  // places opened before an entry
  for_each(on, n + 1, "marking places", [=] __device__(std::int64_t p) { opened[p] = p < n && sorted.opens_place(p); });
  exclusive_sum(on, pairs.payload[1].span());
  const std::int64_t nnz = value_of(on, opened + n);
  if (report) report->duplicates = n - nnz;
  auto to = Csr<Real, Offset, Device>::uninitialised(on, A.nrows, A.ncols, nnz);
  for_each(on, nrows + 1, "finding rows",
           [=, ptr = to.row_ptr.data()] __device__(std::int64_t i) { ptr[i] = opened[count_below(sorted.row, n, i)]; });
  for_each(on, n, "adding up entries",
           [=, col_idx = to.col_idx.data(), values = to.values.data()] __device__(std::int64_t p) {
             if (!sorted.opens_place(p)) return;
             Real sum = A.values[sorted.place[p]];
             for (std::int64_t q = p + 1; q < n && !sorted.opens_place(q); ++q) sum += A.values[sorted.place[q]];
             col_idx[opened[p]] = A.col_idx[sorted.place[p]];
             values[opened[p]] = sum;
           });
  return to;
}

template void convert_detail::instances_from_triplets(const Cuda&);

}  // namespace seidel
