// A file that appears under its name only when it is complete.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace seidel::mm {

/// The file that is made or replaced where `path` is a link, which stays a link; else `path`.
std::string behind_links(std::string path);

/// Bytes go to a file without a name in the same folder, if the system supports it (then a killed process leaves
/// nothing), otherwise to a hidden ".NAME.PID.N.part"; finish() gives it the name. Without finish() it is deleted.
/// Standard output for "-", devices and pipes are written directly. Errors  ResourceError with the file, the bytes
/// written and the system's reason.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  void finish();

 private:
  [[noreturn]] void fail(const char* what) const;
  void take_temporary_name(const auto& take);

  std::string path_, temporary_;  // temporary_ is empty if the file has no name
  int descriptor_ = -1;
  bool nameless_ = false;
  std::int64_t written_ = 0;
};

}  // namespace seidel::mm
