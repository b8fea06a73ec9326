// Transposition on the device, and copies with other row pointers.
#include <seidel/formats/convert.hpp>

#include <seidel/formats/convert/cuda_device.cuh>
#include <seidel/formats/convert/refusals.hpp>
#include <seidel/formats/convert/transposed.hpp>

namespace seidel {

using namespace convert_detail;

template <class Real, class Offset>
void transpose(const Cuda& on, const CsrView<Real, Offset, Device>& A, Csr<Real, Offset, Device>& T,
               TransposeReport* report) {
  require_transposed(A, T);
  const std::int64_t n = A.col_idx.size(), ncols = A.ncols;
  Pairs<Offset> pairs(on, n);  // column and place of each entry; stable, so that entries of a column stay in order
  for_each(on, n, "making sort keys",
           [=, key = pairs.key[0].data(), place = pairs.payload[0].data()] __device__(std::int64_t k) {
             key[k] = A.col_idx[k];
             place[k] = Offset(k);
           });
  sort_pairs(on, pairs, n, ncols);
  for_each(on, ncols + 1, "finding columns",
           [=, key = pairs.key[0].data(), ptr = T.row_ptr.data()] __device__(std::int64_t j) {
             ptr[j] = Offset(keys_below(key, n, j));
           });
  rows_of_entries(on, A.row_ptr, pairs.key[1].span());
  for_each(on, n, "gathering columns",
           [=, row_of = pairs.key[1].data(), place = pairs.payload[0].data(), col_idx = T.col_idx.data(),
            values = T.values.data()] __device__(std::int64_t k) {
             const Offset from = place[k];
             col_idx[k] = row_of[from];
             if (values) values[k] = A.values[from];
           });
  if (report) *report = {.workspace_bytes = 2 * n * std::int64_t(sizeof(Index) + sizeof(Offset))};
}

template <class Real, class Offset>
Csr<Real, Offset, Device> transpose(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  auto T = room_for_transpose(on, A);
  transpose(on, A, T);
  return T;
}

template <class NewOffset, class Real, class Offset>
Csr<Real, NewOffset, Device> with_offsets(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  require_offsets<NewOffset>("with_offsets", A.nnz(), "keep 64-bit row pointers");
  Csr<Real, NewOffset, Device> to{A.nrows, A.ncols, Array<NewOffset, Device>(on, A.row_ptr.size()),
                                  Array<Index, Device>(on, A.nnz()), Array<Real, Device>(on, A.nnz())};
  for_each(on, A.row_ptr.size(), "copying row pointers",
           [=, ptr = to.row_ptr.data()] __device__(std::int64_t i) { ptr[i] = NewOffset(A.row_ptr[i]); });
  for_each(on, A.nnz(), "copying entries",
           [=, col_idx = to.col_idx.data(), values = to.values.data()] __device__(std::int64_t k) {
             col_idx[k] = A.col_idx[k];
             values[k] = A.values[k];
           });
  return to;
}

template void transpose(const Cuda&, const CsrView<double, std::int32_t, Device>&, Csr<double, std::int32_t, Device>&,
                        TransposeReport*);
template void transpose(const Cuda&, const CsrView<double, std::int64_t, Device>&, Csr<double, std::int64_t, Device>&,
                        TransposeReport*);
template void transpose(const Cuda&, const CsrView<float, std::int32_t, Device>&, Csr<float, std::int32_t, Device>&,
                        TransposeReport*);
template void transpose(const Cuda&, const CsrView<float, std::int64_t, Device>&, Csr<float, std::int64_t, Device>&,
                        TransposeReport*);
template void transpose(const Cuda&, const CsrView<std::int32_t, std::int32_t, Device>&,
                        Csr<std::int32_t, std::int32_t, Device>&, TransposeReport*);
template void transpose(const Cuda&, const CsrView<std::int64_t, std::int64_t, Device>&,
                        Csr<std::int64_t, std::int64_t, Device>&, TransposeReport*);
template Csr<double, std::int32_t, Device> transpose(const Cuda&, const CsrView<double, std::int32_t, Device>&);
template Csr<double, std::int64_t, Device> transpose(const Cuda&, const CsrView<double, std::int64_t, Device>&);
template Csr<float, std::int32_t, Device> transpose(const Cuda&, const CsrView<float, std::int32_t, Device>&);
template Csr<float, std::int64_t, Device> transpose(const Cuda&, const CsrView<float, std::int64_t, Device>&);

template Csr<double, std::int32_t, Device> with_offsets<std::int32_t>(const Cuda&,
                                                                      const CsrView<double, std::int32_t, Device>&);
template Csr<double, std::int32_t, Device> with_offsets<std::int32_t>(const Cuda&,
                                                                      const CsrView<double, std::int64_t, Device>&);
template Csr<float, std::int32_t, Device> with_offsets<std::int32_t>(const Cuda&,
                                                                     const CsrView<float, std::int32_t, Device>&);
template Csr<float, std::int32_t, Device> with_offsets<std::int32_t>(const Cuda&,
                                                                     const CsrView<float, std::int64_t, Device>&);
template Csr<double, std::int64_t, Device> with_offsets<std::int64_t>(const Cuda&,
                                                                      const CsrView<double, std::int32_t, Device>&);
template Csr<double, std::int64_t, Device> with_offsets<std::int64_t>(const Cuda&,
                                                                      const CsrView<double, std::int64_t, Device>&);
template Csr<float, std::int64_t, Device> with_offsets<std::int64_t>(const Cuda&,
                                                                     const CsrView<float, std::int32_t, Device>&);
template Csr<float, std::int64_t, Device> with_offsets<std::int64_t>(const Cuda&,
                                                                     const CsrView<float, std::int64_t, Device>&);

}  // namespace seidel
