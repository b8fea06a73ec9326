// Transposition, the plain version, and copies with other row pointers.
#include <seidel/formats/convert.hpp>
#include <seidel/formats/convert/group.hpp>
#include <seidel/formats/convert/refusals.hpp>

namespace seidel {

using namespace convert_detail;

template <class Real, class Offset>
Csr<Real, Offset> transpose(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  Csr<Real, Offset> to;
  to.nrows = A.ncols;
  to.ncols = A.nrows;
  group(on, ByColumn<Real, Offset>{A}, to);
  return to;
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
