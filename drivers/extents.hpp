// Sizes as they are typed: 2x3, 1024x1024x64.
#pragma once
#include <charconv>
#include <cstdint>
#include <span>
#include <string_view>

namespace seidel::drivers {

/// As many whole numbers with an x between them as there is room for. Whether the text is that.
inline bool read_extents(std::string_view text, std::span<std::int64_t> extents) {
  const char *at = text.data(), *const end = at + text.size();
  for (std::int64_t& extent : extents) {
    const auto [rest, error] = std::from_chars(at, end, extent);
    const bool is_last = &extent == &extents.back();
    if (error != std::errc() || (is_last ? rest != end : rest == end || *rest != 'x')) return false;
    at = is_last ? rest : rest + 1;
  }
  return true;
}

}  // namespace seidel::drivers
