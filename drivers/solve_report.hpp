// What `seidel solve` has to say, as text and as JSON.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <seidel/drivers/matrix_source.hpp>
#include <seidel/drivers/memory_plan.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/solve_singular.hpp>
#include <seidel/drivers/solve_verdict.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/statistics.hpp>
#include <seidel/solvers/diagnose.hpp>

namespace seidel::drivers {

/// Wavefronts of fewer rows leave nothing for a second thread to do.
inline constexpr std::int64_t rows_of_no_parallelism = 4;

/// Everything known at the end of a solve.
struct SolveStory {
  const SolveOptions& options;
  const LoadedMatrix& loaded;
  const MatrixProperties& properties;
  const RowStatistics& rows;
  const Singular& singular;
  const Placement& where;
  const MethodChoice& choice;
  const MemoryPlan& memory;
  const Arrangement* arrangement;  // of the matrix that the preconditioner sees; null where that is A
  const Outcome& outcome;
  std::vector<Diagnosis> diagnosis = {};     // empty if solved
  std::int64_t colours_instead = 0;          // of a natural order without parallelism; 0 where it has some
  double read_seconds = 0;                   // matrix and vectors
  double setup_seconds = 0;                  // all between reading and the first iteration
  std::span<const SolveStory> columns = {};  // of all right-hand sides,
  std::size_t column = 0;                    // of which this is one
};

/// The right-hand side that most is to be said of: not solved before doubtful before solved, then the one with the largest error,
/// where that is known, then residual.
std::size_t worst_of(std::span<const SolveStory> columns);

/// What a method does again and again: "iteration", or "solve" of factors.
std::string_view step_of(std::string_view method);
/// What text and page both say: "openmp, 2 threads (asked for)"; "gmres, restarted after 50 iterations"; "650
/// iterations, residual 5.4e-02: why it ended"; "12 iterations of cg" or "2 solves with factors of A"; "||b - Ax|| / ||b|| = 2.8e-09 (target 1.0e-08) after 12 iterations of cg".
std::string backend_text(const Placement& where);
std::string method_text(const SolveStory& story);
std::string attempt_text(const Attempt& attempt);
std::string effort_text(const Summary& summary);
std::string reached_text(const SolveStory& story);
/// "b from b.mtx", which columns, or how b was made.
std::string right_hand_side_text(const SolveStory& story);
/// What the relative residual must not exceed.
double tolerance_of(const SolveOptions& options, double norm_b);
double tolerance_of(const SolveStory& story);

std::string solve_text(const SolveStory& story, const Terminal& terminal);
Json solve_json(const SolveStory& story);
/// One page for a browser: verdict, what was run, the residual after each iteration, times, the command.
std::string solve_page(const SolveStory& story);

}  // namespace seidel::drivers
