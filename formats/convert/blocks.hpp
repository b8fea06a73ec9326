// BSR from CSR and back, on every back end. It is included by bsr.cpp and cuda_bsr.cu, below the loops of their back end that are
// used here.
#pragma once
#include <seidel/formats/convert.hpp>

namespace seidel {

namespace convert_detail {

/// Whether entry k of the first row of row of blocks I stands where a full block has it, and so do those of the other
/// rows. Entry -1 asks about their lengths.
template <int block, class Real, class Offset, MemorySpace Space>
SEIDEL_HD bool entry_fits_block(const CsrView<Real, Offset, Space>& A, std::int64_t I, std::int64_t k) {
  const Offset* const ptr = A.row_ptr.data() + I * block;
  const std::int64_t length = ptr[1] - ptr[0];
  if (k < 0) {
    bool fits = length % block == 0;
    for (int r = 1; r < block; ++r) fits = fits && ptr[r + 1] - ptr[r] == length;
    return fits;
  }
  const Index* const first = A.col_idx.data() + ptr[0];
  const Index expected = first[k - k % block] + Index(k % block);
  bool fits = first[k - k % block] % block == 0;
  for (int r = 0; r < block; ++r) fits = fits && first[r * length + k] == expected;
  return fits;
}

/// The first of `count` rows of blocks, `stride` apart, with a gap; or count.
template <int block, Backend On, class Real, class Offset>
std::int64_t first_gap_among(const On& on, const CsrView<Real, Offset, typename On::Space>& A, std::int64_t count,
                             std::int64_t stride) {
  return first_where(on, count * lanes,
                     [=] SEIDEL_HD(std::int64_t thread) {
                       const std::int64_t I = thread / lanes * stride;
                       if (!entry_fits_block<block>(A, I, -1)) return true;
                       const std::int64_t length = A.row_ptr[I * block + 1] - A.row_ptr[I * block];
                       for (std::int64_t k = thread % lanes; k < length; k += lanes)
                         if (!entry_fits_block<block>(A, I, k)) return true;
                       return false;
                     }) /
         lanes;
}

}  // namespace convert_detail

template <int block, Backend On, class Real, class Offset>
std::int64_t first_gap(const On& on, const CsrView<Real, Offset, typename On::Space>& A) {
  using namespace convert_detail;
  if (A.nrows % block != 0 || A.ncols % block != 0) return 0;
  const std::int64_t nrows = A.nrows / block;
  if constexpr (!HostBackend<On>) {  // most matrices without blocks show it in a few rows already
    const std::int64_t sample = std::min<std::int64_t>(nrows, 256), stride = sample > 0 ? nrows / sample : 1;
    if (const std::int64_t found = first_gap_among<block>(on, A, sample, stride); found < sample) return found * stride;
  }
  const std::int64_t found = first_gap_among<block>(on, A, nrows, 1);
  return found < nrows ? found : -1;
}

template <int block, Backend On, class Real, class Offset>
Bsr<Real, block, typename On::Space> to_bsr(const On& on, const CsrView<Real, Offset, typename On::Space>& A) {
  using namespace convert_detail;
  using Space = typename On::Space;
  const std::int64_t nrows = A.nrows / block;
  if (first_gap<block>(on, A) >= 0) {
    const auto text = [](std::int64_t n) { return std::to_string(n); };
    std::string found = text(A.nrows) + " x " + text(A.ncols) + " entries, expected multiples of " + text(block);
    if (A.nrows % block == 0 && A.ncols % block == 0) {
      const std::int64_t first = first_gap_among<block>(on, A, nrows, 1) * block;
      found = "a block with gaps in rows " + text(first + 1) + " to " + text(first + block) +
              ", expected full blocks of " + text(block) + " x " + text(block);
    }
    throw ResourceError("to_bsr: found " + found + "\n  keep CSR, or store the zeros of each block");
  }
  Bsr<Real, block, Space> to{A.nrows, A.ncols, Array<std::int64_t, Space>(on, nrows + 1),
                             Array<Index, Space>(on, A.nnz() / (block * block)), Array<Real, Space>(on, A.nnz())};
  std::int64_t* const ptr = to.row_ptr.data();
  Index* const col_idx = to.col_idx.data();
  for_each(on, nrows + 1, "finding rows of blocks",
           [=] SEIDEL_HD(std::int64_t I) { ptr[I] = A.row_ptr[I * block] / (block * block); });
  for_each(on, nrows * lanes, "finding columns of blocks", [=] SEIDEL_HD(std::int64_t thread) {
    const std::int64_t I = thread / lanes, first = A.row_ptr[I * block];
    for (std::int64_t j = ptr[I] + thread % lanes; j < ptr[I + 1]; j += lanes)
      col_idx[j] = A.col_idx[first + (j - ptr[I]) * block] / block;
  });
  copy_bytes(on, Space{}, to.values.data(), Space{}, A.values.data(), A.nnz() * std::int64_t(sizeof(Real)));
  return to;
}

template <class Offset, Backend On, class Real, int block>
Csr<Real, Offset, typename On::Space> to_csr(const On& on, const BsrView<Real, block, typename On::Space>& A) {
  using namespace convert_detail;
  using Space = typename On::Space;
  require_offsets<Offset>("to_csr", A.nnz(), "take 64-bit row pointers");
  auto to = Csr<Real, Offset, Space>::uninitialised(on, A.nrows, A.ncols, A.nnz());
  const std::int64_t nnz = A.nnz(), nrows = A.nrows;
  Offset* const ptr = to.row_ptr.data();
  Index* const col_idx = to.col_idx.data();
  Real* const values = to.values.data();
  for_each(on, nrows + 1, "finding rows",
           [=] SEIDEL_HD(std::int64_t i) { ptr[i] = Offset(i < nrows ? A.first_entry(i) : nnz); });
  for_each(on, nrows * lanes, "copying rows", [=] SEIDEL_HD(std::int64_t thread) {
    const std::int64_t i = thread / lanes, first = A.first_entry(i), length = A.row_length(i);
    for (std::int64_t k = thread % lanes; k < length; k += lanes) {
      col_idx[first + k] = A.col_idx[A.row_ptr[i / block] + k / block] * block + Index(k % block);
      values[first + k] = A.values[first + k];
    }
  });
  return to;
}

}  // namespace seidel
