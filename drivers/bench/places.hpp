// Where a bench runs, and how reports name it.
#pragma once
#include <string>
#include <vector>

#include <seidel/drivers/bench/measure.hpp>
#include <seidel/drivers/options.hpp>
#include <seidel/drivers/report/json.hpp>

namespace seidel::drivers {

/// A plan for the back ends that --backend asks for, and a GPU if it may be used and is there.
/// Errors  BackendError for a back end that was asked for by name and is not there.
Plan plan_for(const CommonOptions& options, std::vector<int> thread_counts = {});

/// What the machine is: one line, and for JSON.
std::string machine_text(const Plan& plan);
Json machine_json(const Plan& plan);

}  // namespace seidel::drivers
