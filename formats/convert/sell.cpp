// CSR to SELL-C-sigma and back.
#include <seidel/formats/convert.hpp>
#include <seidel/formats/convert/padding.hpp>
#include <seidel/formats/convert/sort_rows.hpp>

namespace seidel {

using namespace convert_detail;

std::int64_t sell_bytes(std::int64_t nrows, std::int64_t places, Index slice_height, Index sigma, int bytes_per_value) {
  const std::int64_t nslices = (nrows + slice_height - 1) / slice_height;
  const std::int64_t rows = (nslices + 1) * std::int64_t(sizeof(std::int64_t)) +
                            (nslices * slice_height + (sigma > 1 ? nrows : 0)) * std::int64_t(sizeof(Index));
  return saturating_sum(rows, saturating_product(places, std::int64_t(sizeof(Index)) + bytes_per_value));
}

namespace {

/// Rows of each window of sigma by descending length, those of one length in their order.
template <class Offset>
Array<Index> sorted_within_windows(const OpenMP& on, HostSpan<const Offset> row_ptr, Index sigma) {
  const std::int64_t nrows = row_ptr.size() - 1, nwindows = (nrows + sigma - 1) / sigma;
  const OpenMP few{int(std::min<std::int64_t>(on.threads, nwindows))};
  Array<Index> negative_length(nrows), row_at(nrows);
  RowSorter<Index> sort(few.threads);
  for_shares(few, nwindows, sigma, [&](std::int64_t first, std::int64_t last, int thread) {
    for (std::int64_t window = first; window < last; ++window) {
      const std::int64_t begin = window * sigma, end = std::min(nrows, begin + sigma);
      for (std::int64_t i = begin; i < end; ++i) {
        negative_length[i] = -Index(row_ptr[i + 1] - row_ptr[i]);
        row_at[i] = Index(i);
      }
      sort(negative_length.data() + begin, row_at.data() + begin, end - begin, thread);
    }
  });
  return row_at;
}

}  // namespace

template <class Real, class Offset>
Sell<Real> to_sell(const OpenMP& on, const CsrView<Real, Offset, Host>& A, Index slice_height, Index sigma) {
  require_slices(slice_height, sigma);
  const std::int64_t C = slice_height, nrows = A.nrows, nslices = (nrows + C - 1) / C;
  Sell<Real> to;
  to.nrows = A.nrows;
  to.ncols = A.ncols;
  to.slice_height = slice_height;
  to.sigma = sigma;
  to.nnz = A.nnz();
  if (sigma > 1) to.permutation = sorted_within_windows(on, A.row_ptr, sigma);
  to.row_length = Array<Index>(nslices * C);
  to.slice_ptr = Array<std::int64_t>(nslices + 1);
  const HostSpan<const Index> permutation = to.permutation;
  const auto row_at = [=](std::int64_t place) { return permutation.empty() ? place : permutation[place]; };
  for_each_index(on, nslices, C, [&](std::int64_t s) {
    std::int64_t longest = 0;
    for (std::int64_t p = s * C; p < (s + 1) * C; ++p) {
      const std::int64_t length = p < nrows ? A.row_ptr[row_at(p) + 1] - A.row_ptr[row_at(p)] : 0;
      to.row_length[p] = Index(length);
      longest = std::max(longest, length);
    }
    to.slice_ptr[s + 1] = saturating_product(C, longest);
  });
  std::int64_t places = 0;  // a slice has at most 2^62 of them; sums saturate before they can overflow
  for (std::int64_t s = 0; s < nslices; ++s) places = saturating_sum(places, to.slice_ptr[s + 1]);
  refuse_padding(
      {"to_sell", sigma == 1 ? "sort rows of like length together (sigma above 1), or keep CSR" : "keep CSR", nrows,
       A.nnz(), longest_row(on, A.row_ptr), places, sell_bytes<Real>(nrows, places, slice_height, sigma)},
      on);
  offsets_from_lengths(on, to.slice_ptr);
  to.col_idx = Array<Index>(places);
  to.values = Array<Real>(places);
  for_row_pieces(on, HostSpan<const std::int64_t>(to.slice_ptr), [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t s = first; s < last; ++s) {
      std::int64_t at = to.slice_ptr[s];
      for (std::int64_t k = 0; at < to.slice_ptr[s + 1]; ++k)
        for (std::int64_t p = s * C; p < (s + 1) * C; ++p, ++at) {
          const bool stored = k < to.row_length[p];
          const std::int64_t from = stored ? A.row_ptr[row_at(p)] + k : 0;
          to.col_idx[at] = stored ? A.col_idx[from] : 0;
          to.values[at] = stored ? A.values[from] : Real(0);
        }
    }
  });
  return to;
}

template <class Offset, class Real>
Csr<Real, Offset> to_csr(const OpenMP& on, const SellView<Real, Host>& A) {
  const std::int64_t C = A.slice_height;
  Csr<Real, Offset> to{A.nrows, A.ncols, Array<Offset>(std::int64_t(A.nrows) + 1), {}, {}};
  for_each_index(on, A.nrows, 1,
                 [&](std::int64_t p) { to.row_ptr[A.row_at(p) + std::int64_t(1)] = Offset(A.row_length[p]); });
  offsets_from_lengths(on, to.row_ptr);
  to.take_entries(on, to.row_ptr[A.nrows]);
  for_row_pieces(on, A.slice_ptr, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t s = first; s < last; ++s)
      for (std::int64_t p = s * C; p < std::min<std::int64_t>(A.nrows, (s + 1) * C); ++p)
        for (std::int64_t k = 0, at = to.row_ptr[A.row_at(p)]; k < A.row_length[p]; ++k, ++at) {
          const std::int64_t from = A.slice_ptr[s] + k * C + (p - s * C);
          to.col_idx[at] = A.col_idx[from];
          to.values[at] = A.values[from];
        }
  });
  return to;
}

template Sell<double> to_sell(const OpenMP&, const CsrView<double, std::int32_t, Host>&, Index, Index);
template Sell<double> to_sell(const OpenMP&, const CsrView<double, std::int64_t, Host>&, Index, Index);
template Sell<float> to_sell(const OpenMP&, const CsrView<float, std::int32_t, Host>&, Index, Index);
template Sell<float> to_sell(const OpenMP&, const CsrView<float, std::int64_t, Host>&, Index, Index);
template Csr<double, std::int32_t> to_csr<std::int32_t>(const OpenMP&, const SellView<double, Host>&);
template Csr<double, std::int64_t> to_csr<std::int64_t>(const OpenMP&, const SellView<double, Host>&);
template Csr<float, std::int32_t> to_csr<std::int32_t>(const OpenMP&, const SellView<float, Host>&);
template Csr<float, std::int64_t> to_csr<std::int64_t>(const OpenMP&, const SellView<float, Host>&);

}  // namespace seidel
