// What the first process of a team tells the others.
#pragma once
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/criteria.hpp>

namespace seidel::drivers {

/// A message, put together and taken apart in the same order.
class Message {
 public:
  Message() = default;
  explicit Message(std::string bytes) : bytes_(std::move(bytes)) {}
  const std::string& bytes() const { return bytes_; }

  template <class T>
  requires std::is_trivially_copyable_v<T> Message& put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Message& put(std::string_view text) {
    put(text.size());
    bytes_.append(text);
    return *this;
  }
  template <class T>
  T get() {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto size = get<std::size_t>();
      at_ += size;
      return bytes_.substr(at_ - size, size);
    } else {
      T value;
      std::memcpy(&value, bytes_.data() + at_, sizeof value);
      at_ += sizeof value;
      return value;
    }
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

/// All of it but on_step and its sentence.
void put(Message& message, const MethodChoice& choice);
MethodChoice choice_in(Message& message);
/// Tolerances and the limit of iterations. Limits of time and requests to stop are for the first process to look at
/// (SharedRows::wants_stop).
void put(Message& message, const Criteria& criteria);
Criteria criteria_in(Message& message);

}  // namespace seidel::drivers
