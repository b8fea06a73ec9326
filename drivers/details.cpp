// The names of --precond; the details of --set: what there is, what was given, what of it would be ignored.
#include <cmath>
#include <map>

#include <seidel/drivers/direct.hpp>
#include <seidel/drivers/option_values.hpp>

namespace seidel::drivers {

namespace {

constexpr const char *geometric_multigrid = "gmg", *coarsening_key = "amg.coarsening=";

/// A detail of all methods, and so of the program.
constexpr Setting atol_setting{.key = "atol",
                               .help = "atol=T     also solved when ||b - Ax|| <= T, whatever ||b|| is (0: never)"};

/// The keys of --set: those of methods and preconditioners, each once, then our own.
std::vector<Setting> all_settings() {
  std::vector<Setting> all;
  const auto add = [&](const auto& entry) {
    for (const Setting& setting : entry.settings)
      if (!has_detail(all, std::string(setting.key))) all.push_back(setting);
  };
  for (const Method& method : program_methods) add(method);
  for (const PreconditionerKind& kind : preconditioners) add(kind);
  all.push_back(atol_setting);
  return all;
}

double value_of(const Setting& setting, const std::string& option, const std::string& text) {
  if (setting.key == atol_setting.key)
    return number(option, text,
                  Range<double>{"a number from 0 up", [](double v) { return v >= 0 && std::isfinite(v); }});
  if (!setting.words.empty()) {
    require_one_of(option, lower_case(text), {setting.words.begin(), setting.words.end()});
    return double(std::find(setting.words.begin(), setting.words.end(), lower_case(text)) - setting.words.begin());
  }
  if (setting.whole) return number(option, text, whole(int(setting.min), int(setting.max)));
  return number(option, text,
                Range<double>{formatted("a number above {} and below {}", setting.min, setting.max),
                              [&](double v) { return v > setting.min && v < setting.max; }});
}

void apply_setting(SolveOptions& solve, const std::string& pair) {
  const auto equals = pair.find('=');
  if (equals == std::string::npos)
    throw UsageError(formatted("--set: found '{}', expected KEY=VALUE with a KEY of{}", pair, meanings_of_details()));
  if (const auto comma = pair.find(','); comma != std::string::npos && pair.find('=', comma) != std::string::npos)
    throw UsageError(formatted("--set: found '{}', expected one KEY=VALUE; give --set once for each: --set {} --set {}",
                               pair, pair.substr(0, comma), pair.substr(comma + 1)));
  const std::string key = pair.substr(0, equals);
  for (const Setting& setting : all_settings())
    if (setting.key == key) {
      const double value = value_of(setting, "--set " + key, pair.substr(equals + 1));
      if (key == atol_setting.key) return void(solve.absolute_tolerance = value);
      return solve.request.settings.set(setting, value);
    }
  throw UsageError(formatted("--set: unknown key '{}'{}, expected one of{}", key, did_you_mean(key, names_of_details()),
                             meanings_of_details()));
}

bool any_has(const auto& table, const std::string& key) {
  return std::any_of(std::begin(table), std::end(table),
                     [&](const auto& entry) { return has_detail(entry.get().settings, key); });
}

/// Refuses a detail of methods, or of preconditioners, that the one which was asked for by name does not have.
void refuse_ignored_settings(const MethodRequest& request, const std::string& preconditioner,
                             const std::vector<std::string>& pairs) {
  for (const auto& pair : pairs) {
    const std::string key = pair.substr(0, pair.find('='));
    const bool of_methods = is_detail_of_methods(key), of_preconditioners = is_detail_of_preconditioners(key);
    if (!of_methods && !of_preconditioners) continue;
    if (of_methods && (!request.method || has_detail(request.method->settings, key))) continue;
    if (of_preconditioners && request.method != direct_method &&
        (!request.preconditioner || has_detail(request.preconditioner->settings, key)))
      continue;
    throw UsageError(formatted("--set {}: {} has no such detail; leave it out", pair,
                               of_methods                        ? request.method->name
                               : request.method == direct_method ? direct_method.name
                                                                 : preconditioner));
  }
}

}  // namespace

bool has_detail(std::span<const Setting> settings, const std::string& key) {
  return std::any_of(settings.begin(), settings.end(), [&](const Setting& setting) { return setting.key == key; });
}
bool is_detail_of_methods(const std::string& key) { return any_has(program_methods, key); }
bool is_detail_of_preconditioners(const std::string& key) { return any_has(preconditioners, key); }

std::vector<std::string> names_of_details() {
  std::vector<std::string> names;
  for (const Setting& setting : all_settings()) names.emplace_back(setting.key);
  return names;
}

std::string meanings_of_details() {
  std::string meanings;
  for (const Setting& setting : all_settings()) {
    const auto end = setting.help.find(' ');
    meanings += formatted("\n  {:<16}  {}", setting.help.substr(0, end),
                          setting.help.substr(setting.help.find_first_not_of(' ', end)));
  }
  return meanings;
}

std::string names_of_preconditioners() { return names_of(preconditioners) + ", " + geometric_multigrid; }
std::string meanings_of_preconditioners() {
  return meanings_of(preconditioners) +
         formatted("\n  {:<10} {}", geometric_multigrid, "amg on the lattice that the rows must show");
}
bool is_geometric(const std::string& preconditioner) { return lower_case(preconditioner) == geometric_multigrid; }

void request_preconditioner(SolveOptions& options, const std::string& name, std::vector<std::string> pairs) {
  if (is_geometric(name)) {
    for (const auto& pair : pairs)
      if (pair.starts_with(coarsening_key))
        throw UsageError(formatted("--set {}: {} coarsens the lattice; leave it out, or take --precond {}", pair,
                                   geometric_multigrid, PreconditionerKind::amg.name));
    pairs.push_back(coarsening_key + std::string("lattice"));
    options.request.preconditioner = PreconditionerKind::amg;
  } else {
    options.request.preconditioner = entry_of("--precond", name, preconditioners, {geometric_multigrid});
  }
  std::map<std::string, std::string> given;
  for (const auto& pair : pairs) {
    apply_setting(options, pair);
    const auto [other, is_new] = given.emplace(pair.substr(0, pair.find('=')), pair);
    if (!is_new) throw UsageError(formatted("--set {}: given once before, as {}; give it once", pair, other->second));
  }
  refuse_ignored_settings(options.request, lower_case(name), pairs);
}

}  // namespace seidel::drivers
