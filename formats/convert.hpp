// From any format to CSR and back. Linear in time, parallel, the same bits for any number of threads.
//
// Each takes OpenMP{threads} and a matrix in host memory, or Cuda and one in the memory of the device: the
// same bits. Matrices are taken to be canonical (check() proves it) unless said otherwise.
//
// On the device everything runs in the order of the back end's stream; the host waits for sizes of results and for symmetry.
// Temporary memory there, with an offset of 4 or 8 bytes:
//   to_csr from triplets   8 bytes and two offsets per entry
//   transpose, to_csc ...  up to 8 bytes per entry; 1 at most where the pattern is symmetric
//   to_sell, sigma > 1     16 bytes per row; the others and with_offsets take none
#pragma once
#include <seidel/formats/bsr.hpp>
#include <seidel/formats/convert/refusals.hpp>
#include <seidel/formats/coo.hpp>
#include <seidel/formats/csr.hpp>
#include <seidel/formats/ell.hpp>
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/sell.hpp>

namespace seidel {

/// What to_csr did to triplets.
struct ToCsrReport {
  std::int64_t duplicates = 0;  ///< entries that were added to an earlier one in the same place
};

/// Triplets in any order to canonical CSR: rows sorted, entries in the same place added in order of appearance.
/// Cost    besides the result, while it runs: two offsets per row and up to 2 MB per thread; the entries once more where some are
///         added; 8 bytes per entry where unsorted ones have too many rows and columns for words of 32 bits; 13.5 bytes per
///         entry of the longest row and thread.
/// Errors  InputError naming the first entry outside the matrix; ResourceError if there are too many for Offset.
template <class Offset, class Real>
[[gnu::used]] Csr<Real, Offset> to_csr(const OpenMP& on, const CooView<Real, Host>& A, ToCsrReport* report = nullptr);
/// On a GPU one thread adds all entries of a place.
template <class Offset, class Real>
[[gnu::used]] Csr<Real, Offset, Device> to_csr(const Cuda& on, const CooView<Real, Device>& A,
                                               ToCsrReport* report = nullptr);

/// How transpose() went about it.
struct TransposeReport {
  bool is_mirrored = false;          ///< the pattern is symmetric, and nothing was sorted
  std::int64_t workspace_bytes = 0;  ///< taken besides the result, and given back
};

/// A'. Stable: entries of a row keep the order of the rows that they come from, so the result is canonical even where
/// the columns of A do not ascend.
///
/// Where the pattern of A is symmetric, each value is fetched from its mirrored place: that all are found is the proof.
/// Elsewhere, and where mirrored entries of neighbouring rows lie far apart, buckets of columns are sorted; one thread of
/// the host counts and scatters near entries. Cuda waits up to six times; where columns are unevenly filled and A has more
/// than 40 million entries, or too many rows and columns, about once more for each 8 million.
/// Memory  besides the result:
///           mirrored, scattered  on several threads of the host up to 16 bytes per column; large lattices 2 bytes per row, on a
///                                GPU 1, and there 0.6 per entry below 12 million entries
///           buckets, host        2 bytes per entry, 10 if A has many rows and columns; 13.5 more per entry of a full column
///           buckets, GPU         0.3 to 0.6 bytes per entry, 0.8 beyond 20 million; where columns are unevenly filled 2.4 or 3, or 7
///                                if A is large as well; some megabytes more where A has more columns than entries
template <Backend On, class Real, class Offset>
Csr<Real, Offset, typename On::Space> transpose(const On& on, const CsrView<Real, Offset, typename On::Space>& A) {
  using Space = typename On::Space;
  Csr<Real, Offset, Space> T{A.ncols, A.nrows, Array<Offset, Space>(on, A.ncols + std::int64_t(1)),
                             Array<Index, Space>(on, A.col_idx.size()), Array<Real, Space>(on, A.values.size())};
  transpose(on, A, T);
  return T;
}

/// Bytes that transpose() takes on the host besides A' and 2 MB per thread, at most; but 13.5 more per entry of the fullest column
/// for each thread, where these go by buckets.
std::int64_t max_transpose_workspace(std::int64_t nrows, std::int64_t ncols, std::int64_t nnz);

/// The same into the arrays of T, which is no part of A. Real may also be Offset: numbers of entries. Without values
/// (both spans empty) the structure alone is transposed.
/// Errors  ShapeError unless T has the shape of A' and as many entries and values.
template <class Real, class Offset>
[[gnu::used]] void transpose(const OpenMP& on, const CsrView<Real, Offset, Host>& A, Csr<Real, Offset>& T,
                             TransposeReport* report = nullptr);
template <class Real, class Offset>
[[gnu::used]] void transpose(const Cuda& on, const CsrView<Real, Offset, Device>& A, Csr<Real, Offset, Device>& T,
                             TransposeReport* report = nullptr);

/// The same matrix by columns, and back.
template <Backend On, class Real, class Offset>
Csc<Real, Offset, typename On::Space> to_csc(const On& on, const CsrView<Real, Offset, typename On::Space>& A) {
  auto T = transpose(on, A);
  return {A.nrows, A.ncols, std::move(T.row_ptr), std::move(T.col_idx), std::move(T.values)};
}
template <Backend On, class Real, class Offset>
Csr<Real, Offset, typename On::Space> to_csr(const On& on, const CscView<Real, Offset, typename On::Space>& A) {
  return transpose(on, A.transposed());
}

/// More than this many places for each entry, and a padded format is refused.
inline constexpr int max_padding = 8;

/// Bytes of an ELLPACK matrix whose longest row has `width` entries; the largest number where that overflows.
std::int64_t ell_bytes(std::int64_t nrows, std::int64_t width, int bytes_per_value);

/// Bytes of a SELL-C-sigma matrix with `places` places for entries, padding included.
std::int64_t sell_bytes(std::int64_t nrows, std::int64_t places, Index slice_height, Index sigma, int bytes_per_value);

/// ELLPACK, padding zeroed.
/// Errors  ResourceError before anything is allocated, if padding takes more than 8 places per entry or the result more
///         memory than there is: the bytes, the padding and the format to take instead.
template <Backend On, class Real, class Offset>
[[gnu::used]] Ell<Real, typename On::Space> to_ell(const On& on, const CsrView<Real, Offset, typename On::Space>& A);

/// SELL-C-sigma with C = slice_height, padding zeroed. sigma > 1 sorts rows by descending length, rows of the same
/// length in their order, within windows of sigma rows.
/// Cost    linear; sigma > 1 takes 12 bytes per row while it sorts, one thread per window.
/// Errors  ResourceError as to_ell, before room for entries is allocated; UsageError unless slice_height is
///         1 ... 4096 and sigma at least 1.
template <Backend On, class Real, class Offset>
[[gnu::used]] Sell<Real, typename On::Space> to_sell(const On& on, const CsrView<Real, Offset, typename On::Space>& A,
                                                     Index slice_height = 32, Index sigma = 1);

/// Bytes of a BSR matrix of full blocks.
template <class Real>
constexpr std::int64_t bsr_bytes(std::int64_t nrows, std::int64_t nnz, int block) {
  return (nrows / block + 1) * std::int64_t(sizeof(std::int64_t)) +
         nnz / (block * block) * std::int64_t(sizeof(Index)) + nnz * std::int64_t(sizeof(Real));
}

/// BSR for block = 2, 3, 4 or 6.
/// Errors  ResourceError unless both sizes are multiples of `block` and all blocks that hold entries are full: the rows
///         of the first gap.
template <int block, class Real, class Offset>
[[gnu::used]] Bsr<Real, block> to_bsr(const OpenMP& on, const CsrView<Real, Offset, Host>& A);
template <int block, class Real, class Offset>
[[gnu::used]] Bsr<Real, block, Device> to_bsr(const Cuda& on, const CsrView<Real, Offset, Device>& A);
/// Why to_bsr refuses A: the number of a row of blocks that has a gap (on the host the first one), or 0 if a size of A is no
/// multiple of `block`; -1 if it does not refuse. Waits.
template <int block, class Real, class Offset>
[[gnu::used]] std::int64_t first_gap(const OpenMP& on, const CsrView<Real, Offset, Host>& A);
template <int block, class Real, class Offset>
[[gnu::used]] std::int64_t first_gap(const Cuda& on, const CsrView<Real, Offset, Device>& A);

/// Back to CSR, padding dropped, rows in the order of the matrix. Errors  ResourceError if nnz does not fit into
/// Offset.
template <class Offset, Backend On, class Real>
[[gnu::used]] Csr<Real, Offset, typename On::Space> to_csr(const On& on, const EllView<Real, typename On::Space>& A);
template <class Offset, Backend On, class Real>
[[gnu::used]] Csr<Real, Offset, typename On::Space> to_csr(const On& on, const SellView<Real, typename On::Space>& A);
template <class Offset, class Real, int block>
[[gnu::used]] Csr<Real, Offset> to_csr(const OpenMP& on, const BsrView<Real, block, Host>& A);
template <class Offset, class Real, int block>
[[gnu::used]] Csr<Real, Offset, Device> to_csr(const Cuda& on, const BsrView<Real, block, Device>& A);

namespace convert_detail {
/// to[i] = from[i]; on a GPU it does not wait.
template <class From, class To>
[[gnu::used]] void copy_offsets(const OpenMP& on, HostSpan<const From> from, HostSpan<To> to);
template <class From, class To>
[[gnu::used]] void copy_offsets(const Cuda& on, DeviceSpan<const From> from, DeviceSpan<To> to);
}  // namespace convert_detail

/// A copy with row pointers of another size. Errors  ResourceError if nnz does not fit.
template <class NewOffset, Backend On, class Real, class Offset>
Csr<Real, NewOffset, typename On::Space> with_offsets(const On& on,
                                                      const CsrView<Real, Offset, typename On::Space>& A) {
  using Space = typename On::Space;
  convert_detail::require_offsets<NewOffset>("with_offsets", A.nnz(), "keep 64-bit row pointers");
  auto to = Csr<Real, NewOffset, Space>::uninitialised(on, A.nrows, A.ncols, A.nnz());
  convert_detail::copy_offsets(on, A.row_ptr, to.row_ptr.span());
  copy_bytes(on, Space{}, to.col_idx.data(), Space{}, A.col_idx.data(), A.nnz() * std::int64_t(sizeof(Index)));
  copy_bytes(on, Space{}, to.values.data(), Space{}, A.values.data(), A.nnz() * std::int64_t(sizeof(Real)));
  return to;
}

}  // namespace seidel
