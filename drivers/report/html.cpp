// The page around the charts of svg.cpp.
#include <seidel/drivers/report/html.hpp>

#include <cctype>

#include <seidel/drivers/report/text.hpp>

namespace seidel::drivers {

namespace {

// Colours of the series are Okabe and Ito's, told apart by colour-blind readers; dark mode takes lighter ones.
constexpr const char* style = R"(
:root { color-scheme: light dark; --back: #fff; --text: #1c2126; --soft: #5c6670; --line: #d5dade; --good: #00724f; --bad: #b23b00;
  --s0: #0072b2; --s1: #d55e00; --s2: #009e73; --s3: #b5588f; --s4: #a87800; --s5: #2b8cc4; }
@media (prefers-color-scheme: dark) { :root { --back: #15181b; --text: #e6e9ec; --soft: #9aa5ae; --line: #363d44; --good: #3ecf9b; --bad: #ff8f5a;
  --s0: #5cb4ea; --s1: #ff8f4a; --s2: #35cfa0; --s3: #e69ac6; --s4: #f0c04a; --s5: #9ad4f7; } }
@media print { :root { --back: #fff; --text: #000; --soft: #444; --line: #bbb; --good: #00724f; --bad: #b23b00;
  --s0: #0072b2; --s1: #d55e00; --s2: #009e73; --s3: #b5588f; --s4: #a87800; --s5: #2b8cc4; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.2rem; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .4rem; } h2 { font-size: 1.1rem; margin: 1.8rem 0 .5rem; }
.note { margin: 0 0 .4rem; color: var(--soft); font-size: .9em; } .verdict { font-weight: 600; border-left: .3rem solid; padding: .2rem .7rem; } .good { color: var(--good); } .bad { color: var(--bad); }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .15rem 1rem; margin: 0; } dt { color: var(--soft); } dd { margin: 0; }
/* A table wider than the page scrolls; a shade at its edge says that there is more. */
.frame { overflow-x: auto; background: linear-gradient(90deg, var(--back) 40%, transparent) 0 0 / 2rem 100% no-repeat local,
    linear-gradient(270deg, var(--back) 40%, transparent) 100% 0 / 2rem 100% no-repeat local,
    linear-gradient(90deg, var(--line), transparent) 0 0 / .7rem 100% no-repeat, linear-gradient(270deg, var(--line), transparent) 100% 0 / .7rem 100% no-repeat; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9em; overflow-wrap: normal; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; } th { color: var(--soft); font-weight: 600; }
td.number, th.number { text-align: right; }
pre { margin: 0; padding: .7rem; border: 1px solid var(--line); border-radius: .3rem; white-space: pre-wrap; font: .85em/1.45 ui-monospace, monospace; }
svg { display: block; width: 100%; max-width: 52rem; } svg.lines { height: auto; } svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
@media (max-width: 40rem) { svg.lines text { font-size: 19px; } svg.lines .tip text { font-size: 12px; } }
svg .axis { stroke: var(--soft); } svg .grid { stroke: var(--line); } svg .soft { fill: var(--soft); }
svg .tip { visibility: hidden; } svg .tip rect { fill: var(--back); stroke: var(--soft); } svg .point { outline: none; }
svg .point:hover .tip, svg .point:focus .tip { visibility: visible; } svg .point .dot { opacity: 0; } svg .point:hover .dot, svg .point:focus .dot { opacity: 1; }
@media (max-width: 40rem) { table { font-size: .8em; } th, td { padding: .2rem .35rem; } }
@media print { @page { size: A4 landscape; margin: 12mm; } body { padding: 0; max-width: none; } h2, .note { break-after: avoid; } section:has(svg), dl, pre, tr { break-inside: avoid; }
  .frame { overflow: visible; background: none; } table { font-size: 8pt; } th, td { padding: .1rem .3rem; white-space: normal; } }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: .3rem 0; font-size: .9em; } .legend i { display: inline-block; width: 1.4rem; margin-right: .4rem; vertical-align: middle; }
)";

bool looks_like_number(const std::string& cell) {
  return cell.empty() || cell == "-" || std::isdigit(static_cast<unsigned char>(cell[0])) ||
         ((cell[0] == '-' || cell[0] == '.') && cell.size() > 1);
}

std::string section(const std::string& heading, const std::string& content) {
  return formatted("<section>\n<h2>{}</h2>\n{}</section>\n", escaped(heading), content);
}

/// Colours and dashes of several series, as svg.cpp draws them.
std::string legend_of(const std::vector<std::string>& names) {
  if (names.size() < 2) return "";
  std::string legend = "<div class=\"legend\">";
  for (std::size_t s = 0; s < names.size(); ++s) {
    const char* line = s < series_colours ? "solid" : s < 2 * series_colours ? "dashed" : "dotted";
    legend += formatted("<span><i style=\"border-top:.2rem {} var(--s{})\"></i>{}</span>", line, s % series_colours,
                        escaped(names[s]));
  }
  return legend + "</div>\n";
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  return out;
}

HtmlPage::HtmlPage(std::string title, std::string verdict, bool good)
    : title_(std::move(title)), verdict_(std::move(verdict)), good_(good) {}

void HtmlPage::facts(const std::string& heading, const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string list = "<dl>\n";
  for (const auto& [name, value] : facts) list += formatted("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
  body_ += section(heading, list + "</dl>\n");
}

void HtmlPage::table(const std::string& heading, const Table& table, const std::string& note) {
  std::vector<const char*> kind(table.header.size(), " class=\"number\"");
  for (const Table::Row& row : table.rows)
    for (std::size_t c = 0; c < kind.size(); ++c)
      if (!looks_like_number(row.at(c))) kind[c] = "";
  const auto cells = [&](const char* tag, const Table::Row& row) {
    std::string line = "<tr>";
    for (std::size_t c = 0; c < kind.size(); ++c)
      line += formatted("<{0}{1}>{2}</{0}>", tag, kind[c], escaped(row.at(c)));
    return line + "</tr>";
  };
  std::string out = note.empty() ? "" : "<p class=\"note\">" + escaped(note) + "</p>\n";
  out += "<div class=\"frame\"><table>\n<thead>" + cells("th", table.header) + "</thead>\n<tbody>\n";
  for (const Table::Row& row : table.rows) out += cells("td", row) + "\n";
  body_ += section(heading, out + "</tbody></table></div>\n");
}

void HtmlPage::chart(const std::string& heading, const LineChart& chart) {
  std::vector<std::string> names;
  for (const Series& series : chart.series) names.push_back(series.name);
  body_ += section(heading, legend_of(names) + svg_of(chart));
}

void HtmlPage::bars(const std::string& heading, const std::string& unit, const std::vector<Bar>& bars,
                    const std::vector<std::string>& groups) {
  body_ += section(heading, legend_of(groups) + svg_of(bars, unit));
}

void HtmlPage::text(const std::string& heading, const std::string& preformatted) {
  body_ += section(heading, "<pre>" + escaped(preformatted) + "</pre>\n");
}

std::string HtmlPage::html(const std::string& command_line) {
  text("Command", command_line);
  return formatted(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<p "
      "class=\"verdict {2}\">{3}</p>\n{4}</body>\n</html>\n",
      escaped(title_), style, good_ ? "good" : "bad", escaped(verdict_), body_);
}

}  // namespace seidel::drivers
