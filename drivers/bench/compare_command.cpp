// seidel bench compare OLD.json NEW.json
#include <seidel/config.hpp>
#include <seidel/drivers/bench/compare.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/html.hpp>
#include <seidel/drivers/report/json.hpp>

namespace seidel::drivers {

namespace {

Json list_of(const std::vector<std::string>& words) {
  Json list = Json::array();
  for (const auto& word : words) list.push(word);
  return list;
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
    page.text("Command", options.command_line);
    write_text(options.html, page.html());
  }
  if (options.json.empty()) return 0;
  Json json, compared = Json::array();
  for (const auto& c : found.compared)
    compared.push(std::move(Json()
                                .set("what", c.what)
                                .set("change", to_string(c.change))
                                .set("old_seconds", c.old_seconds)
                                .set("new_seconds", c.new_seconds)));
  json.set("schema", "seidel.bench.compare/1").set("version", version).set("command", options.command_line);
  json.set("machine", list_of(found.machine)).set("compared", std::move(compared));
  json.set("only_old", list_of(found.only_old)).set("only_new", list_of(found.only_new));
  write_text(options.json, json.text());
  return 0;
}

}  // namespace seidel::drivers
