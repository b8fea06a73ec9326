// What a report of several right-hand sides says beside that of the worst of them.
#pragma once
#include <string>

#include <seidel/drivers/solve_report.hpp>

namespace seidel::drivers {

/// "8 right-hand sides, all solved; the worst of them is column 3:"
std::string columns_text(const SolveStory& story);
/// A line for each column; where they are many, without --verbose, for the first ones.
void add_columns(Lines& lines, const SolveStory& story);
/// A list with an object for each column.
Json columns_json(const SolveStory& story);
/// The sum of what took time for each.
double over_columns(const SolveStory& story, double Outcome::*seconds);

}  // namespace seidel::drivers
