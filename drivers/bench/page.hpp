// What a bench of kernels found, and its page for a browser.
#pragma once
#include <string>
#include <vector>

#include <seidel/drivers/bench/orders.hpp>
#include <seidel/drivers/bench/output.hpp>
#include <seidel/drivers/options.hpp>

namespace seidel::drivers {

/// Everything that was measured.
struct Found {
  std::vector<Measurement> all;
  Roofs roofs;
  std::vector<OrderRow> orders;
  bool interrupted = false;
};

/// `machine` is one line on what it ran on.
std::string page_of(const Found& found, const std::string& machine, const CommonOptions& options);

}  // namespace seidel::drivers
