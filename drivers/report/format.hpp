// formatted("{} of {}", a, b): fmt's checked formatting, compiled once (format.cpp), so that a report costs little to
// build.
#pragma once
#include <fmt/core.h>

#include <string>

namespace seidel::drivers {

std::string formatted_with(fmt::string_view pattern, fmt::format_args arguments);

/// Not named format: std::format would be found, too, for arguments of namespace std.
template <class... T>
std::string formatted(fmt::format_string<T...> pattern, T&&... arguments) {
  return formatted_with(pattern, fmt::make_format_args(arguments...));
}

}  // namespace seidel::drivers
