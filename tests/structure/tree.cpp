// The shape of the source tree: arrows between folders, READMEs, lengths, macros.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "../files.hpp"

namespace fs = std::filesystem;

namespace {

// An include never points to the right.
const std::vector<std::string> layers = {"formats/runtime", "formats", "kernels", "solvers", "drivers"};

/// "formats" of formats/csr.hpp.
std::string top_of(const std::string& path) { return path.substr(0, path.find('/')); }

/// The first layer whose folder holds `path`; their number if none does.
int layer_of(const std::string& path) {
  const auto holds = [&](const std::string& layer) { return path == layer || path.starts_with(layer + "/"); };
  return int(std::find_if(layers.begin(), layers.end(), holds) - layers.begin());
}

bool is_source(const fs::path& file) {
  static const std::vector<std::string> endings = {".hpp", ".cpp", ".cu", ".cuh", ".h", ".in"};
  return std::find(endings.begin(), endings.end(), file.extension()) != endings.end();
}

/// "include" and what stands behind it, of "# include ..."; nothing of other lines.
std::pair<std::string, std::string> directive(const std::string& line) {
  std::istringstream words(line);
  char hash = 0;
  std::string name, rest;
  if (words >> hash && hash == '#') words >> name >> std::ws, std::getline(words, rest);
  return {name, rest};
}

/// What is wrong with one line of the file at `relative`, or nothing.
std::string fault_of_line(const fs::path& relative, const std::string& line) {
  const bool in_tests = top_of(relative) == "tests";
  const auto [name, rest] = directive(line);
  if (name == "include" && (rest[0] == '<' || rest[0] == '"')) {
    const std::string path = rest.substr(1, rest.find_first_of(">\"", 1) - 1);
    if (top_of(path) == "seidel") {
      const int to = layer_of(path.substr(7)), from = layer_of(relative);
      if (to < int(layers.size()) && to > from)
        return "includes <" + path + ">, which lies above it: an include never points upwards";
      if (rest[0] == '"') return "includes \"" + path + "\": write <" + path + ">";
    } else if (!in_tests && (rest[0] == '"' || layer_of(path) < int(layers.size()) || top_of(path) == "tests")) {
      return "includes " + path + ": headers of the project are included as <seidel/...>";
    }
  } else if (name == "define") {
    const std::string macro = rest.substr(0, rest.find_first_of(" \t("));
    if (macro != "SEIDEL_HD" && !macro.starts_with("DOCTEST_CONFIG_"))
      return "defines " + macro + ": SEIDEL_HD is the only macro; constexpr or a function will do";
  }
  return "";
}

bool is_ours(const fs::path& relative) {
  const std::string top = top_of(relative);
  return top == "tests" || top == "docs" || top == "data" || layer_of(relative) < int(layers.size());
}

/// Every fault of the tree below `root`, one per line: "path:line: what".
std::vector<std::string> faults(const fs::path& root) {
  std::vector<std::string> found;
  std::map<fs::path, bool> has_readme;  // folders with files of ours
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path relative = entry.path().lexically_relative(root);
    if (!is_ours(relative) || !entry.is_regular_file()) continue;
    const bool mirrored =
        top_of(relative) == "tests" && relative.parent_path() != "tests";  // tests/README.md speaks for all
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
    if (number > 400 && top_of(relative) != "tests")
      found.push_back(relative.string() + ": " + std::to_string(number) + " lines: a file above 400 is two things");
  }
  for (const auto& [folder, has] : has_readme)
    if (!has)
      found.push_back(folder.string() + ": no README.md: what lives here, what it may include, where a new one goes");
  std::sort(found.begin(), found.end());
  return found;
}

/// A tree without faults.
struct Scratch {
  seidel::tests::Folder folder;
  Scratch() {
    for (const auto& layer : layers) write(layer + "/README.md", "# " + layer);
  }
  void write(const std::string& path, const std::string& text) const {
    seidel::tests::write_file(folder / path, text + '\n');
  }
};

}  // namespace

TEST_CASE("the tree keeps its shape: includes point one way, folders have READMEs, files are short, no macros") {
  for (const std::string& fault : faults(SEIDEL_SOURCE_DIR)) FAIL_CHECK(fault);
}

TEST_CASE("the README shows docs/examples/embed.cpp as it is") {
  const auto text = [](const std::string& path) { return seidel::tests::read_file(SEIDEL_SOURCE_DIR "/" + path); };
  const std::string example = text("docs/examples/embed.cpp");
  REQUIRE(!example.empty());
  CHECK(text("README.md").find("```cpp\n" + example + "```") != std::string::npos);
}

TEST_CASE("each fault of a tree's shape is found and named") {
  const auto only = [](const std::string& path, const std::string& text) {
    Scratch tree;
    REQUIRE(faults(tree.folder.path()).empty());
    tree.write(path, text);
    const auto found = faults(tree.folder.path());
    return found.size() == 1 ? found[0] : std::to_string(found.size()) + " faults";
  };
  const auto starts = [](const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; };
  CHECK(starts(only("formats/a.hpp", "#pragma once\n#include <seidel/kernels/sum.hpp>"),
               "formats/a.hpp:2: includes <seidel/kernels/"));
  CHECK(starts(only("formats/runtime/a.hpp", "#include <seidel/formats/csr.hpp>"),
               "formats/runtime/a.hpp:1: includes <seidel/formats/"));
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
