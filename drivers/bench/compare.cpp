// Two bench files side by side.
#include <seidel/drivers/bench/compare.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include <seidel/drivers/bench/sample.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

nlohmann::json parsed(const std::string& name) {
  std::ifstream file(name);
  if (!file) throw InputError(name + ": cannot be read\n  name a file that seidel bench --json wrote");
  nlohmann::json document = nlohmann::json::parse(file, nullptr, false);
  const auto refuse = [&](const std::string& found) {
    throw InputError(formatted(
        "{}: found {}, expected a file that seidel bench KERNEL or suite --json wrote (schema seidel.bench/1)", name,
        found));
  };
  if (document.is_discarded()) refuse("what is not JSON");
  const auto schema = document.is_object() ? document.find("schema") : document.end();
  if (schema == document.end() || !schema->is_string()) refuse("no schema");
  if (*schema != "seidel.bench/1") refuse(formatted("schema {}", schema->get<std::string>()));
  if (!document.contains("measurements") || !document["measurements"].is_array()) refuse("no measurements");
  return document;
}

/// The numbers of threads that OpenMP rivals ran with, as "1, 2".
std::string threads_of(const nlohmann::json& file) {
  std::set<int> counts;
  for (const auto& m : file.at("measurements"))
    if (m.contains("seconds") && m.value("backend", "") == "openmp") counts.insert(m.value("threads", 0));
  std::string text;
  for (const int threads : counts) text += formatted("{}{}", text.empty() ? "" : ", ", threads);
  return text;
}

/// Best bandwidths by where they were measured: "GPU", "2 threads".
std::map<std::string, double> roofs_of(const nlohmann::json& file) {
  std::map<std::string, double> roofs;
  for (const auto& roof : file.value("roofs", nlohmann::json::array())) {
    const int threads = roof.value("threads", 0);
    const std::string where = roof.value("backend", "") == "cuda" ? "GPU" : plural(threads, "thread");
    roofs[where] = std::max(roof.value("copy_gb_per_s", 0.0), roof.value("triad_gb_per_s", 0.0));
  }
  return roofs;
}

/// Samples by what was measured; `with_threads` tells OpenMP rivals of different numbers of threads apart.
std::map<std::string, Sample> samples_of(const nlohmann::json& file, const std::string& name, bool with_threads) try {
  std::map<std::string, Sample> samples;
  for (const auto& m : file.at("measurements")) {
    std::string what = formatted("{}, {}", m.at("rival").get<std::string>(), m.at("matrix").get<std::string>());
    if (!m.contains("seconds")) continue;  // not timed
    if (with_threads && m.at("backend") == "openmp") what += ", " + plural(m.at("threads").get<int>(), "thread");
    if (m.at("k") != 1 || m.at("layout") != "row")
      what += formatted(", k = {}, {}", m.at("k").get<int>(), m.at("layout").get<std::string>());
    if (m.contains("order")) what += formatted(", {} order", m.at("order").get<std::string>());
    for (double seconds : m.at("seconds")) samples[what].add(seconds);
  }
  return samples;
} catch (const nlohmann::json::exception& fault) {
  throw InputError(formatted("{}: found a measurement that does not say what it is: {}", name, fault.what()));
}

Comparison compared(const std::string& what, const Sample& old_sample, const Sample& new_sample) {
  const double before = old_sample.median(), after = new_sample.median();
  const bool apart =
      new_sample.quantile(0.75) < old_sample.quantile(0.25) || new_sample.quantile(0.25) > old_sample.quantile(0.75);
  const bool enough = std::fabs(std::log(after / before)) > std::log(1.02);
  return {what, before, after, !apart || !enough ? Change::same : after < before ? Change::faster : Change::slower};
}

/// How far the baselines moved: they are the same program in both files, so what moves them is the machine. Empty
/// without.
std::string drift_of(const std::vector<Comparison>& compared) {
  Sample ratios;
  for (const Comparison& c : compared)
    for (const char* vendor : {".eigen", ".cusparse", ".cublas"})
      if (c.what.find(vendor) != std::string::npos) ratios.add(c.old_seconds / c.new_seconds);
  if (ratios.empty()) return "";
  return formatted(
      "baselines, the same program in both files: {:.2f}x as fast in the median, {:.2f}x to {:.2f}x; changes within "
      "that "
      "range may be the machine's\n",
      ratios.median(), ratios.min(), ratios.max());
}

}  // namespace

std::string_view to_string(Change c) {
  return c == Change::faster ? "faster" : c == Change::slower ? "slower" : "same";
}

Differences compare(const std::string& old_name, const std::string& new_name) {
  const nlohmann::json old_file = parsed(old_name), new_file = parsed(new_name);
  const std::string old_threads = threads_of(old_file), new_threads = threads_of(new_file);
  // One number of threads against another one: the same rivals, on more or fewer threads.
  const bool one_each = old_threads.find(',') == std::string::npos && new_threads.find(',') == std::string::npos;
  const auto before = samples_of(old_file, old_name, !one_each), after = samples_of(new_file, new_name, !one_each);
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
  const auto said = [](const nlohmann::json& machine, const std::string& key) {
    if (!machine.contains(key)) return std::string("not said");
    return machine[key].is_null()     ? std::string("none")
           : machine[key].is_string() ? machine[key].get<std::string>()
                                      : machine[key].dump();
  };
  nlohmann::json either = old_machine;
  either.update(new_machine);
  for (const auto& [key, value] : either.items())
    if (said(old_machine, key) != said(new_machine, key))
      found.machine.push_back(formatted("{}: {} -> {}", key, said(old_machine, key), said(new_machine, key)));
  if (old_threads != new_threads && !old_threads.empty() && !new_threads.empty())
    found.machine.push_back(formatted("threads: {} -> {}", old_threads, new_threads));
  const auto old_roofs = roofs_of(old_file), new_roofs = roofs_of(new_file);
  for (const auto& [where, roof] : old_roofs)
    if (const auto other = new_roofs.find(where);
        other != new_roofs.end() && std::fabs(std::log(other->second / roof)) > std::log(1.05))
      found.machine.push_back(formatted("bandwidth, {}: {:.1f} -> {:.1f} GB/s", where, roof, other->second));
  return found;
}

std::string text_of(const Differences& d) {
  std::string out;
  if (!d.machine.empty()) {
    out += "Not only the program differs, so times do anyway:\n";
    for (const auto& line : d.machine) out += "  " + line + "\n";
  }
  out += drift_of(d.compared);
  const auto block = [&](Change change, const char* title) {
    std::size_t count = 0, width = 0;
    for (const auto& c : d.compared)
      if (c.change == change) ++count, width = std::max(width, c.what.size());
    out += formatted("{}: {}\n", title, count);
    if (change == Change::same) return;
    for (const auto& c : d.compared)
      if (c.change == change)
        out += formatted("  {:<{}}  {:>10.4f} ms -> {:>10.4f} ms  {:.2f}x\n", c.what, width, c.old_seconds * 1e3,
                         c.new_seconds * 1e3,
                         change == Change::faster ? c.old_seconds / c.new_seconds : c.new_seconds / c.old_seconds);
  };
  block(Change::faster, "faster");
  block(Change::slower, "slower");
  block(Change::same, "within the spread, or less than 2 %");
  const auto alone = [&](const char* file, const std::vector<std::string>& names) {
    if (names.empty()) return;
    out += formatted("only in the {} file: {}\n", file, names.size());
    for (std::size_t i = 0; i < names.size() && i < 12; ++i) out += formatted("  {}\n", names[i]);
    if (names.size() > 12) out += formatted("  and {} more\n", names.size() - 12);
  };
  alone("old", d.only_old), alone("new", d.only_new);
  return out;
}

}  // namespace seidel::drivers
