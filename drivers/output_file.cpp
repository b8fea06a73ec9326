// Files that appear under their name only when they are whole.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/format.hpp>
#include <seidel/formats/errors.hpp>

namespace seidel::drivers {

namespace {

/// All bytes, or the system's reason.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(std::size_t(written));
  }
  return 0;
}

[[noreturn]] void fail(const std::string& path, int reason) {
  throw ResourceError(
      formatted("cannot write {}: {}\n  make room there, or name another file", path, std::strerror(reason)));
}

/// A device, a pipe: written in place, for there is nothing to replace.
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
  if (path == "-") {
    if (const int reason = write_all(STDOUT_FILENO, text)) fail("standard output", reason);
    return;
  }
  const bool special = is_special(path);
  const std::string partial = special ? path : formatted("{}.{}.part", path, getpid());
  const int file = open(partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (special ? 0 : O_TRUNC), 0666);
  if (file < 0) fail(path, errno);
  int reason = write_all(file, text);
  if (close(file) != 0 && !reason) reason = errno;
  if (!reason && !special && rename(partial.c_str(), path.c_str()) != 0) reason = errno;
  if (reason) {
    if (!special) unlink(partial.c_str());
    fail(path, reason);
  }
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
