// Files that tests make and read.
#pragma once
#include <string>
#include <vector>

namespace seidel::tests {

/// A folder that is gone at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  std::vector<std::string> names() const;

 private:
  std::string path_;
};

/// Makes the folders above it too.
void write_file(const std::string& path, const std::string& text);
std::string read_file(const std::string& path);
inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace seidel::tests
