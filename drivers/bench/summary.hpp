// What a bench found, over many tasks: ours beside the fastest baseline, and the page for a browser.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <seidel/drivers/bench/orders.hpp>
#include <seidel/drivers/bench/output.hpp>

namespace seidel::drivers {

/// Everything that was measured.
struct Found {
  std::vector<Measurement> all;
  Roofs roofs;
  std::vector<OrderRow> orders;
  bool interrupted = false;
};

/// Measurements of the same matrix, kernel, order, k and layout; they stand side by side in `all`.
std::vector<std::span<const Measurement>> tasks_of(std::span<const Measurement> all);

/// A row per task and place (serial, so many threads, GPU) where one of ours was timed.
Table summary_of(std::span<const Measurement> all, const Roofs& roofs);

/// Over all matrices, for each kernel and place: how many times faster than the fastest baseline ours are.
Table gains_of(std::span<const Measurement> all);

/// `machine` is one line on what it ran on.
std::string page_of(const Found& found, const std::string& machine, const CommonOptions& options);

}  // namespace seidel::drivers
