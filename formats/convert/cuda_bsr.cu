// CSR to BSR and back, on the device.
#include <seidel/formats/convert.hpp>

#include <seidel/formats/convert/blocks.hpp>
#include <seidel/formats/convert/cuda_device.cuh>
#include <seidel/formats/convert/instances.hpp>

namespace seidel {

using namespace convert_detail;

namespace {

constexpr int warp = 32;  // threads that share a row of blocks

/// The first of `count` rows of blocks, `stride` apart, with a gap; or count.
template <int block, class Real, class Offset>
std::int64_t first_gap_among(const Cuda& on, const CsrView<Real, Offset, Device>& A, std::int64_t count,
                             std::int64_t stride) {
  return first_where(on, count * warp,
                     [=] __device__(std::int64_t thread) {
                       const std::int64_t I = thread / warp * stride;
                       if (!entry_fits_block<block>(A, I, -1)) return true;
                       const std::int64_t length = A.row_ptr[I * block + 1] - A.row_ptr[I * block];
                       for (std::int64_t k = thread % warp; k < length; k += warp)
                         if (!entry_fits_block<block>(A, I, k)) return true;
                       return false;
                     }) /
         warp;
}

}  // namespace

template <int block, class Real, class Offset>
std::int64_t first_gap(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  if (A.nrows % block != 0 || A.ncols % block != 0) return 0;
  // Most matrices without blocks show it in a few rows already.
  const std::int64_t nrows = A.nrows / block, sample = std::min<std::int64_t>(nrows, 256),
                     stride = sample > 0 ? nrows / sample : 1;
  if (const std::int64_t found = first_gap_among<block>(on, A, sample, stride); found < sample) return found * stride;
  const std::int64_t found = first_gap_among<block>(on, A, nrows, 1);
  return found < nrows ? found : -1;
}

template <int block, class Real, class Offset>
Bsr<Real, block, Device> to_bsr(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  if (A.nrows % block != 0 || A.ncols % block != 0) refuse_blocks(block, A.nrows, A.ncols, -1);
  if (first_gap<block>(on, A) >= 0)  // some gap: name the first
    refuse_blocks(block, A.nrows, A.ncols, first_gap_among<block>(on, A, A.nrows / block, 1));
  const std::int64_t nrows = A.nrows / block;
  Bsr<Real, block, Device> to{A.nrows, A.ncols, Array<std::int64_t, Device>(on, nrows + 1),
                              Array<Index, Device>(on, A.nnz() / (block * block)), Array<Real, Device>(on, A.nnz())};
  for_each(on, nrows + 1, "finding rows of blocks", [=, ptr = to.row_ptr.data()] __device__(std::int64_t I) {
    ptr[I] = A.row_ptr[I * block] / (block * block);
  });
  for_each(on, nrows * warp, "finding columns of blocks",
           [=, ptr = to.row_ptr.data(), col_idx = to.col_idx.data()] __device__(std::int64_t thread) {
             const std::int64_t I = thread / warp, first = A.row_ptr[I * block];
             for (std::int64_t j = ptr[I] + thread % warp; j < ptr[I + 1]; j += warp)
               col_idx[j] = A.col_idx[first + (j - ptr[I]) * block] / block;
           });
  for_each(on, A.nnz(), "copying values",
           [from = A.values.data(), values = to.values.data()] __device__(std::int64_t k) { values[k] = from[k]; });
  return to;
}

template <class Offset, class Real, int block>
Csr<Real, Offset, Device> to_csr(const Cuda& on, const BsrView<Real, block, Device>& A) {
  require_offsets<Offset>("to_csr", A.nnz(), "take 64-bit row pointers");
  auto to = Csr<Real, Offset, Device>::uninitialised(on, A.nrows, A.ncols, A.nnz());
  const std::int64_t nnz = A.nnz(), nrows = A.nrows;
  for_each(on, nrows + 1, "finding rows", [=, ptr = to.row_ptr.data()] __device__(std::int64_t i) {
    ptr[i] = Offset(i < nrows ? A.first_entry(i) : nnz);
  });
  for_each(on, nrows * warp, "finding columns", [=, col_idx = to.col_idx.data()] __device__(std::int64_t thread) {
    const std::int64_t i = thread / warp, first = A.first_entry(i), length = A.row_length(i);
    for (std::int64_t k = thread % warp; k < length; k += warp)
      col_idx[first + k] = A.col_idx[A.row_ptr[i / block] + k / block] * block + Index(k % block);
  });
  for_each(on, A.nnz(), "copying values",
           [from = A.values.data(), values = to.values.data()] __device__(std::int64_t k) { values[k] = from[k]; });
  return to;
}

template void convert_detail::instances_of_blocks<2, 3, 4, 6>(const Cuda&);

}  // namespace seidel
