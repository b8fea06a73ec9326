// What conversions refuse, in the same words on every back end. Padding has a file of its own.
#pragma once
#include <limits>
#include <string>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::convert_detail {

/// Errors  ResourceError if nnz does not fit into Offset.
template <class Offset>
void require_offsets(const char* where, std::int64_t nnz, const char* remedy) {
  if (nnz > std::numeric_limits<Offset>::max())
    throw ResourceError(std::string(where) + ": found " + std::to_string(nnz) + " entries, expected at most " +
                        std::to_string(std::numeric_limits<Offset>::max()) + "\n  " + remedy);
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

inline constexpr Index max_slice_height = 4096;

/// Errors  UsageError for slices that SELL cannot have.
inline void require_slices(Index slice_height, Index sigma) {
  if (slice_height < 1 || slice_height > max_slice_height || sigma < 1)
    throw UsageError("to_sell: found slice height " + std::to_string(slice_height) + " and sigma " +
                     std::to_string(sigma) + ", expected 1 ... " + std::to_string(max_slice_height) +
                     " and at least 1\n  32 and 1 are the defaults");
}

}  // namespace seidel::convert_detail
