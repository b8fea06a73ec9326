// Charts as inline SVG; colours come from the page.
#pragma once
#include <string>
#include <vector>

#include <seidel/drivers/report/html.hpp>

namespace seidel::drivers {

inline constexpr int series_colours = 6;  // --s0 ... --s5 of the page

/// Lines with round tick marks; at most 400 points of a series are drawn, evenly taken, first and last kept. Points
/// that have no place on the axes (not finite, or not positive on a logarithmic axis) are left out.
std::string svg_of(const LineChart& chart);

/// Horizontal bars from zero, one below the other.
std::string svg_of(const std::vector<Bar>& bars, const std::string& unit);

}  // namespace seidel::drivers
