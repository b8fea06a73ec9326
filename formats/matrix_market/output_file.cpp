// Writes to a file with a temporary name or none, and gives it its name at the end.
#include <seidel/formats/matrix_market/output_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/quantity.hpp>

namespace seidel::mm {

namespace {

/// The path under which the system shows an open file, with a name or without.
std::string link_to(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

}  // namespace

std::string behind_links(std::string path) {
  constexpr int most = 40;  // as the system follows
  std::error_code error;
  for (int link = 0; link < most && std::filesystem::is_symlink(path, error); ++link)
    path = (std::filesystem::path(path).parent_path() / std::filesystem::read_symlink(path, error)).string();
  return path;
}

OutputFile::OutputFile(const std::string& path) : path_(path == "-" ? "(standard output)" : path) {
  if (path == "-") {
    descriptor_ = ::dup(1);
    if (descriptor_ < 0) fail("opened");
    return;
  }
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    fail("opened");
  }
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("opened");
    return;
  }
  path_ = behind_links(path);
#ifdef O_TMPFILE
  const std::string folder = path_.substr(0, path_.rfind('/') + 1);
  descriptor_ = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  nameless_ = descriptor_ >= 0 && ::access(link_to(descriptor_).c_str(), F_OK) == 0;
  if (!nameless_ && descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
#endif
  if (!nameless_)
    take_temporary_name(
        [&](const char* name) { return descriptor_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
  if (exists) (void)!::fchmod(descriptor_, status.st_mode & 0777);  // the permissions of the file that it replaces
}

/// The first name for which take() is not negative: names left by killed processes are skipped.
void OutputFile::take_temporary_name(const auto& take) {
  const std::size_t slash = path_.rfind('/') + 1;  // 0 where there is none
  for (int attempt = 0;; ++attempt) {
    temporary_ = path_.substr(0, slash) + "." + path_.substr(slash, 200) + "." + std::to_string(::getpid()) + "." +
                 std::to_string(attempt) + ".part";
    if (take(temporary_.c_str()) >= 0) return;
    if (errno == EEXIST && attempt < 1000) continue;
    temporary_.clear();
    fail("created");
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), 1 << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("written");
    bytes.remove_prefix(std::size_t(done));
    written_ += done;
  }
}

void OutputFile::finish() {
  if (nameless_)
    take_temporary_name([&](const char* name) {
      return ::linkat(AT_FDCWD, link_to(descriptor_).c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
    });
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0) fail("written");
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("put in its place");
  temporary_.clear();
}

void OutputFile::fail(const char* what) const {
  const int error = errno;
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  throw ResourceError(
      path_ + ": could not be " + what + (written_ > 0 ? " after " + counted(written_, "byte") : "") + " (" +
      std::strerror(error) + ")\n  " + (temporary_.empty() && !nameless_ ? "" : "nothing is left of it; ") +
      (full ? "free some space, or write to another disk" : "check the path, its folder and your permissions"));
}

}  // namespace seidel::mm
