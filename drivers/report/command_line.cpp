// Words of a shell.
#include <seidel/drivers/report/command_line.hpp>

#include <algorithm>
#include <vector>

#include <seidel/drivers/direct.hpp>
#include <seidel/drivers/option_values.hpp>
#include <seidel/solvers/choose_method.hpp>

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

auto entry_named(const std::string& name, const auto& table) {
  const auto found =
      std::find_if(std::begin(table), std::end(table), [&](const auto& entry) { return entry.get().name == name; });
  return found == std::end(table) ? nullptr : &found->get();
}

/// Whether the program refuses what sets `what` beside a method or a preconditioner that is changed to.
bool is_refused_beside(const std::string& what, const Option& change) {
  if (target(change) == "--least-squares")
    for (const char* refused : {"--method", "--precond", "--order", "--permute", "--scale", "--null-space"})
      if (what == refused) return true;
  if (change.size() < 2) return false;
  const std::string with = target(change), key = what.starts_with("--set ") ? what.substr(6) : "";
  if (with == "--method" && change[1] == direct_method.name)
    return what == "--precond" || what == "--order" || what == "--x0" || what == "--max-iterations" ||
           what == "--backend" || (!key.empty() && key != "atol");
  if (key == form_setting.key) return with == "--method" || with == "--precond";  // of cg with symgs alone
  if (with == "--method" && is_detail_of_methods(key)) {
    const Method* const method = entry_named(change[1], program_methods);
    return method && !has_detail(method->settings, key);
  }
  if (with != "--precond") return false;
  const PreconditionerKind* const kind = entry_named(change[1], preconditioners);
  if (kind && what == "--order") return kind->orders.size() < 2;
  return kind && is_detail_of_preconditioners(key) && !has_detail(kind->settings, key);
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
      return target(change) == what || is_refused_beside(what, change);
    };
    if (!what.empty() && std::any_of(changes.begin(), changes.end(), changed)) continue;
    for (const auto& word : option) command += (command.empty() ? "" : " ") + word;
  }
  return change.empty() ? command : command + " " + change;
}

}  // namespace seidel::drivers
