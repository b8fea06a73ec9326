// Files that appear under their name only when they are whole.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

/// A text that could not be written to `path`.
struct Unwritten : ResourceError {
  Unwritten(const std::string& path_, const char* message) : ResourceError(message), path(path_) {}
  std::string path;
};

/// Writes `text` to `path` through a neighbour that is renamed at the end, as gzip if that ends in .gz; "-" is standard output.
/// Errors  Unwritten with what the system says (no room, no permission). An older file then stands as it was.
void write_text(const std::string& path, std::string_view text);

/// Whether it is a device or a pipe, which is written in place.
bool is_special(const std::string& path);

/// A file of the command line, "-" for standard input or output.
struct NamedFile {
  std::string option, path;
  bool exchangeable = false;  // a result and an input that both are may be one file
};
/// Refuses, before any work is done, a result that could not be written at its end, two results in one file, a result in
/// the place of what is read, and two files that are one standard stream. Errors  UsageError.
void require_files(const std::vector<NamedFile>& results, const std::vector<NamedFile>& inputs);

}  // namespace seidel::drivers
