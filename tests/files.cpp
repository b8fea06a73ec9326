// Files that tests make and read.
#include "files.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace seidel::tests {

Folder::Folder() {
  path_ = (std::filesystem::temp_directory_path() / "seidel-test-XXXXXX").string();
  REQUIRE(mkdtemp(path_.data()));
}
Folder::~Folder() { std::filesystem::remove_all(path_); }
std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  return names;
}

void write_file(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}
std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace seidel::tests
