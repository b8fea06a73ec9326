// Memory that owns itself.
#pragma once
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/memory.hpp>
#include <seidel/formats/runtime/span.hpp>

namespace seidel {

/// Owns `size()` elements of trivial type T in one memory space; movable, not copyable (copy() says it aloud).
/// New elements are uninitialised, so that the threads that use them touch them first.
template <class T, MemorySpace Space = Host>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  explicit Array(std::int64_t size) : data_(static_cast<T*>(allocate(Space{}, bytes_of(size)))), size_(size) {}
  Array(std::int64_t size, T value)
    requires std::is_same_v<Space, Host>
      : Array(size) {
    std::fill(data_, data_ + size, value);
  }
  /// In the memory of back end `on`.
  template <class On>
    requires std::is_same_v<typename On::Space, Space>
  Array(const On&, std::int64_t size) : Array(size) {}
  Array(const std::vector<T>& from) : Array(std::int64_t(from.size())) {
    copy_bytes(Space{}, data_, Host{}, from.data(), bytes_of(size_));
  }
  Array(Array&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Array() { release(Space{}, data_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Forgets the elements from `size` on; keeps their memory.
  void truncate(std::int64_t size) { size_ = size; }
  T& operator[](std::int64_t i) { return data_[i]; }
  const T& operator[](std::int64_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  Span<T, Space> span() { return {data_, size_}; }
  Span<const T, Space> span() const { return {data_, size_}; }
  operator Span<T, Space>() { return span(); }
  operator Span<const T, Space>() const { return span(); }

 private:
  static std::int64_t bytes_of(std::int64_t size) {
    if (size < 0 || size > std::numeric_limits<std::int64_t>::max() / std::int64_t(sizeof(T)))
      throw ResourceError("an array of " + std::to_string(size) + " elements cannot exist: its bytes overflow 64 bits");
    return size * std::int64_t(sizeof(T));
  }

  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// Copies all elements, between spaces too; sizes must agree. Blocks until the copy is whole.
template <class T, class From, class To>
void copy(Span<const T, From> from, Span<T, To> to) {
  if (from.size() != to.size())
    throw ShapeError("copy: sizes differ, " + std::to_string(from.size()) + " into " + std::to_string(to.size()));
  copy_bytes(To{}, to.data(), From{}, from.data(), from.size() * std::int64_t(sizeof(T)));
}

/// The same, where `on` is the back end of one side.
template <class On, class T, class From, class To>
  requires(!std::is_same_v<From, To>)
void copy(const On&, Span<const T, From> from, Span<T, To> to) {
  copy(from, to);
}

/// A copy of `from` in memory space To; `on` is the back end of one side.
template <class To, class On, class T, class From>
  requires requires { typename On::Space; }
Array<T, To> copied_to(const On& on, Span<const T, From> from) {
  return copied_to<To>(from);
}

/// A copy of `from` in memory space To.
template <class To, class T, class From>
Array<T, To> copied_to(Span<const T, From> from) {
  Array<T, To> to(from.size());
  copy(from, to.span());
  return to;
}
template <class To, class T, class From>
Array<T, To> copied_to(const Array<T, From>& from) {
  return copied_to<To>(from.span());
}

}  // namespace seidel
