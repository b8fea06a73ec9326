// Files that appear under their name only when they are whole.
#pragma once
#include <string>
#include <string_view>

namespace seidel::drivers {

/// Writes `text` to `path` through a neighbour that is renamed at the end; "-" is standard output.
/// Errors  ResourceError with what the system says (no room, no permission). An older file then stands as it was.
void write_text(const std::string& path, std::string_view text);

/// Refuses, before any work is done, a path that could not be written at its end. `option` is named in the message.
/// Errors  UsageError.
void require_writable(const std::string& option, const std::string& path);

}  // namespace seidel::drivers
