// What `seidel solve` has to say of x and of all else, and the files that it writes.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <seidel/drivers/diagnose.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/solve_decide.hpp>

namespace seidel::drivers {

/// Everything known at the end of a solve.
struct SolveStory {
  const Problem& problem;  // its A is told of in its own units
  const Singular& singular;
  const Decided& decided;
  const Outcome& outcome;
  std::string out = {};                      // the file that x is in
  std::vector<Diagnosis> diagnosis = {};     // empty if solved
  std::int64_t colours_instead = 0;          // of a natural order without parallelism; 0 where it has some
  double setup_seconds = 0;                  // all between reading and the first iteration
  std::span<const SolveStory> columns = {};  // of all right-hand sides,
  std::size_t column = 0;                    // of which this is one
};

enum class SolveVerdict {
  solved,
  doubtful,  // the residual is small enough, the error of x is not
  not_solved,
};
SolveVerdict verdict_of(const SolveStory& story);
std::string_view to_string(SolveVerdict);  ///< as in JSON: "solved", "doubtful", "not solved"

/// "residual", "orthogonality": which of them made `outcome` solved.
std::string_view criterion_text(const Outcome& outcome);
/// "3.1e-09"; "0.31, orthogonal to the columns of A to 3.1e-09 (least squares),".
std::string residual_text(const SolveStory& story);
/// Whether it is worth telling how nearly the residual is orthogonal to the columns of A, and what to say of it.
bool orthogonality_matters(const Outcome& outcome);
std::string orthogonality_text(const SolveStory& story);
/// Why x is not to be trusted: "only about 2 digits of x can be trusted: its error is about 1.3e-03".
std::string doubt_text(const Outcome& outcome);
/// "1.3e-07 = max |x_i - x*_i| / max |x*_i|, estimated by 10 more iterations"; empty where nothing is known.
std::string error_text(const SolveStory& story);

/// Why an x that is right by factors misses the target.
Diagnosis limit_of_precision(const SolveStory& story);
/// Why factors that --method direct asks for were not made in time, and what time they take by their forecast.
Diagnosis too_little_time(const SolveStory& story);

/// "singular: the constants are its null space ..."; empty where nothing is known.
std::string singular_text(const Singular& singular, bool solved);
/// Why no x solves it, if that is so.
std::optional<Diagnosis> inconsistency(const SolveStory& story);

/// What may give more digits.
struct MoreDigits {
  std::string options = {};  // of the command line; empty where none helps
  std::string cost = {};     // "about 13 iterations more", or why none helps
};
MoreDigits more_digits(const SolveStory& story);

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
/// "8 right-hand sides, all solved; the worst of them is column 3"
std::string columns_text(const SolveStory& story);
/// Of several columns each: its name, and how it was solved; where they are many, without --verbose, the first ones.
std::vector<std::pair<std::string, std::string>> column_facts(const SolveStory& story);
/// A list with an object for each column.
Json columns_json(const SolveStory& story);
/// The sum of what took time for each.
double over_columns(const SolveStory& story, double Outcome::*seconds);
/// What the iteration believed of the x that it returned; negative where it kept no note of that.
double believed(const Summary& summary);
/// What the relative residual must not exceed.
double tolerance_of(const SolveStory& story);

std::string solve_text(const SolveStory& story, const Terminal& terminal);
Json solve_json(const SolveStory& story);
/// One page for a browser: verdict, what was run, the residual after each iteration, times, the command.
std::string solve_page(const SolveStory& story);

struct Written {
  std::string x;        // the file that x is in, or empty
  std::string failure;  // what could not be written, and why; empty if all was
};
/// x and the history. If --out cannot be written, x goes to a folder of its own among the temporary files: it may have taken
/// hours.
Written write_results(const SolveOptions& options, const std::vector<Outcome>& outcomes);
/// Says before a solve if the disk of --out may have no room for so many numbers.
void say_if_disk_is_full(const SolveOptions& options, std::int64_t numbers);

}  // namespace seidel::drivers
