// Transposition on the host, and copies with other row pointers.
#include <seidel/formats/convert.hpp>
#include <seidel/formats/convert/group.hpp>
#include <seidel/formats/convert/refusals.hpp>
#include <seidel/formats/convert/transposed.hpp>

namespace seidel {

using namespace convert_detail;

namespace {

/// The place of entry (c, r) among those of row c of A, or -1. It is likely to be where it would be if row c were row r
/// mirrored: rows of a lattice are, but at its boundaries.
template <class Real, class Offset>
std::int64_t mirrored_place(const CsrView<Real, Offset, Host>& A, Index c, Index r, std::int64_t from_begin) {
  constexpr std::int64_t max_walk = 8;
  const Index* const columns = A.col_idx.data();
  const std::int64_t first = A.row_ptr[c], last = A.row_ptr[c + 1];
  std::int64_t at = std::max(last - 1 - from_begin, first);
  if (at < last && columns[at] == r) return at;
  const std::int64_t low = std::max(at - max_walk, first), high = std::min(at + max_walk, last);
  const Index* const found = low < high && columns[low] <= r && r <= columns[high - 1]
                                 ? std::lower_bound(columns + low, columns + high, r)
                                 : std::lower_bound(columns + first, columns + last, r);
  return found < columns + last && *found == r ? found - columns : -1;
}

/// Rows first ... last - 1 of A', if A has an entry (c, r) for each (r, c) of them and their columns ascend.
template <class Real, class Offset>
bool mirror_rows(const CsrView<Real, Offset, Host>& A, std::int64_t first, std::int64_t last,
                 const Grouped<Real, Offset>& to) {
  const Real* const values = A.values.data();
  for (std::int64_t r = first; r < last; ++r) {
    const std::int64_t begin = A.row_ptr[r], end = A.row_ptr[r + 1];
    Index before = -1;
    for (std::int64_t k = begin; k < end; ++k) {
      const Index c = A.col_idx[k];
      const std::int64_t at = mirrored_place(A, c, Index(r), k - begin);
      if (at < 0 || c <= before) return false;
      before = c;
      to.others[k] = c;
      if (values) to.values[k] = values[at];
    }
    to.ptr[r + 1] = Offset(end);
  }
  return true;
}

/// Some rows of A, evenly spread: whether they are mirrored, and how far their entries are apart.
struct Sample {
  bool is_mirrored = true;
  std::int64_t mean_span = 0;  // columns from the first entry to the last
};
template <class Real, class Offset>
Sample sample_of(const CsrView<Real, Offset, Host>& A) {
  constexpr std::int64_t nsamples = 64;
  const std::int64_t step = std::max<std::int64_t>(A.nrows / nsamples, 1);
  Sample sample{A.nrows == A.ncols, 0};
  std::int64_t nrows = 0;
  for (std::int64_t r = 0; r < A.nrows; r += step) {
    const std::int64_t begin = A.row_ptr[r], end = A.row_ptr[r + 1];
    if (begin == end) continue;
    ++nrows;
    sample.mean_span += std::int64_t(A.col_idx[end - 1]) - A.col_idx[begin];
    for (std::int64_t k = begin; k < end && sample.is_mirrored; ++k)
      sample.is_mirrored = mirrored_place(A, A.col_idx[k], Index(r), k - begin) >= 0;
  }
  sample.mean_span /= std::max<std::int64_t>(nrows, 1);
  return sample;
}

/// A' where the pattern of A is symmetric: no sort, each value is fetched from its mirrored place. False, with anything
/// in the result, where it is not, or where columns do not ascend: distinct entries then have distinct images, and all
/// of them are found.
template <class Real, class Offset>
bool mirror(const OpenMP& on, const CsrView<Real, Offset, Host>& A, const Grouped<Real, Offset>& to) {
  std::atomic<bool> all = true;
  to.ptr[0] = 0;
  for_row_shares(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) {
    constexpr std::int64_t rows = 256;
    for (std::int64_t r = first; r < last && all.load(std::memory_order_relaxed); r += rows)
      if (!mirror_rows(A, r, std::min(r + rows, last), to)) all = false;
  });
  return all;
}

template <class Real, class Offset>
TransposeReport transpose_to(const OpenMP& on, const CsrView<Real, Offset, Host>& A, const Grouped<Real, Offset>& to) {
  constexpr std::int64_t near_columns = 32768;  // two lines for each: some megabytes, of which the next rows use most
  const Sample sample = sample_of(A);
  const Spread spread = sample.mean_span <= near_columns ? Spread::near : Spread::far;
  // Near entries of longer rows are sorted within the caches in less time than their images are searched for: hpcg:48,
  // 26 per row, takes 14 ms instead of 20, elasticity3d:20, 73 per row, 10 instead of 25.
  const bool search_pays = spread == Spread::far || A.nnz() <= 16 * A.nrows;
  if (search_pays && sample.is_mirrored && mirror(on, A, to)) return {.is_mirrored = true};
  return {.workspace_bytes = group(on, ByColumn<Real, Offset>{A}, spread, to)};
}

}  // namespace

template <class Real, class Offset>
void transpose(const OpenMP& on, const CsrView<Real, Offset, Host>& A, Csr<Real, Offset>& T, TransposeReport* report) {
  require_transposed(A, T);
  const auto how =
      transpose_to(on, A, Grouped<Real, Offset>{A.ncols, T.row_ptr.data(), T.col_idx.data(), T.values.data()});
  if (report) *report = how;
}

template <class Real, class Offset>
Csr<Real, Offset> transpose(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  auto T = room_for_transpose(on, A);
  transpose(on, A, T);
  return T;
}

template <class NewOffset, class Real, class Offset>
Csr<Real, NewOffset> with_offsets(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  require_offsets<NewOffset>("with_offsets", A.nnz(), "keep 64-bit row pointers");
  Csr<Real, NewOffset> to{A.nrows, A.ncols, Array<NewOffset>(A.row_ptr.size()), Array<Index>(A.nnz()),
                          Array<Real>(A.nnz())};
  for_shares(on, A.row_ptr.size(), 1, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i) to.row_ptr[i] = NewOffset(A.row_ptr[i]);
  });
  for_row_shares(on, A.row_ptr,
                 [&](std::int64_t first, std::int64_t last) {  // first touched by the threads of those rows
                   std::copy(A.col_idx.begin() + A.row_ptr[first], A.col_idx.begin() + A.row_ptr[last],
                             to.col_idx.data() + A.row_ptr[first]);
                   std::copy(A.values.begin() + A.row_ptr[first], A.values.begin() + A.row_ptr[last],
                             to.values.data() + A.row_ptr[first]);
                 });
  return to;
}

template void transpose(const OpenMP&, const CsrView<double, std::int32_t, Host>&, Csr<double, std::int32_t>&,
                        TransposeReport*);
template void transpose(const OpenMP&, const CsrView<double, std::int64_t, Host>&, Csr<double, std::int64_t>&,
                        TransposeReport*);
template void transpose(const OpenMP&, const CsrView<float, std::int32_t, Host>&, Csr<float, std::int32_t>&,
                        TransposeReport*);
template void transpose(const OpenMP&, const CsrView<float, std::int64_t, Host>&, Csr<float, std::int64_t>&,
                        TransposeReport*);
template void transpose(const OpenMP&, const CsrView<std::int32_t, std::int32_t, Host>&,
                        Csr<std::int32_t, std::int32_t>&, TransposeReport*);
template void transpose(const OpenMP&, const CsrView<std::int64_t, std::int64_t, Host>&,
                        Csr<std::int64_t, std::int64_t>&, TransposeReport*);
template Csr<double, std::int32_t> transpose(const OpenMP&, const CsrView<double, std::int32_t, Host>&);
template Csr<double, std::int64_t> transpose(const OpenMP&, const CsrView<double, std::int64_t, Host>&);
template Csr<float, std::int32_t> transpose(const OpenMP&, const CsrView<float, std::int32_t, Host>&);
template Csr<float, std::int64_t> transpose(const OpenMP&, const CsrView<float, std::int64_t, Host>&);

template Csr<double, std::int32_t> with_offsets<std::int32_t>(const OpenMP&,
                                                              const CsrView<double, std::int32_t, Host>&);
template Csr<double, std::int32_t> with_offsets<std::int32_t>(const OpenMP&,
                                                              const CsrView<double, std::int64_t, Host>&);
template Csr<float, std::int32_t> with_offsets<std::int32_t>(const OpenMP&, const CsrView<float, std::int32_t, Host>&);
template Csr<float, std::int32_t> with_offsets<std::int32_t>(const OpenMP&, const CsrView<float, std::int64_t, Host>&);
template Csr<double, std::int64_t> with_offsets<std::int64_t>(const OpenMP&,
                                                              const CsrView<double, std::int32_t, Host>&);
template Csr<double, std::int64_t> with_offsets<std::int64_t>(const OpenMP&,
                                                              const CsrView<double, std::int64_t, Host>&);
template Csr<float, std::int64_t> with_offsets<std::int64_t>(const OpenMP&, const CsrView<float, std::int32_t, Host>&);
template Csr<float, std::int64_t> with_offsets<std::int64_t>(const OpenMP&, const CsrView<float, std::int64_t, Host>&);

}  // namespace seidel
