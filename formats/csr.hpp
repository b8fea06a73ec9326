// Compressed sparse rows, the hub of all formats, and its transpose's twin CSC.
#pragma once
#include <seidel/formats/runtime/array.hpp>

namespace seidel {

/// Read-only view of a CSR matrix. Owns nothing, copies freely; a view of a caller's arrays costs nothing.
/// Canonical: rows complete, columns ascending and distinct in each row; check() proves it.
template <class Real_, class Offset_, MemorySpace Space_>
struct CsrView {
  using Real = Real_;
  using Offset = Offset_;
  using Space = Space_;

  Index nrows = 0, ncols = 0;
  Span<const Offset, Space> row_ptr;  // nrows + 1 entries, non-decreasing, row_ptr[0] == 0
  Span<const Index, Space> col_idx;   // nnz entries, ascending within a row
  Span<const Real, Space> values;     // nnz entries

  SEIDEL_HD std::int64_t nnz() const { return values.size(); }
};

/// A CSR matrix that owns its arrays.
template <class Real_, class Offset_, MemorySpace Space_ = Host>
struct Csr {
  using Real = Real_;
  using Offset = Offset_;
  using Space = Space_;

  Index nrows = 0, ncols = 0;
  Array<Offset, Space> row_ptr;
  Array<Index, Space> col_idx;
  Array<Real, Space> values;

  /// A matrix of this shape with nnz entries, its arrays uninitialised in the memory of back end `on`.
  static Csr uninitialised(const auto& on, Index nrows, Index ncols, std::int64_t nnz) {
    return {nrows, ncols, Array<Offset, Space>(on, nrows + std::int64_t(1)), Array<Index, Space>(on, nnz),
            Array<Real, Space>(on, nnz)};
  }

  std::int64_t nnz() const { return values.size(); }
  CsrView<Real, Offset, Space> view() const { return {nrows, ncols, row_ptr, col_idx, values}; }
  /// Takes memory for so many entries on a back end.
  void take_entries(const auto& on, std::int64_t count) {
    col_idx = Array<Index, Space>(on, count);
    values = Array<Real, Space>(on, count);
  }
};

/// Read-only view of a CSC matrix: the columns of A are the rows of `transposed`, a CSR matrix with the same arrays.
template <class Real, class Offset, MemorySpace Space>
struct CscView {
  Index nrows = 0, ncols = 0;
  Span<const Offset, Space> col_ptr;  // ncols + 1 entries, non-decreasing, col_ptr[0] == 0
  Span<const Index, Space> row_idx;   // nnz entries, ascending within a column
  Span<const Real, Space> values;     // nnz entries

  SEIDEL_HD std::int64_t nnz() const { return values.size(); }
  /// The same arrays read as the CSR form of A'.
  CsrView<Real, Offset, Space> transposed() const { return {ncols, nrows, col_ptr, row_idx, values}; }
};

template <class Real, class Offset, MemorySpace Space = Host>
struct Csc {
  Index nrows = 0, ncols = 0;
  Array<Offset, Space> col_ptr;
  Array<Index, Space> row_idx;
  Array<Real, Space> values;

  std::int64_t nnz() const { return values.size(); }
  CscView<Real, Offset, Space> view() const { return {nrows, ncols, col_ptr, row_idx, values}; }
};

/// A view of a matrix of any format, owned or viewed already.
auto view_of(const auto& A) {
  if constexpr (requires { A.view(); })
    return A.view();
  else
    return A;
}

/// A copy of A in memory space To.
template <MemorySpace To, class On, class Real, class Offset, MemorySpace From>
Csr<Real, Offset, To> copied_to(const On& on, const CsrView<Real, Offset, From>& A) {
  return {A.nrows, A.ncols, copied_to<To>(on, A.row_ptr), copied_to<To>(on, A.col_idx), copied_to<To>(on, A.values)};
}

/// The arrays of A themselves where they are in memory space To, else copies there.
template <MemorySpace To, class Real, class Offset, MemorySpace From>
Csr<Real, Offset, To> moved_to(const auto& on, Csr<Real, Offset, From> A) {
  return {A.nrows, A.ncols, moved_to<To>(on, std::move(A.row_ptr)), moved_to<To>(on, std::move(A.col_idx)),
          moved_to<To>(on, std::move(A.values))};
}

/// A in the memory of `kept`: A itself where it is there, else a copy, which `kept` then holds. `on` is the back end of one side.
template <MemorySpace From, MemorySpace To, class Real, class Offset>
CsrView<Real, Offset, To> brought_to([[maybe_unused]] const auto& on, const CsrView<Real, Offset, From>& A,
                                     Csr<Real, Offset, To>& kept) {
  if constexpr (std::is_same_v<From, To>) {
    return A;
  } else {
    kept = copied_to<To>(on, A);
    return kept.view();
  }
}

}  // namespace seidel
