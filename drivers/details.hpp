// The names of --precond, and the details of --set.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <seidel/solvers/settings.hpp>

namespace seidel::drivers {

struct SolveOptions;

/// The keys: those of methods and preconditioners, each once, then the program's own.
std::vector<std::string> names_of_details();
bool is_detail_of_methods(const std::string& key);
bool is_detail_of_preconditioners(const std::string& key);
bool has_detail(std::span<const Setting> settings, const std::string& key);
/// A line for each: "\n  omega=W    relaxation factor ...".
std::string meanings_of_details();
/// Those of the table, and gmg, which is amg on a lattice.
std::string names_of_preconditioners();
std::string meanings_of_preconditioners();
bool is_geometric(const std::string& preconditioner);
/// Takes --precond and each --set, after the method is known. Errors  UsageError, also for a detail of methods, or of
/// preconditioners, that the one which was asked for by name does not have.
void request_preconditioner(SolveOptions& options, const std::string& name, std::vector<std::string> pairs);

}  // namespace seidel::drivers
