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

/// Owns `size()` elements of trivial type T in one memory space; movable, but copied by copy() alone.
/// New elements are uninitialised, so that the threads that use them touch them first. Device memory is taken from a
/// back end, is there for work that its stream is given from then on, and goes back in the order of that stream.
template <class T, MemorySpace Space = Host>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  /// In the memory of back end `on`. Errors  ResourceError with the bytes asked for.
  template <class On>
    requires std::is_same_v<typename On::Space, Space>
  Array(const On& on, std::int64_t size) : Array(origin_of(on), size) {}
  template <class On>
    requires std::is_same_v<typename On::Space, Space>
  Array(const On& on, const std::vector<T>& from) : Array(on, std::int64_t(from.size())) {
    copy_bytes(on, Space{}, data_, Host{}, from.data(), bytes_of(size_));
  }
  /// In host memory.
  explicit Array(std::int64_t size)
    requires std::is_same_v<Space, Host>
      : Array(Origin<Host>{}, size) {}
  Array(std::int64_t size, T value)
    requires std::is_same_v<Space, Host>
      : Array(size) {
    std::fill(data_, data_ + size, value);
  }
  Array(const std::vector<T>& from)
    requires std::is_same_v<Space, Host>
      : Array(std::int64_t(from.size())) {
    std::copy(from.begin(), from.end(), data_);
  }
  Array(Array&& other) noexcept
      : origin_(std::move(other.origin_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        taken_(std::exchange(other.taken_, 0)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(origin_, other.origin_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(taken_, other.taken_);
    return *this;
  }
  ~Array() { release(origin_, data_, bytes_of(taken_)); }

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
  Array(Origin<Space> origin, std::int64_t size)
      : origin_(std::move(origin)),
        data_(static_cast<T*>(allocate(origin_, bytes_of(size)))),
        size_(size),
        taken_(size) {}

  static std::int64_t bytes_of(std::int64_t size) {
    if (size < 0 || size > std::numeric_limits<std::int64_t>::max() / std::int64_t(sizeof(T)))
      throw ResourceError("an array of " + std::to_string(size) + " elements cannot exist: its bytes overflow 64 bits");
    return size * std::int64_t(sizeof(T));
  }

  [[no_unique_address]] Origin<Space> origin_;
  T* data_ = nullptr;
  std::int64_t size_ = 0, taken_ = 0;
};

namespace array_detail {
inline void require_equal_sizes(std::int64_t from, std::int64_t to) {
  if (from != to) throw ShapeError("copy: sizes differ, " + std::to_string(from) + " into " + std::to_string(to));
}
}  // namespace array_detail

/// Copies all elements from one memory space to another; `on` is the back end of one side. Host memory may be read, or
/// changed, on return; the device side is in the order of its stream, so a copy to the host waits for it.
/// Errors  ShapeError where sizes differ.
template <class On, class T, class From, class To>
  requires(!std::is_same_v<From, To>)
void copy(const On& on, Span<const T, From> from, Span<T, To> to) {
  array_detail::require_equal_sizes(from.size(), to.size());
  copy_bytes(on, To{}, to.data(), From{}, from.data(), from.size() * std::int64_t(sizeof(T)));
}

/// A copy of `from` in memory space To; `on` is the back end of the device side, if there is one.
template <class To, class On, class T, class From, class Value = std::remove_const_t<T>>
Array<Value, To> copied_to(const On& on, Span<T, From> from) {
  Array<Value, To> to = [&] {
    if constexpr (std::is_same_v<To, Host>)
      return Array<Value>(from.size());
    else
      return Array<Value, To>(on, from.size());
  }();
  copy_bytes(on, To{}, to.data(), From{}, from.data(), from.size() * std::int64_t(sizeof(Value)));
  return to;
}
template <class To, class On, class T, class From>
Array<T, To> copied_to(const On& on, const Array<T, From>& from) {
  return copied_to<To>(on, from.span());
}
/// `owned` itself where it is in memory space To, else a copy there.
template <class To, class On, class T, class From>
Array<T, To> moved_to([[maybe_unused]] const On& on, Array<T, From> owned) {
  if constexpr (std::is_same_v<From, To>)
    return owned;
  else
    return copied_to<To>(on, owned);
}

}  // namespace seidel
