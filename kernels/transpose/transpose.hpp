// The transpose of a matrix, kept so that new values in the same pattern need no second transposition. A single one is
// transpose(on, A) of formats/convert.hpp.
#pragma once
#include <string>
#include <utility>

#include <seidel/formats/convert.hpp>
#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel {

namespace transpose_detail {

/// to[k] = from[place[k]]
template <class Real, class Offset>
[[gnu::used]] void gather(const OpenMP& on, HostSpan<const Offset> place, HostSpan<const Real> from, HostSpan<Real> to);
template <class Real, class Offset>
[[gnu::used]] void gather(const Cuda& on, DeviceSpan<const Offset> place, DeviceSpan<const Real> from,
                          DeviceSpan<Real> to);

/// place[k] = k
template <class Offset>
[[gnu::used]] void number(const OpenMP& on, HostSpan<Offset> place);
template <class Offset>
[[gnu::used]] void number(const Cuda& on, DeviceSpan<Offset> place);

}  // namespace transpose_detail

/// A' in CSR, and for each of its entries the place in A that its value comes from. Real is double or float, Offset
/// std::int32_t or std::int64_t.
template <class Real, class Offset, Backend On>
class TransposedMatrix {
 public:
  using Space = typename On::Space;

  /// Transposes the numbers of A's entries, then fetches the values. Entries of a row of A' keep the order of the rows
  /// of A, as transpose(on, A) leaves them, and have its bits.
  /// Cost    transpose(on, A), and two offsets per entry besides, of which one is kept.
  /// Errors  ResourceError.
  TransposedMatrix(const On& on, const CsrView<Real, Offset, Space>& A)
      : on_(on), T_{A.ncols, A.nrows, {}, {}, Array<Real, Space>(on, A.nnz())} {
    Array<Offset, Space> numbers(on, A.nnz());
    transpose_detail::number(on, numbers.span());
    const CsrView<Offset, Offset, Space> numbered{A.nrows, A.ncols, A.row_ptr, A.col_idx, numbers};
    auto places = Csr<Offset, Offset, Space>::uninitialised(on, A.ncols, A.nrows, A.nnz());
    transpose(on, numbered, places);
    T_.row_ptr = std::move(places.row_ptr);
    T_.col_idx = std::move(places.col_idx);
    place_ = std::move(places.values);
    update_values(A.values);
  }

  /// A'. Stays where it is until the object goes.
  CsrView<Real, Offset, Space> view() const { return T_.view(); }

  /// Takes new values of A, whose pattern is the old one.
  /// Cost    reads the values in the order of A' and an offset per entry, writes the values; allocates nothing and, on
  ///         a GPU, waits for nothing.
  /// Errors  ShapeError.
  void update_values(Span<const Real, Space> values) {
    if (values.size() != T_.nnz())
      throw ShapeError("update_values: found " + std::to_string(values.size()) + " values, expected " +
                       std::to_string(T_.nnz()) + ", as many as A has entries");
    transpose_detail::gather(on_, std::as_const(place_).span(), values, T_.values.span());
  }

  /// What it holds: A' and the places.
  std::int64_t bytes() const {
    return std::int64_t(sizeof(Offset)) * (T_.row_ptr.size() + place_.size()) +
           std::int64_t(sizeof(Index) + sizeof(Real)) * T_.nnz();
  }
  std::string describe() const { return "A', with the place in A of each entry"; }

 private:
  On on_;
  Csr<Real, Offset, Space> T_;
  Array<Offset, Space> place_;
};

}  // namespace seidel
