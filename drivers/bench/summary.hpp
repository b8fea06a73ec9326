// Many measurements in one table: ours beside the fastest baseline, a row per task.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <seidel/drivers/bench/output.hpp>

namespace seidel::drivers {

/// Measurements of the same matrix, kernel, order, k and layout; they stand side by side in `all`.
std::vector<std::span<const Measurement>> tasks_of(std::span<const Measurement> all);

/// A row per task and place (serial, so many threads, GPU) where one of ours was timed.
Table summary_of(std::span<const Measurement> all, const Roofs& roofs);

/// Over all matrices, for each kernel and place: how many times faster than the fastest baseline ours are.
Table gains_of(std::span<const Measurement> all);

}  // namespace seidel::drivers
