// Files that are written whole or not at all.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/format.hpp>
#include <seidel/formats/errors.hpp>
#include <seidel/formats/matrix_market/output_file.hpp>

namespace seidel::drivers {

namespace {

/// A device, a pipe: written in place.
bool is_special(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

void write_text(const std::string& path, std::string_view text) {
  mm::OutputFile file(path);
  file.write(text);
  file.finish();
}

void require_writable(const std::string& option, const std::string& path) {
  if (path.empty() || path == "-") return;
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    throw UsageError(formatted("{}: '{}' is a folder, expected the name of a file", option, path));
  const std::string folder = folder_of(path);
  if (stat(folder.c_str(), &status) != 0)
    throw UsageError(formatted("{}: the folder '{}' does not exist, expected one that does\n  make it: mkdir -p {}",
                               option, folder, folder));
  if (access(is_special(path) ? path.c_str() : folder.c_str(), W_OK) != 0)
    throw UsageError(formatted("{}: '{}' may not be written: {}", option, path, std::strerror(errno)));
}

}  // namespace seidel::drivers
