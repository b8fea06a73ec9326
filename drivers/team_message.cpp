// Choices and criteria as messages.
#include <seidel/drivers/team_message.hpp>

#include <algorithm>
#include <optional>

namespace seidel::drivers {

namespace {

/// The entry of a table with this name.
template <class Entry>
const Entry& named(const auto& table, std::string_view name) {
  return std::ranges::find_if(table, [&](const Entry& entry) { return entry.name == name; })->get();
}
/// The key of a setting, which outlives every Settings.
std::string_view key_named(std::string_view key) {
  const auto find = [&](const auto& table) -> std::string_view {
    for (const auto& entry : table)
      for (const Setting& setting : entry.get().settings)
        if (setting.key == key) return setting.key;
    return {};
  };
  const std::string_view of_method = find(methods);
  return of_method.empty() ? find(preconditioners) : of_method;
}

}  // namespace

void put(Message& message, const MethodChoice& choice) {
  message.put(choice.method.name).put(choice.preconditioner.name).put(choice.order).put(choice.restart);
  message.put(choice.form).put(choice.may_try_gmres).put(choice.may_drop_preconditioner).put(choice.symmetric);
  message.put(choice.norm_inf).put(choice.fallbacks.size());
  for (const Method& method : choice.fallbacks) message.put(method.name);
  message.put(choice.settings.values().size());
  for (const auto& [key, value] : choice.settings.values()) message.put(key).put(value);
}
MethodChoice choice_in(Message& message) {
  MethodChoice choice;
  choice.method = named<Method>(methods, message.get<std::string>());
  choice.preconditioner = named<PreconditionerKind>(preconditioners, message.get<std::string>());
  choice.order = message.get<Order>();
  choice.restart = message.get<int>();
  choice.form = message.get<Form>();
  choice.may_try_gmres = message.get<bool>();
  choice.may_drop_preconditioner = message.get<bool>();
  choice.symmetric = message.get<bool>();
  choice.norm_inf = message.get<double>();
  for (auto n = message.get<std::size_t>(); n > 0; --n)
    choice.fallbacks.push_back(named<Method>(methods, message.get<std::string>()));
  for (auto n = message.get<std::size_t>(); n > 0; --n) {
    const std::string key = message.get<std::string>();
    choice.settings.set({.key = key_named(key), .help = {}}, message.get<double>());
  }
  return choice;
}

void put(Message& message, const Criteria& criteria) {
  message.put(criteria.relative_tolerance).put(criteria.absolute_tolerance).put(criteria.max_iterations);
  message.put(criteria.error_tolerance).put(criteria.impatient);
}
Criteria criteria_in(Message& message) {
  Criteria criteria;
  criteria.relative_tolerance = message.get<double>();
  criteria.absolute_tolerance = message.get<double>();
  criteria.max_iterations = message.get<std::int64_t>();
  criteria.error_tolerance = message.get<std::optional<double>>();
  criteria.impatient = message.get<bool>();
  return criteria;
}

}  // namespace seidel::drivers
