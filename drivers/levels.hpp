// The levels of amg, as `seidel solve` and `seidel info` tell of them.
#pragma once
#include <vector>

#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/solvers/multigrid/facts.hpp>

namespace seidel::drivers {

/// What each is, and what they cost together; nothing where there are none.
void add_levels(Lines& lines, const std::vector<LevelFacts>& levels, const Paint& paint);

/// "levels", "operator_complexity" and "grid_complexity"; null where there are none.
void set_levels(Json& json, const std::vector<LevelFacts>& levels);

}  // namespace seidel::drivers
