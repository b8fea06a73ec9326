// The shape of the source tree: arrows between folders, READMEs, lengths, macros.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> layers = {"formats", "kernels", "solvers",
                                         "drivers"};  // an include never points to the right

int layer_of(const fs::path& relative) {
  return int(std::find(layers.begin(), layers.end(), relative.begin()->string()) - layers.begin());
}

bool is_source(const fs::path& file) {
  static const std::vector<std::string> endings = {".hpp", ".cpp", ".cu", ".cuh", ".h", ".in"};
  return std::find(endings.begin(), endings.end(), file.extension()) != endings.end();
}

/// What is wrong with one line of the file at `relative`, or nothing.
std::string fault_of_line(const fs::path& relative, const std::string& line) {
  static const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)"), define(R"(^\s*#\s*define\s+(\w+).*)");
  static const std::vector<std::string> own = {"formats/", "kernels/", "solvers/", "drivers/", "tests/", "seidel/"};
  const bool in_tests = *relative.begin() == "tests";
  std::smatch match;
  if (line.find('#') == std::string::npos) return "";
  if (std::regex_match(line, match, include)) {
    const std::string path = match[2];
    const auto starts = [&](const std::string& folder) { return path.rfind(folder, 0) == 0; };
    if (path.rfind("seidel/", 0) == 0) {
      const int to = layer_of(path.substr(7)), from = layer_of(relative);
      if (to < int(layers.size()) && to > from)
        return "includes <" + path + ">, which lies above it: an include never points upwards";
      if (match[1] == "\"") return "includes \"" + path + "\": write <" + path + ">";
    } else if (!in_tests && (match[1] == "\"" || std::any_of(own.begin(), own.end(), starts))) {
      return "includes " + path + ": headers of the project are included as <seidel/...>";
    }
  } else if (std::regex_match(line, match, define)) {
    const std::string name = match[1];
    if (name != "SEIDEL_HD" && name.rfind("DOCTEST_CONFIG_", 0) != 0)
      return "defines " + name + ": SEIDEL_HD is the only macro; constexpr or a function will do";
  }
  return "";
}

bool is_ours(const fs::path& relative) {
  const std::string top = relative.begin()->string();
  return top == "tests" || top == "docs" || top == "data" || layer_of(relative) < int(layers.size());
}

/// Every fault of the tree below `root`, one a line: "path:line: what".
std::vector<std::string> faults(const fs::path& root) {
  std::vector<std::string> found;
  std::map<fs::path, bool> has_readme;  // folders with files of ours
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path relative = entry.path().lexically_relative(root);
    if (!is_ours(relative) || !entry.is_regular_file()) continue;
    const bool mirrored =
        *relative.begin() == "tests" && relative.parent_path() != "tests";  // tests/README.md speaks for all
    if (!mirrored) has_readme[relative.parent_path()] |= relative.filename() == "README.md";
    if (!is_source(relative)) continue;
    std::ifstream file(entry.path());
    std::string line;
    int number = 0;
    while (std::getline(file, line)) {
      ++number;
      if (const std::string fault = fault_of_line(relative, line); !fault.empty())
        found.push_back(relative.string() + ":" + std::to_string(number) + ": " + fault);
    }
    if (number > 400 && *relative.begin() != "tests")
      found.push_back(relative.string() + ": " + std::to_string(number) + " lines: a file above 400 is two things");
  }
  for (const auto& [folder, has] : has_readme)
    if (!has)
      found.push_back(folder.string() + ": no README.md: what lives here, what it may include, where a new one goes");
  std::sort(found.begin(), found.end());
  return found;
}

/// A folder that is gone when the test ends.
struct Scratch {
  fs::path root;
  Scratch() {
    std::string name = (fs::temp_directory_path() / "seidel-tree-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    root = name;
    for (const auto& layer : layers) write(layer + "/README.md", "# " + layer);
  }
  ~Scratch() { fs::remove_all(root); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << '\n';
  }
};

}  // namespace

TEST_CASE("the tree keeps its shape: includes point one way, folders have READMEs, files are short, no macros") {
  for (const std::string& fault : faults(SEIDEL_SOURCE_DIR)) FAIL_CHECK(fault);
}

TEST_CASE("the README shows docs/examples/embed.cpp as it is") {
  const auto text = [](const char* path) {
    std::ifstream file(fs::path(SEIDEL_SOURCE_DIR) / path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string example = text("docs/examples/embed.cpp");
  REQUIRE(!example.empty());
  CHECK(text("README.md").find("```cpp\n" + example + "```") != std::string::npos);
}

TEST_CASE("each fault of a tree's shape is found and named") {
  const auto only = [](const std::string& path, const std::string& text) {
    Scratch tree;
    REQUIRE(faults(tree.root).empty());
    tree.write(path, text);
    const auto found = faults(tree.root);
    return found.size() == 1 ? found[0] : std::to_string(found.size()) + " faults";
  };
  const auto starts = [](const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; };
  CHECK(starts(only("formats/a.hpp", "#pragma once\n#include <seidel/kernels/sum.hpp>"),
               "formats/a.hpp:2: includes <seidel/kernels/"));
  CHECK(starts(only("kernels/a.cu", "  # include <seidel/solvers/cg.hpp>  // why not"), "kernels/a.cu:1: includes"));
  CHECK(starts(only("solvers/a.cpp", "#include <seidel/drivers/report.hpp>"), "solvers/a.cpp:1: includes"));
  CHECK(starts(only("solvers/a.cpp", "#include \"cg.hpp\""), "solvers/a.cpp:1: includes cg.hpp"));
  CHECK(starts(only("solvers/a.cpp", "#include <kernels/sum.hpp>"), "solvers/a.cpp:1: includes kernels/sum.hpp"));
  CHECK(starts(only("solvers/a.cpp", "#include \"seidel/kernels/sum.hpp\""), "solvers/a.cpp:1: includes \"seidel"));
  CHECK(starts(only("kernels/a.hpp", "#define MAX(a, b) a"), "kernels/a.hpp:1: defines MAX"));
  CHECK(starts(only("docs/examples/a.cpp", "int main() {}"), "docs/examples: no README.md"));
  CHECK(starts(only("kernels/spmm/a.hpp", ""), "kernels/spmm: no README.md"));
  CHECK(starts(only("drivers/long.cpp", std::string(400, '\n')), "drivers/long.cpp: 401 lines"));
  for (const char* fine : {"#include <seidel/formats/csr.hpp>", "#include <seidel/config.hpp>", "#include <omp.h>",
                           "#define SEIDEL_HD", "// #define X", "// #include \"x\""})
    CHECK(only("kernels/a.hpp", fine) == "0 faults");
  CHECK(only("tests/kernels/a.cpp", "#include \"../backends.hpp\"") == "0 faults");
}
