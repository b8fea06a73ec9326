// One self-contained page: facts, tables and charts, without scripts and without anything fetched.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace seidel::drivers {

struct Table;

struct Point {
  double x, y;
  std::string tip;  // shown when the point is hovered, touched or reached by the keyboard
};
struct Series {
  std::string name;
  std::vector<Point> points;
};
struct LineChart {
  std::string x_label, y_label;
  bool log_y = false;
  std::vector<Series> series;
};
struct Bar {
  std::string label;
  double value;
  std::string text;  // stands behind the bar
  int group = 0;     // its colour
};

inline constexpr int series_colours = 6;  // --s0 ... --s5 of the page

/// As inline SVG, whose colours come from the page: lines with round tick marks; at most 400 points of a series are drawn, evenly taken, first and last kept. Points
/// that have no place on the axes (not finite, or not positive on a logarithmic axis) are left out.
std::string svg_of(const LineChart& chart);

/// The same: horizontal bars from zero, one below the other.
std::string svg_of(const std::vector<Bar>& bars, const std::string& unit);

/// Collects sections in order; html() writes them. All text is escaped. Readable on a phone, in light and dark, and on
/// paper.
class HtmlPage {
 public:
  /// `good` colours the verdict.
  HtmlPage(std::string title, std::string verdict, bool good);

  void facts(const std::string& heading, const std::vector<std::pair<std::string, std::string>>& facts);
  /// Columns whose cells all look like numbers are set to the right. Wide tables scroll inside their frame. A `note`
  /// stands above.
  void table(const std::string& heading, const Table& table, const std::string& note = {});
  void chart(const std::string& heading, const LineChart& chart);
  /// `groups` names the bars' groups, where there are several.
  void bars(const std::string& heading, const std::string& unit, const std::vector<Bar>& bars,
            const std::vector<std::string>& groups = {});
  void text(const std::string& heading, const std::string& preformatted);
  /// The page; its last section is the command that it is of.
  std::string html(const std::string& command_line);

 private:
  std::string title_, verdict_;
  bool good_;
  std::string body_;
};

/// `text` with the five characters that HTML gives a meaning replaced.
std::string escaped(const std::string& text);

}  // namespace seidel::drivers
