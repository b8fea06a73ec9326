// Files that appear under their name only when they are whole.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace seidel::drivers {

/// Writes `text` to `path` through a neighbour that is renamed at the end; "-" is standard output.
/// Errors  ResourceError with what the system says (no room, no permission). An older file then stands as it was.
void write_text(const std::string& path, std::string_view text);

/// Refuses, before any work is done, a path that could not be written at its end. `option` is named in the message.
/// Errors  UsageError.
void require_writable(const std::string& option, const std::string& path);

struct NamedFile {
  const char* option;
  std::string path;  // empty where it was not given
};
/// Refuses two results in one file, and a result in the place of what is read. Errors  UsageError.
void require_apart(const std::vector<NamedFile>& results, const std::vector<NamedFile>& inputs = {});

}  // namespace seidel::drivers
