// seidel bench compare OLD.json NEW.json
#include <seidel/config.hpp>
#include <seidel/drivers/bench/compare.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/html.hpp>
#include <seidel/drivers/report/json.hpp>

namespace seidel::drivers {

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
