// Charts as inline SVG.
#include <seidel/drivers/report/html.hpp>

#include <algorithm>
#include <cmath>

#include <seidel/drivers/report/format.hpp>

namespace seidel::drivers {

namespace {

constexpr double width = 760, height = 380, left = 92, right = 20, top = 14, bottom = 46;

/// Maps values to pixels between `from` and `to`.
struct Axis {
  double low, high, from, to;
  bool log;
  double operator()(double v) const {
    const double a = log ? std::log10(low) : low, b = log ? std::log10(high) : high, x = log ? std::log10(v) : v;
    return from + (to - from) * (b > a ? (x - a) / (b - a) : 0.5);
  }
};

/// 1, 2 or 5 times a power of ten, at least `least`.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (double step : {1.0, 2.0, 5.0})
    if (step * power >= least) return step * power;
  return 10 * power;
}

std::vector<double> ticks(const Axis& axis) {
  std::vector<double> places;
  if (axis.log) {
    const int first = int(std::ceil(std::log10(axis.low) - 1e-9)), last = int(std::floor(std::log10(axis.high) + 1e-9));
    const int step = std::max(1, (last - first + 7) / 8);
    for (int e = first; e <= last; e += step) places.push_back(std::pow(10, e));
  } else {
    const double step = round_step(std::max((axis.high - axis.low) / 8, 1e-300));
    for (double v = std::ceil(axis.low / step) * step; v <= axis.high * (1 + 1e-12); v += step)
      places.push_back(std::fabs(v) < step / 2 ? 0 : v);
  }
  return places;
}

/// A text box that stays inside the picture.
std::string tip(double x, double y, const std::string& text) {
  const double w = 7.0 * double(text.size()) + 14, h = 22;
  const double bx = std::clamp(x - w / 2, 2.0, std::max(2.0, width - w - 2)),
               by = y > top + h + 12 ? y - h - 10 : y + 12;
  return formatted(
      "<g class=\"tip\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"3\"/><text x=\"{:.1f}\" "
      "y=\"{:.1f}\" text-anchor=\"middle\">{}</text></g>",
      bx, by, w, h, bx + w / 2, by + 15, escaped(text));
}

bool drawable(const Point& p, bool log_y) { return std::isfinite(p.x) && std::isfinite(p.y) && (!log_y || p.y > 0); }

std::vector<Point> thinned(const Series& series, bool log_y) {
  std::vector<Point> good;
  for (const Point& p : series.points)
    if (drawable(p, log_y)) good.push_back(p);
  constexpr std::size_t most = 400;
  if (good.size() <= most) return good;
  std::vector<Point> few;
  for (std::size_t i = 0; i < most; ++i) few.push_back(good[i * (good.size() - 1) / (most - 1)]);
  return few;
}

}  // namespace

std::string svg_of(const LineChart& chart) {
  std::vector<std::vector<Point>> lines;
  double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
  for (const Series& series : chart.series) {
    lines.push_back(thinned(series, chart.log_y));
    for (const Point& p : lines.back())
      x_low = std::min(x_low, p.x), x_high = std::max(x_high, p.x), y_low = std::min(y_low, p.y),
      y_high = std::max(y_high, p.y);
  }
  if (!(x_low <= x_high)) return "<p>Nothing to draw.</p>\n";
  if (!chart.log_y) y_low = std::min(y_low, 0.0);
  if (chart.log_y)
    y_low = std::pow(10, std::floor(std::log10(y_low))), y_high = std::pow(10, std::ceil(std::log10(y_high)));
  const Axis x{x_low, x_high, left, width - right, false}, y{y_low, y_high, height - bottom, top, chart.log_y};

  std::string out = formatted("<svg class=\"lines\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} against {}\">\n",
                              width, height, escaped(chart.y_label), escaped(chart.x_label));
  for (double v : ticks(y))
    out += formatted(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text class=\"soft\" x=\"{3}\" "
        "y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
        left, width - right, y(v), left - 6, y(v) + 4, v);
  for (double v : ticks(x))
    out += formatted(
        "<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text class=\"soft\" x=\"{0:.1f}\" "
        "y=\"{3}\" text-anchor=\"middle\">{4:g}</text>\n",
        x(v), height - bottom, height - bottom + 5, height - bottom + 18, v);
  out += formatted("<line class=\"axis\" x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\"/>\n", left, width - right,
                   height - bottom);
  out += formatted("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (left + width - right) / 2,
                   height - 8, escaped(chart.x_label));
  out += formatted("<text transform=\"translate(22 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                   (top + height - bottom) / 2, escaped(chart.y_label));
  for (std::size_t s = 0; s < lines.size(); ++s) {
    const std::string colour = formatted("var(--s{})", s % series_colours);
    std::string path;
    for (const Point& p : lines[s]) path += formatted("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(p.x), y(p.y));
    out += formatted("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{}/>\n", path, colour,
                     s < series_colours       ? ""
                     : s < 2 * series_colours ? " stroke-dasharray=\"7 4\""
                                              : " stroke-dasharray=\"2 3\"");
  }
  for (std::size_t s = 0; s < lines.size(); ++s)  // after all lines, so that tips lie above them
    for (const Point& p : lines[s])
      out += formatted(
          "<g class=\"point\" tabindex=\"0\"><circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"9\" "
          "fill=\"transparent\"/><circle class=\"dot\" cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"4\" "
          "fill=\"var(--s{2})\"/>{3}</g>\n",
          x(p.x), y(p.y), s % series_colours, tip(x(p.x), y(p.y), p.tip));
  return out + "</svg>\n";
}

std::string svg_of(const std::vector<Bar>& bars, const std::string& unit) {
  double most = 0;
  for (const Bar& bar : bars) most = std::max(most, bar.value);
  if (bars.empty() || !(most > 0)) return "<p>Nothing to draw.</p>\n";
  // Widths are shares of the page's, so that a phone shows all of it: each bar below its label and its value.
  constexpr double line = 32;
  std::string out = formatted("<svg class=\"bars\" width=\"100%\" height=\"{}\" role=\"img\" aria-label=\"{}\">\n",
                              line * double(bars.size()) + 22, escaped(unit));
  double y = 0;
  for (const Bar& bar : bars) {
    out += formatted(
        "<g class=\"point\" tabindex=\"0\"><text x=\"0\" y=\"{:.1f}\">{}</text><text x=\"100%\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{}</text><rect x=\"0\" y=\"{:.1f}\" width=\"{:.2f}%\" height=\"10\" "
        "fill=\"var(--s{})\"/><title>{}: {:g} {}</title></g>\n",
        y + 13, escaped(bar.label), y + 13, escaped(bar.text), y + 18, std::max(0.2, 100 * bar.value / most),
        bar.group % series_colours, escaped(bar.label), bar.value, escaped(unit));
    y += line;
  }
  out += formatted("<text class=\"soft\" x=\"0\" y=\"{:.1f}\">{}</text>\n", y + 14, escaped(unit));
  return out + "</svg>\n";
}

}  // namespace seidel::drivers
