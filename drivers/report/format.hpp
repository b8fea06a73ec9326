// format("{} of {}", a, b): fmt's checked formatting, compiled once (format.cpp), so that a report costs little to build.
#pragma once
#include <fmt/core.h>

#include <string>

namespace seidel::drivers {

std::string vformat(fmt::string_view pattern, fmt::format_args arguments);

template <class... T>
std::string format(fmt::format_string<T...> pattern, T&&... arguments) {
  return vformat(pattern, fmt::make_format_args(arguments...));
}

}  // namespace seidel::drivers
