// A view of contiguous elements in one memory space.
#pragma once
#include <seidel/formats/runtime/types.hpp>

namespace seidel {

/// Pointer and size; owns nothing, copies freely. A Span<T, Device> is indexed in device code only, and does not convert
/// to a Span<T, Host>: handing one to a host kernel does not compile.
template <class T, MemorySpace Space>
class Span {
 public:
  using value_type = std::remove_const_t<T>;

  SEIDEL_HD constexpr Span() : data_(nullptr), size_(0) {}
  SEIDEL_HD constexpr Span(T* data, std::int64_t size) : data_(data), size_(size) {}
  /// Span<T> to Span<const T>.
  template <class U>
    requires(std::is_const_v<T> && std::is_same_v<U, value_type>)
  SEIDEL_HD constexpr Span(Span<U, Space> other) : data_(other.data()), size_(other.size()) {}

  SEIDEL_HD constexpr T* data() const { return data_; }
  SEIDEL_HD constexpr std::int64_t size() const { return size_; }
  SEIDEL_HD constexpr bool empty() const { return size_ == 0; }
  SEIDEL_HD constexpr T& operator[](std::int64_t i) const { return data_[i]; }
  SEIDEL_HD constexpr T* begin() const { return data_; }
  SEIDEL_HD constexpr T* end() const { return data_ + size_; }
  SEIDEL_HD constexpr T& front() const { return data_[0]; }
  SEIDEL_HD constexpr T& back() const { return data_[size_ - 1]; }
  SEIDEL_HD constexpr Span subspan(std::int64_t first, std::int64_t count) const { return {data_ + first, count}; }

 private:
  T* data_;
  std::int64_t size_;
};

template <class T>
using HostSpan = Span<T, Host>;
template <class T>
using DeviceSpan = Span<T, Device>;

}  // namespace seidel
