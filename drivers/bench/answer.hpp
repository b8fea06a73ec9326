// What a run of a kernel left: arrays of numbers, each in its own type.
#pragma once
#include <memory>
#include <variant>
#include <vector>

#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel::drivers {

/// Arrays in the order that the task of the kernel says: one of a product, three of a transpose. They are seen where
/// they lie until the next run; what lies in the memory of a device is copied to the host once.
class Answer {
 public:
  /// `on` is the back end whose memory they lie in.
  template <Backend B, class T>
  void add(const B& on, Span<const T, typename B::Space> numbers) {
    if constexpr (HostBackend<B>)
      arrays_.push_back(numbers);
    else
      own(copied_to<Host>(on, numbers));
  }
  template <class T>
  void own(Array<T> numbers) {
    const auto kept = std::make_shared<const Array<T>>(std::move(numbers));
    arrays_.push_back(kept->span());
    owned_.push_back(kept);
  }
  /// Array i; an empty one if the answer has no such array of this type.
  template <class T>
  HostSpan<const T> array(std::size_t i) const {
    const auto* numbers = i < arrays_.size() ? std::get_if<HostSpan<const T>>(&arrays_[i]) : nullptr;
    return numbers ? *numbers : HostSpan<const T>{};
  }
  bool empty() const { return arrays_.empty(); }
  /// The same numbers in memory of its own, which later runs do not change.
  Answer copied() const;
  friend bool same_bits(const Answer& a, const Answer& b);

 private:
  using Numbers = std::variant<HostSpan<const double>, HostSpan<const float>, HostSpan<const std::int32_t>,
                               HostSpan<const std::int64_t>>;
  std::vector<Numbers> arrays_;
  std::vector<std::shared_ptr<const void>> owned_;
};

/// Whether both have the same arrays, to the bit.
bool same_bits(const Answer& a, const Answer& b);

}  // namespace seidel::drivers
