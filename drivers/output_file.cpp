// Files that are written whole or not at all.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/format.hpp>
#include <seidel/formats/matrix_market/output_file.hpp>
#include <seidel/formats/runtime/errors.hpp>

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

/// Whether both name one file, or would: not devices, which take everything.
bool same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty() || a == "-" || b == "-" || is_special(a) || is_special(b)) return false;
  std::error_code unknown;
  if (std::filesystem::equivalent(a, b, unknown)) return true;
  const auto real = [&](const std::string& path) {  // of a relative path that does not exist nothing would be resolved
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path), unknown);
  };
  return real(a) == real(b) && !unknown;
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
  const bool exists = stat(path.c_str(), &status) == 0;  // to be replaced, unless it is protected
  if ((exists && access(path.c_str(), W_OK) != 0) || (!is_special(path) && access(folder.c_str(), W_OK) != 0))
    throw UsageError(formatted("{}: '{}' may not be written: {}", option, path, std::strerror(errno)));
}

void require_apart(const std::vector<NamedFile>& results, const std::vector<NamedFile>& inputs) {
  const auto refuse = [](const NamedFile& result, const NamedFile& other) {
    throw UsageError(formatted("{} and {} are one file, '{}': one would overwrite the other\n  name another file",
                               other.option, result.option, result.path));
  };
  for (auto result = results.begin(); result != results.end(); ++result) {
    for (auto other = results.begin(); other != result; ++other)
      if (same_file(result->path, other->path)) refuse(*result, *other);
    for (const auto& input : inputs)
      if (same_file(result->path, input.path)) refuse(*result, input);
  }
}

}  // namespace seidel::drivers
