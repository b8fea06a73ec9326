// One right-hand side: which ways are tried, one after the other, and what else is found out about its x.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include <seidel/drivers/solve_decide.hpp>

namespace seidel::drivers {

/// By iterations alone, for some columns of problem.b.
std::vector<Outcome> iterate(Problem& problem, std::span<const Array<double>> b, Decided& decided,
                             const Criteria& criteria);

/// x of a singular A is one of many.
void note_singular(Outcome& outcome);
/// Where A is singular, lsmr finds the x of least norm if any x solves it, and otherwise one with the least residual. What is
/// worse than what was found before is forgotten.
Outcome solve_singular(Problem& problem, const Array<double>& b, Decided& decided, const Criteria& criteria,
                       Outcome before);

/// For a column of problem.b. `iterated` is what the iteration found, if that is known; `decided` is in the end what gave x.
Outcome solve_one(Problem& problem, const Array<double>& b, const Singular& singular, Decided& decided,
                  std::optional<Outcome> iterated);

}  // namespace seidel::drivers
