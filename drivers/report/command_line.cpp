// Words of a shell.
#include <seidel/drivers/report/command_line.hpp>

#include <algorithm>
#include <vector>

namespace seidel::drivers {

namespace {

/// Words of a command line, with their quotes.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words(1);
  bool inside = false;  // '...'
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ' && !inside) {
      words.emplace_back();
      continue;
    }
    if (line[i] == '\'') inside = !inside;
    words.back() += line[i];
    if (line[i] == '\\' && !inside && i + 1 < line.size()) words.back() += line[++i];
  }
  std::erase(words, "");
  return words;
}

/// An option and its value: {"--tol=1"}, {"--tol", "1"}; any other word stands alone, or as the value of a flag before
/// it, which is never changed.
using Option = std::vector<std::string>;

std::vector<Option> options_of(const std::string& line) {
  std::vector<Option> options;
  for (auto& word : words_of(line)) {
    const bool value = !word.starts_with("--") && !options.empty() && options.back().size() == 1 &&
                       options.back()[0].starts_with("--") && options.back()[0].find('=') == std::string::npos;
    if (!value) options.emplace_back();
    options.back().push_back(std::move(word));
  }
  return options;
}

/// What an option sets: "--tol", "--set restart". Empty for a word that is no option.
std::string target(const Option& option) {
  if (!option[0].starts_with("--")) return "";
  const std::string text = option.size() > 1 ? option[0] + " " + option[1] : option[0];
  const auto value = text.find_first_of(" =");
  if (text.substr(0, value) != "--set" || value == std::string::npos) return text.substr(0, value);
  return "--set " + text.substr(value + 1, text.find('=', value + 1) - value - 1);
}

}  // namespace

std::string quoted(const std::string& word) {
  const bool plain =
      word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%") == word.npos;
  if (plain && !word.empty()) return word;
  std::string text = "'";
  for (char c : word) c == '\'' ? text += "'\\''" : text += c;
  return text + "'";
}

std::string same_program(const std::string& command_line, const std::string& words) {
  const auto line = words_of(command_line);
  return (line.empty() ? "seidel" : line.front()) + " " + words;
}

std::string command_with(const std::string& command_line, const std::string& change) {
  const auto changes = options_of(change);
  std::string command;
  for (const Option& option : options_of(command_line)) {
    const std::string what = target(option);
    const auto changed = [&](const Option& change) {
      const std::string with = target(change);
      // A form is one of cg with symgs, and refused elsewhere.
      return with == what || (what == "--set form" && (with == "--method" || with == "--precond"));
    };
    if (!what.empty() && std::any_of(changes.begin(), changes.end(), changed)) continue;
    for (const auto& word : option) command += (command.empty() ? "" : " ") + word;
  }
  return change.empty() ? command : command + " " + change;
}

}  // namespace seidel::drivers
