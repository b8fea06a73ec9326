// Triplets to CSR.
#include <seidel/formats/check.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/formats/convert/group.hpp>
#include <seidel/formats/convert/instances.hpp>
#include <seidel/formats/convert/sort_rows.hpp>

namespace seidel {

using namespace convert_detail;

namespace {

/// Triplets whose rows do not descend are grouped already.
template <class Real, class Offset>
void copy_grouped(const OpenMP& on, const CooView<Real, Host>& A, Csr<Real, Offset>& to) {
  for_shares(on, to.row_ptr.size(), 1, [&](std::int64_t first, std::int64_t last, int) {
    std::int64_t k = std::lower_bound(A.row_idx.begin(), A.row_idx.end(), Index(first)) - A.row_idx.begin();
    for (std::int64_t i = first; i < last; ++i) {
      while (k < A.nnz() && A.row_idx[k] < i) ++k;
      to.row_ptr[i] = Offset(k);
    }
  });
  for_shares(on, A.nnz(), 1, [&](std::int64_t first, std::int64_t last, int) {
    std::copy(A.col_idx.begin() + first, A.col_idx.begin() + last, to.col_idx.data() + first);
    std::copy(A.values.begin() + first, A.values.begin() + last, to.values.data() + first);
  });
}

template <class Real, class Offset>
void group_rows(const OpenMP& on, const CooView<Real, Host>& A, Csr<Real, Offset>& to) {
  group(on, Triplets<Real>{A.row_idx.data(), A.col_idx.data(), A.values.data(), A.nnz(), A.ncols}, Spread::far,
        Grouped<Real, Offset>{A.nrows, to.row_ptr.data(), to.col_idx.data(), to.values.data()});
}

/// Sorts the rows; length[i + 1] becomes the number of distinct columns of row i. Returns how many entries repeat
/// a place.
template <class Real, class Offset>
std::int64_t sort_rows(const OpenMP& on, Csr<Real, Offset>& A, Array<Offset>& length) {
  const HostSpan<const Offset> row_ptr = A.row_ptr;
  RowSorter<Real> sort(on.threads);
  std::atomic<std::int64_t> duplicates = 0;
  for_row_pieces(on, row_ptr, [&](std::int64_t first, std::int64_t last, int thread) {
    std::int64_t mine = 0;
    for (std::int64_t i = first; i < last; ++i) {
      Index* const columns = A.col_idx.data() + row_ptr[i];
      const std::int64_t n = row_ptr[i + 1] - row_ptr[i];
      sort(columns, A.values.data() + row_ptr[i], n, thread);
      std::int64_t same = 0;
      for (std::int64_t k = 1; k < n; ++k) same += columns[k] == columns[k - 1];
      length[i + 1] = Offset(n - same);
      mine += same;
    }
    duplicates += mine;
  });
  return duplicates;
}

/// Adds neighbours in the same place, from left to right.
template <class Real, class Offset>
Csr<Real, Offset> merged(const OpenMP& on, const Csr<Real, Offset>& A, Array<Offset> length) {
  offsets_from_lengths(on, length);
  const std::int64_t nnz = length[A.nrows];
  Csr<Real, Offset> to{A.nrows, A.ncols, std::move(length), Array<Index>(nnz), Array<Real>(nnz)};
  for_row_shares(on, HostSpan<const Offset>(A.row_ptr), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      std::int64_t at = std::int64_t(to.row_ptr[i]) - 1;
      for (std::int64_t k = A.row_ptr[i]; k < std::int64_t(A.row_ptr[i + 1]); ++k)
        if (k > std::int64_t(A.row_ptr[i]) && A.col_idx[k] == A.col_idx[k - 1]) {
          to.values[at] += A.values[k];
        } else {
          to.col_idx[++at] = A.col_idx[k];
          to.values[at] = A.values[k];
        }
    }
  });
  return to;
}

}  // namespace

template <class Offset, class Real>
Csr<Real, Offset> to_csr(const OpenMP& on, const CooView<Real, Host>& A, ToCsrReport* report) {
  check(on, A);
  require_offsets<Offset>("to_csr", A.nnz(), "take 64-bit row pointers");
  auto to = Csr<Real, Offset>::uninitialised(on, A.nrows, A.ncols, A.nnz());
  const bool grouped =
      first_where(on, A.nnz() - 1, 1, [&](std::int64_t k) { return A.row_idx[k + 1] < A.row_idx[k]; }) >= A.nnz() - 1;
  if (grouped)
    copy_grouped(on, A, to);
  else
    group_rows(on, A, to);
  Array<Offset> length(std::int64_t(A.nrows) + 1);
  const std::int64_t duplicates = sort_rows(on, to, length);
  if (report) report->duplicates = duplicates;
  return duplicates == 0 ? std::move(to) : merged(on, to, std::move(length));
}

template void convert_detail::instances_from_triplets(const OpenMP&);

}  // namespace seidel
