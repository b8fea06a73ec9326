// Singular systems: the null space of A as far as it is known, and what that means for b, x and the verdict.
#pragma once
#include <seidel/drivers/solve_on.hpp>
#include <seidel/drivers/solve_problem.hpp>
#include <seidel/solvers/diagnose.hpp>

namespace seidel::drivers {

struct SolveStory;

/// Of an A with a known null space, of which x has no part: x is of least norm if A has no other null vectors.
struct Singular {
  const NullSpace& space;         // of the problem, which outlives this
  bool asked = false;             // --null-space: the part of b that no x gives is left out
  double part_of_b = 0;           // ||Z Z'b|| / ||b||, where Z spans the null space of A' as well
  Index empty_row = -1;           // the first one where b is not zero, which no x gives
  double part_in_empty_rows = 0;  // of the norm of b
  Array<double> given_b = {};     // where b has such a part, and nobody asked: b is judged as it was given

  bool known() const { return space.dimension() > 0; }
  bool inconsistent() const { return !given_b.empty(); }
};

/// What was asked for, or the constants where all rows sum to zero or some are empty.
/// Errors  InputError for a null space that is none.
NullSpace find_null_space(const Problem& problem);

/// What that means for problem.b. Takes from it what no x gives: what is left has a least-squares solution.
Singular look_at_rhs(Problem& problem);

/// Takes from x its part in the null space, and judges it anew, on the host.
void finish_singular(const Problem& problem, const Singular& singular, HostSpan<const double> b, Outcome& outcome);

/// "singular: the constants are its null space ..."; empty where nothing is known.
std::string singular_text(const Singular& singular, bool solved);
/// Why no x solves it, if that is so.
std::optional<Diagnosis> inconsistency(const SolveStory& story);

}  // namespace seidel::drivers
