// seidel bench compare OLD.json NEW.json: what became faster or slower.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <seidel/config.hpp>
#include <seidel/drivers/bench/sample.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/html.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

enum class Change { faster, slower, same };
std::string_view to_string(Change c) {
  return c == Change::faster ? "faster" : c == Change::slower ? "slower" : "same";
}

/// One rival on one task, in both files.
struct Comparison {
  std::string what;                 // "spmv.csr.openmp, 2 threads, poisson3d:64"
  bool baseline;                    // by the new file
  double old_seconds, new_seconds;  // medians
  Change change;  // same: the middle halves of the trials overlap, or the medians differ by less than 2 %
};

struct Differences {
  std::vector<Comparison> compared;             // largest change first
  std::vector<std::string> only_old, only_new;  // measured in one file alone
  std::vector<std::string> machine;             // "processor: AMD EPYC -> Intel Xeon"
};

JsonValue parsed(const std::string& name) {
  const auto refuse = [&](const std::string& found) {
    throw InputError(formatted(
        "{}: found {}, expected a file that seidel bench KERNEL or suite --json wrote (schema seidel.bench/1)", name,
        found));
  };
  std::ifstream file(name);
  if (!file)
    throw InputError(formatted("{}: {}\n  name a file that seidel bench --json wrote", name, std::strerror(errno)));
  if (std::filesystem::is_directory(name)) refuse("a folder");
  const std::optional<JsonValue> document = read_json(file);
  if (!document) refuse("what is not JSON");
  if (!document->contains("schema") || !(*document)["schema"].is_string()) refuse("no schema");
  if (const std::string schema = (*document)["schema"].string(); schema != "seidel.bench/1")
    refuse(formatted("schema {}", schema));
  if (!document->contains("measurements") || !(*document)["measurements"].is_array()) refuse("no measurements");
  return *document;
}

/// What stands under `key`, if anything does.
std::string text_or_none(const JsonValue& of, const char* key) { return of.contains(key) ? of[key].text() : ""; }
double number_or_0(const JsonValue& of, const char* key) { return of.contains(key) ? of[key].number() : 0; }

/// The numbers of threads that OpenMP rivals ran with, as "1, 2".
std::string threads_of(const JsonValue& file) {
  std::set<int> counts;
  for (const auto& m : file["measurements"].elements())
    if (m.contains("seconds") && text_or_none(m, "backend") == "openmp") counts.insert(int(number_or_0(m, "threads")));
  std::vector<std::string> words;
  for (const int threads : counts) words.push_back(std::to_string(threads));
  return joined(words);
}

/// Best bandwidths by where they were measured: "GPU", "2 threads".
std::map<std::string, double> roofs_of(const JsonValue& file) {
  std::map<std::string, double> roofs;
  if (!file.contains("roofs")) return roofs;
  for (const auto& roof : file["roofs"].elements()) {
    const std::string where =
        text_or_none(roof, "backend") == "cuda" ? "GPU" : plural(int(number_or_0(roof, "threads")), "thread");
    roofs[where] = std::max(number_or_0(roof, "copy_gb_per_s"), number_or_0(roof, "triad_gb_per_s"));
  }
  return roofs;
}

struct Timed {
  bool baseline = false;
  Sample sample;
};
/// By what was measured; `with_threads` tells OpenMP rivals of different numbers of threads apart.
std::map<std::string, Timed> samples_of(const JsonValue& file, bool with_threads) {
  std::map<std::string, Timed> samples;
  for (const auto& m : file["measurements"].elements()) {
    std::string what = formatted("{}, {}", m["rival"].string(), m["matrix"].string());
    if (!m.contains("seconds")) continue;  // not timed
    if (with_threads && text_or_none(m, "backend") == "openmp")
      what += ", " + plural(int(m["threads"].number()), "thread");
    if (m["k"].number() != 1 || m["layout"].string() != "row")
      what += formatted(", k = {}, {}", int(m["k"].number()), m["layout"].string());
    if (m.contains("order")) what += formatted(", {} order", m["order"].string());
    Timed& timed = samples[what];
    timed.baseline = text_or_none(m, "baseline") == "true";
    for (const auto& seconds : m["seconds"].elements()) timed.sample.add(seconds.number());
    if (timed.sample.empty()) throw InputError("no seconds");
  }
  return samples;
}

/// Errors  InputError for a file without all that is compared.
JsonValue checked(const std::string& name) {
  const JsonValue file = parsed(name);
  try {
    threads_of(file), roofs_of(file), samples_of(file, false);
  } catch (const InputError& fault) {
    throw InputError(formatted("{}: found a measurement that does not say what it is: {}", name, fault.what()));
  }
  return file;
}

Comparison compared(const std::string& what, const Sample& old_sample, const Timed& now) {
  const Sample& new_sample = now.sample;
  const double before = old_sample.median(), after = new_sample.median();
  const bool apart =
      new_sample.quantile(0.75) < old_sample.quantile(0.25) || new_sample.quantile(0.25) > old_sample.quantile(0.75);
  const bool enough = std::fabs(std::log(after / before)) > std::log(1.02);
  return {what, now.baseline, before, after,
          !apart || !enough ? Change::same
          : after < before  ? Change::faster
                            : Change::slower};
}

/// How far the baselines moved: they are the same program in both files, so what moves them is the machine. Empty
/// without.
std::string drift_of(const std::vector<Comparison>& compared) {
  Sample ratios;
  for (const Comparison& c : compared)
    if (c.baseline) ratios.add(c.old_seconds / c.new_seconds);
  if (ratios.empty()) return "";
  return formatted(
      "baselines, the same program in both files: {:.2f}x as fast in the median, {:.2f}x to {:.2f}x; changes within "
      "that "
      "range may be the machine's\n",
      ratios.median(), ratios.min(), ratios.max());
}

/// What else than the program differs: facts about the machine, threads, bandwidths more than 5 % apart.
std::vector<std::string> other_differences(const JsonValue& old_file, const JsonValue& new_file) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& what, const std::string& before, const std::string& after) {
    found.push_back(formatted("{}: {} -> {}", what, before, after));
  };
  const auto said = [](const JsonValue& file, const std::string& key) {
    return file.contains("machine") && file["machine"].contains(key) ? file["machine"][key].text() : "not said";
  };
  std::set<std::string> keys;
  for (const JsonValue& file : {old_file, new_file})
    if (file.contains("machine"))
      for (const std::string& key : file["machine"].keys()) keys.insert(key);
  for (const auto& key : keys)
    if (said(old_file, key) != said(new_file, key)) add(key, said(old_file, key), said(new_file, key));
  const std::string old_threads = threads_of(old_file), new_threads = threads_of(new_file);
  if (old_threads != new_threads && !old_threads.empty() && !new_threads.empty())
    add("threads", old_threads, new_threads);
  const auto old_roofs = roofs_of(old_file), new_roofs = roofs_of(new_file);
  for (const auto& [where, roof] : old_roofs)
    if (const auto other = new_roofs.find(where);
        other != new_roofs.end() && std::fabs(std::log(other->second / roof)) > std::log(1.05))
      add("bandwidth, " + where, formatted("{:.1f}", roof), formatted("{:.1f} GB/s", other->second));
  return found;
}

/// Where each file has one number of threads, OpenMP rivals are compared across these numbers.
/// Errors  InputError if one cannot be read, is not of schema seidel.bench/1, or lacks a key.
Differences compare(const std::string& old_name, const std::string& new_name) {
  const JsonValue old_file = checked(old_name), new_file = checked(new_name);
  // One number of threads against another one: the same rivals, on more or fewer threads.
  const bool one_each = (threads_of(old_file) + threads_of(new_file)).find(',') == std::string::npos;
  const auto before = samples_of(old_file, !one_each), after = samples_of(new_file, !one_each);
  Differences found;
  for (const auto& [what, timed] : before)
    if (const auto other = after.find(what); other != after.end())
      found.compared.push_back(compared(what, timed.sample, other->second));
    else
      found.only_old.push_back(what);
  for (const auto& [what, timed] : after)
    if (!before.contains(what)) found.only_new.push_back(what);
  std::stable_sort(found.compared.begin(), found.compared.end(), [](const Comparison& a, const Comparison& b) {
    const auto size = [](const Comparison& c) { return std::fabs(std::log(c.new_seconds / c.old_seconds)); };
    return size(a) > size(b);
  });
  found.machine = other_differences(old_file, new_file);
  return found;
}

/// Machines first, then faster and slower, then a line that counts the rest, then what one file has alone.
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

}  // namespace

int run(const BenchCompareOptions& options) {
  const Differences found = compare(options.old_file, options.new_file);
  const std::string text = text_of(found);
  print(options, text);
  if (!options.html.empty()) {
    HtmlPage page("seidel bench compare", "What became faster or slower", true);
    page.facts("What was compared", {{"old", options.old_file}, {"new", options.new_file}, {"version", version}});
    page.text("Result", text);
    write_text(options.html, page.html(options.command_line));
  }
  if (options.json.empty()) return 0;
  Json json = json_document("seidel.bench.compare/1", options.command_line);
  json.set("machine", found.machine).set("compared", json_list(found.compared, [](const Comparison& c) {
                                           Json one;
                                           one.set("what", c.what).set("change", to_string(c.change));
                                           one.set("old_seconds", c.old_seconds).set("new_seconds", c.new_seconds);
                                           return one;
                                         }));
  json.set("only_old", found.only_old).set("only_new", found.only_new);
  write_text(options.json, json.text());
  return 0;
}

}  // namespace seidel::drivers
