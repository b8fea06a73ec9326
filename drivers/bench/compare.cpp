// Two bench files side by side.
#include <seidel/drivers/bench/compare.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include <seidel/drivers/bench/sample.hpp>
#include <seidel/drivers/report/format.hpp>
#include <seidel/formats/errors.hpp>

namespace seidel::bench {

namespace {

nlohmann::json parsed(const std::string& name) {
  std::ifstream file(name);
  if (!file) throw InputError(name + ": cannot be read\n  name a file that seidel bench --json wrote");
  nlohmann::json document = nlohmann::json::parse(file, nullptr, false);
  if (!document.is_object() || document.value("schema", "") != "seidel.bench/1" || !document.contains("measurements"))
    throw InputError(
        name +
        ": found no \"schema\": \"seidel.bench/1\" with measurements, expected a file that seidel bench --json wrote");
  return document;
}

std::map<std::string, Sample> samples_of(const nlohmann::json& file) {
  std::map<std::string, Sample> samples;
  for (const auto& m : file.at("measurements")) {
    if (!m.contains("seconds")) continue;
    std::string what =
        drivers::formatted("{}, {}", m.at("rival").get<std::string>(), m.at("matrix").get<std::string>());
    if (m.at("backend") == "openmp") what += drivers::formatted(", {} threads", m.at("threads").get<int>());
    if (m.at("kernel") == "spmm")
      what += drivers::formatted(", k = {}, {}", m.at("k").get<int>(), m.at("layout").get<std::string>());
    for (double seconds : m.at("seconds")) samples[what].add(seconds);
  }
  return samples;
}

Comparison compared(const std::string& what, const Sample& old_sample, const Sample& new_sample) {
  const double before = old_sample.median(), after = new_sample.median();
  const bool apart =
      new_sample.quantile(0.75) < old_sample.quantile(0.25) || new_sample.quantile(0.25) > old_sample.quantile(0.75);
  const bool enough = std::fabs(std::log(after / before)) > std::log(1.02);
  return {what, before, after, !apart || !enough ? Change::same : after < before ? Change::faster : Change::slower};
}

}  // namespace

Differences compare(const std::string& old_name, const std::string& new_name) {
  const nlohmann::json old_file = parsed(old_name), new_file = parsed(new_name);
  const auto before = samples_of(old_file), after = samples_of(new_file);
  Differences found;
  for (const auto& [what, sample] : before)
    if (const auto other = after.find(what); other != after.end())
      found.compared.push_back(compared(what, sample, other->second));
    else
      found.only_old.push_back(what);
  for (const auto& [what, sample] : after)
    if (!before.contains(what)) found.only_new.push_back(what);
  std::stable_sort(found.compared.begin(), found.compared.end(), [](const Comparison& a, const Comparison& b) {
    const auto size = [](const Comparison& c) { return std::fabs(std::log(c.new_seconds / c.old_seconds)); };
    return size(a) > size(b);
  });
  const nlohmann::json none = nlohmann::json::object();
  const nlohmann::json old_machine = old_file.value("machine", none);
  const nlohmann::json new_machine = new_file.value("machine", none);
  for (const auto& [key, value] : new_machine.items())
    if (!old_machine.contains(key) || old_machine[key] != value)
      found.machine.push_back(drivers::formatted(
          "{}: {} -> {}", key, old_machine.contains(key) ? old_machine[key].dump() : "not said", value.dump()));
  return found;
}

std::string text_of(const Differences& d) {
  std::string out;
  if (!d.machine.empty()) {
    out += "The machines differ, so times do too:\n";
    for (const auto& line : d.machine) out += "  " + line + "\n";
  }
  const auto block = [&](Change change, const char* title) {
    std::size_t count = 0, width = 0;
    for (const auto& c : d.compared)
      if (c.change == change) ++count, width = std::max(width, c.what.size());
    out += drivers::formatted("{}: {}\n", title, count);
    if (change == Change::same) return;
    for (const auto& c : d.compared)
      if (c.change == change)
        out += drivers::formatted(
            "  {:<{}}  {:>10.4f} ms -> {:>10.4f} ms  {:.2f}x\n", c.what, width, c.old_seconds * 1e3,
            c.new_seconds * 1e3,
            change == Change::faster ? c.old_seconds / c.new_seconds : c.new_seconds / c.old_seconds);
  };
  block(Change::faster, "faster");
  block(Change::slower, "slower");
  block(Change::same, "within the spread, or less than 2 %");
  if (!d.only_old.empty()) out += drivers::formatted("only in the old file: {}\n", d.only_old.size());
  if (!d.only_new.empty()) out += drivers::formatted("only in the new file: {}\n", d.only_new.size());
  return out;
}

}  // namespace seidel::bench
