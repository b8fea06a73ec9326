// CSR to BSR and back.
#include <seidel/formats/convert.hpp>
#include <seidel/formats/convert/blocks.hpp>
#include <seidel/formats/convert/instances.hpp>
#include <seidel/formats/runtime/shares.hpp>

namespace seidel {

using namespace convert_detail;

template <int block, class Real, class Offset>
std::int64_t first_gap(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  if (A.nrows % block != 0 || A.ncols % block != 0) return 0;
  const std::int64_t nrows = A.nrows / block, weight = A.nnz() / std::max<std::int64_t>(1, nrows) + 1;
  const std::int64_t found = first_where(on, nrows, weight, [&](std::int64_t I) {
    if (!entry_fits_block<block>(A, I, -1)) return true;
    const std::int64_t length = A.row_ptr[I * block + 1] - A.row_ptr[I * block];
    for (std::int64_t k = 0; k < length; ++k)
      if (!entry_fits_block<block>(A, I, k)) return true;
    return false;
  });
  return found < nrows ? found : -1;
}

template <int block, class Real, class Offset>
Bsr<Real, block> to_bsr(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  if (A.nrows % block != 0 || A.ncols % block != 0) refuse_blocks(block, A.nrows, A.ncols, -1);
  if (const std::int64_t gap = first_gap<block>(on, A); gap >= 0) refuse_blocks(block, A.nrows, A.ncols, gap);
  const std::int64_t nrows = A.nrows / block;
  Bsr<Real, block> to{A.nrows, A.ncols, Array<std::int64_t>(nrows + 1), Array<Index>(A.nnz() / (block * block)),
                      Array<Real>(A.nnz())};
  for_each_index(on, nrows + 1, 1, [&](std::int64_t I) { to.row_ptr[I] = A.row_ptr[I * block] / (block * block); });
  for_row_shares(on, std::as_const(to).row_ptr.span(), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t I = first; I < last; ++I)
      for (std::int64_t j = to.row_ptr[I]; j < to.row_ptr[I + 1]; ++j)
        to.col_idx[j] = A.col_idx[A.row_ptr[I * block] + (j - to.row_ptr[I]) * block] / block;
    const std::int64_t begin = A.row_ptr[first * block], end = A.row_ptr[last * block];
    std::copy(A.values.begin() + begin, A.values.begin() + end, to.values.data() + begin);
  });
  return to;
}

template <class Offset, class Real, int block>
Csr<Real, Offset> to_csr(const OpenMP& on, const BsrView<Real, block, Host>& A) {
  require_offsets<Offset>("to_csr", A.nnz(), "take 64-bit row pointers");
  auto to = Csr<Real, Offset>::uninitialised(on, A.nrows, A.ncols, A.nnz());
  to.row_ptr[0] = 0;
  for_row_shares(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first * block; i < last * block; ++i) {
      const std::int64_t begin = A.first_entry(i), length = A.row_length(i);
      to.row_ptr[i + 1] = Offset(begin + length);
      for (std::int64_t k = 0; k < length; ++k) {
        to.col_idx[begin + k] = A.col_idx[A.row_ptr[i / block] + k / block] * block + Index(k % block);
        to.values[begin + k] = A.values[begin + k];
      }
    }
  });
  return to;
}

template void convert_detail::instances_of_blocks<2, 3, 4, 6>(const OpenMP&);

}  // namespace seidel
