// CSR to ELLPACK and back.
#include <seidel/formats/convert.hpp>
#include <seidel/formats/convert/padding.hpp>
#include <seidel/formats/convert/sort_rows.hpp>

namespace seidel {

using namespace convert_detail;

std::int64_t ell_bytes(std::int64_t nrows, std::int64_t width, int bytes_per_value) {
  const std::int64_t a_row = saturating_product(width, std::int64_t(sizeof(Index)) + bytes_per_value);
  return saturating_product(nrows, saturating_sum(a_row, sizeof(Index)));
}

namespace {

constexpr std::int64_t rows_at_once = 64;  // a block of columns of these rows stays in cache

}  // namespace

template <class Real, class Offset>
Ell<Real> to_ell(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  const std::int64_t width = longest_row(on, A.row_ptr), nrows = A.nrows;
  refuse_padding({"to_ell", "take SELL (to_sell), which pads only within a slice, or keep CSR", A.nrows, A.nnz(), width,
                  saturating_product(nrows, width), ell_bytes<Real>(nrows, width)},
                 on);
  Ell<Real> to{
      A.nrows, A.ncols, Index(width), Array<Index>(nrows), Array<Index>(nrows * width), Array<Real>(nrows * width),
      A.nnz()};
  for_shares(on, nrows, width + 1, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i) to.row_length[i] = Index(A.row_ptr[i + 1] - A.row_ptr[i]);
    for (std::int64_t block = first; block < last; block += rows_at_once)
      for (std::int64_t k = 0; k < width; ++k)
        for (std::int64_t i = block; i < std::min(last, block + rows_at_once); ++i) {
          const bool stored = k < to.row_length[i];
          const std::int64_t at = k * nrows + i;
          to.col_idx[at] = stored ? A.col_idx[A.row_ptr[i] + k] : 0;
          to.values[at] = stored ? A.values[A.row_ptr[i] + k] : Real(0);
        }
  });
  return to;
}

template <class Offset, class Real>
Csr<Real, Offset> to_csr(const OpenMP& on, const EllView<Real, Host>& A) {
  Csr<Real, Offset> to{A.nrows, A.ncols, Array<Offset>(std::int64_t(A.nrows) + 1), {}, {}};
  for_each_index(on, A.nrows, 1, [&](std::int64_t i) { to.row_ptr[i + 1] = Offset(A.row_length[i]); });
  offsets_from_lengths(on, to.row_ptr);
  to.take_entries(on, to.row_ptr[A.nrows]);
  for_shares(on, A.nrows, A.width + std::int64_t(1), [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t block = first; block < last; block += rows_at_once)
      for (Index k = 0; k < A.width; ++k)
        for (std::int64_t i = block; i < std::min(last, block + rows_at_once); ++i)
          if (k < A.row_length[i]) {
            to.col_idx[to.row_ptr[i] + k] = A.col_idx[A.at(Index(i), k)];
            to.values[to.row_ptr[i] + k] = A.values[A.at(Index(i), k)];
          }
  });
  return to;
}

template Ell<double> to_ell(const OpenMP&, const CsrView<double, std::int32_t, Host>&);
template Ell<double> to_ell(const OpenMP&, const CsrView<double, std::int64_t, Host>&);
template Ell<float> to_ell(const OpenMP&, const CsrView<float, std::int32_t, Host>&);
template Ell<float> to_ell(const OpenMP&, const CsrView<float, std::int64_t, Host>&);
template Csr<double, std::int32_t> to_csr<std::int32_t>(const OpenMP&, const EllView<double, Host>&);
template Csr<double, std::int64_t> to_csr<std::int64_t>(const OpenMP&, const EllView<double, Host>&);
template Csr<float, std::int32_t> to_csr<std::int32_t>(const OpenMP&, const EllView<float, Host>&);
template Csr<float, std::int64_t> to_csr<std::int64_t>(const OpenMP&, const EllView<float, Host>&);

}  // namespace seidel
