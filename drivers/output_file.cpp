// Files that are written whole or not at all.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>

#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/format.hpp>
#include <seidel/formats/matrix_market/gzip.hpp>
#include <seidel/formats/matrix_market/output_file.hpp>

namespace seidel::drivers {

bool is_special(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

namespace {

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Whether both name one file, or would: not devices, which take everything.
bool same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty() || a == "-" || b == "-" || is_special(a) || is_special(b)) return false;
  std::error_code unknown;
  if (std::filesystem::equivalent(a, b, unknown)) return true;
  const auto real =
      [&](const std::string& path) {  // absolute first: a relative path that does not exist would stay as it is
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path), unknown);
      };
  return real(a) == real(b) && !unknown;
}

void require_writable(const std::string& option, const std::string& path) {
  if (path == "-") return;
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    throw UsageError(formatted("{}: '{}' is a folder, expected the name of a file", option, path));
  const std::string folder = folder_of(mm::behind_links(path));
  if (stat(folder.c_str(), &status) != 0)
    throw UsageError(formatted("{}: the folder '{}' does not exist, expected one that does\n  make it: mkdir -p {}",
                               option, folder, folder));
  const bool exists = stat(path.c_str(), &status) == 0;  // to be replaced, unless it is protected
  if ((exists && access(path.c_str(), W_OK) != 0) || (!is_special(path) && access(folder.c_str(), W_OK) != 0))
    throw UsageError(formatted("{}: '{}' may not be written: {}", option, path, std::strerror(errno)));
}

void require_apart(const NamedFile& one, const NamedFile& other) {
  if (same_file(one.path, other.path))
    throw UsageError(formatted("{} and {} are one file, '{}': one would overwrite the other\n  name another file",
                               one.option, other.option, other.path));
}

/// At most one of them is a standard stream.
void require_one_stream(const std::vector<NamedFile>& files, const char* stream) {
  const NamedFile* taken = nullptr;
  for (const NamedFile& file : files) {
    if (file.path != "-") continue;
    if (taken)
      throw UsageError(formatted("{} - and {} -: both want standard {}\n  name a file for one of them", taken->option,
                                 file.option, stream));
    taken = &file;
  }
}

}  // namespace

void write_text(const std::string& path, std::string_view text) try {
  const bool compress = mm::names_gzip(path);
  const std::string packed = compress ? mm::gzip(text) : "";
  if (compress && packed.empty()) throw ResourceError("out of memory: zlib could not compress it");
  mm::OutputFile file(path);
  file.write(compress ? packed : text);
  file.finish();
} catch (const ResourceError& error) {
  throw Unwritten(path, error.what());
}

void require_files(const std::vector<NamedFile>& results, const std::vector<NamedFile>& inputs) {
  require_one_stream(inputs, "input");
  require_one_stream(results, "output");
  for (const NamedFile& result : results) {
    require_writable(result.option, result.path);
    for (const NamedFile& other : std::span(results.data(), &result)) require_apart(other, result);
    for (const NamedFile& input : inputs)
      if (!input.exchangeable || !result.exchangeable) require_apart(input, result);
  }
}

}  // namespace seidel::drivers
