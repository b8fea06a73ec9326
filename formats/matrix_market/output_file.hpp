// A file that appears under its name when it is whole, or not at all.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace seidel::mm {

/// Bytes go to a temporary file in the same folder, which finish() renames; without finish() it is removed. Standard
/// output for
/// "-", devices and pipes are written directly. Errors  ResourceError with the file, the bytes written and the system's
/// reason.
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

  std::string path_, temporary_;  // temporary_ is empty where bytes go directly
  int descriptor_ = -1;
  std::int64_t written_ = 0;
};

}  // namespace seidel::mm
