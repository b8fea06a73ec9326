// Dense matrices with few columns: several vectors side by side.
#pragma once
#include <seidel/formats/runtime/array.hpp>

namespace seidel {

enum class Layout { row_major, column_major };

/// View of nrows x ncols elements; (i, j) is at i * leading_dimension + j (row-major) or j * leading_dimension + i.
template <class T, MemorySpace Space>
struct MultiVectorView {
  std::int64_t nrows = 0, ncols = 0;
  std::int64_t leading_dimension = 0;  // row-major: at least ncols; column-major: at least nrows
  Layout layout = Layout::row_major;
  T* data = nullptr;

  SEIDEL_HD std::int64_t at(std::int64_t i, std::int64_t j) const {
    return layout == Layout::row_major ? i * leading_dimension + j : j * leading_dimension + i;
  }
  SEIDEL_HD T& operator()(std::int64_t i, std::int64_t j) const { return data[at(i, j)]; }
  template <class U>
    requires(!std::is_const_v<T> && std::is_same_v<U, const T>)
  operator MultiVectorView<U, Space>() const {
    return {nrows, ncols, leading_dimension, layout, data};
  }
};

/// Throws ShapeError unless V is nrows x ncols, and its rows (row-major) or columns do not overlap.
template <class T, class Space>
void require_shape(const MultiVectorView<T, Space>& V, std::int64_t nrows, std::int64_t ncols, const char* operation,
                   const char* operand) {
  const std::int64_t least = V.layout == Layout::row_major ? ncols : nrows;
  if (V.nrows == nrows && V.ncols == ncols && (V.leading_dimension >= least || nrows == 0 || ncols == 0)) return;
  const auto shape = [](std::int64_t rows, std::int64_t columns, std::int64_t leading_dimension) {
    return std::to_string(rows) + " x " + std::to_string(columns) + " with leading dimension " +
           std::to_string(leading_dimension);
  };
  throw ShapeError(std::string(operation) + ": " + operand + " is " + shape(V.nrows, V.ncols, V.leading_dimension) +
                   ", the matrix needs " + shape(nrows, ncols, least) + " or more");
}

/// Owns its elements, uninitialised. By default the leading dimension is the smallest possible.
/// Errors  ResourceError with the bytes asked for.
template <class T, MemorySpace Space = Host>
class MultiVector {
 public:
  /// In the memory of back end `on`.
  template <class On>
    requires std::is_same_v<typename On::Space, Space>
  MultiVector(const On& on, std::int64_t nrows, std::int64_t ncols, Layout layout, std::int64_t leading_dimension = 0)
      : nrows_(nrows),
        ncols_(ncols),
        leading_dimension_(leading_dimension             ? leading_dimension
                           : layout == Layout::row_major ? ncols
                                                         : nrows),
        layout_(layout),
        data_(on, (layout == Layout::row_major ? nrows : ncols) * leading_dimension_) {}

  MultiVector(std::int64_t nrows, std::int64_t ncols, Layout layout, std::int64_t leading_dimension = 0)
    requires std::is_same_v<Space, Host>
      : MultiVector(OpenMP{1}, nrows, ncols, layout, leading_dimension) {}

  MultiVectorView<T, Space> view() { return {nrows_, ncols_, leading_dimension_, layout_, data_.data()}; }
  MultiVectorView<const T, Space> view() const { return {nrows_, ncols_, leading_dimension_, layout_, data_.data()}; }
  /// All elements, padding of the leading dimension included.
  Array<T, Space>& elements() { return data_; }
  const Array<T, Space>& elements() const { return data_; }

 private:
  std::int64_t nrows_, ncols_, leading_dimension_;
  Layout layout_;
  Array<T, Space> data_;
};

}  // namespace seidel
