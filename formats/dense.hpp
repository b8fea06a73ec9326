// Dense matrices: the views of multivector.hpp, transposed at no cost.
#pragma once
#include <utility>

#include <seidel/formats/multivector.hpp>

namespace seidel {

/// A block of a matrix, or one of its rows or columns, is such a view too, with the leading dimension and layout of the whole.
template <class T, MemorySpace Space>
using DenseView = MultiVectorView<T, Space>;

/// The same memory read as the transposed matrix.
template <class T, class Space>
DenseView<T, Space> transposed(const DenseView<T, Space>& A) {
  return {A.ncols, A.nrows, A.leading_dimension,
          A.layout == Layout::row_major ? Layout::column_major : Layout::row_major, A.data};
}

/// nrows x ncols elements of A, from (row, column) on.
template <class T, class Space>
DenseView<T, Space> block(const DenseView<T, Space>& A, std::int64_t row, std::int64_t column, std::int64_t nrows,
                          std::int64_t ncols) {
  return {nrows, ncols, A.leading_dimension, A.layout, A.data + A.at(row, column)};
}

/// Whether A and C have an element in common. Blocks of one matrix may lie between each other without sharing any.
template <class T, class U, class Space>
bool overlap(const DenseView<T, Space>& A, const DenseView<U, Space>& C) {
  static_assert(sizeof(T) == sizeof(U));
  struct Lines {
    std::uintptr_t first;
    std::int64_t count, length, step;  // in elements
  };
  const auto lines_of = [](const auto& V) {
    const bool rows = V.layout == Layout::row_major;
    const std::int64_t count = rows ? V.nrows : V.ncols, length = rows ? V.ncols : V.nrows;
    return Lines{reinterpret_cast<std::uintptr_t>(V.data), count, length, V.leading_dimension};
  };
  Lines a = lines_of(A), c = lines_of(C);
  if (a.count == 0 || a.length == 0 || c.count == 0 || c.length == 0) return false;
  if (a.first > c.first) std::swap(a, c);
  const std::int64_t apart = std::int64_t((c.first - a.first) / sizeof(T));
  if (apart >= (a.count - 1) * a.step + a.length) return false;
  if (a.count == 1 || (a.step != c.step && c.count > 1))
    return true;  // blocks of two matrices: their lines meet, or might
  // c begins at place `offset` of line `line` of a, and may reach into the line after it.
  const std::int64_t line = apart / a.step, offset = apart % a.step;
  return (line < a.count && offset < a.length) || (line + 1 < a.count && offset + c.length > a.step);
}

}  // namespace seidel
