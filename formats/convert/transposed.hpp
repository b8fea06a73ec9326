// What every transposition asks of its result.
#pragma once
#include <string>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::convert_detail {

/// Room for A'.
template <class On, class Real, class Offset, class Space>
Csr<Real, Offset, Space> room_for_transpose(const On& on, const CsrView<Real, Offset, Space>& A) {
  return {A.ncols, A.nrows, Array<Offset, Space>(on, A.ncols + std::int64_t(1)),
          Array<Index, Space>(on, A.col_idx.size()), Array<Real, Space>(on, A.values.size())};
}

/// Errors  ShapeError unless T has the shape of A' and room for its entries.
template <class Real, class Offset, class Space>
void require_transposed(const CsrView<Real, Offset, Space>& A, const Csr<Real, Offset, Space>& T) {
  const auto text = [](std::int64_t nrows, std::int64_t ncols, std::int64_t nnz) {
    return std::to_string(nrows) + " x " + std::to_string(ncols) + " with " + std::to_string(nnz) + " entries";
  };
  if (T.nrows != A.ncols || T.ncols != A.nrows || T.row_ptr.size() != A.ncols + std::int64_t(1) ||
      T.col_idx.size() != A.col_idx.size() || T.values.size() != A.values.size())
    throw ShapeError("transpose: found a result of " + text(T.nrows, T.ncols, T.col_idx.size()) + ", expected " +
                     text(A.ncols, A.nrows, A.col_idx.size()) +
                     "\n  the one-argument transpose(on, A) takes the memory itself");
}

}  // namespace seidel::convert_detail
