// What `seidel solve` works on: A x = b as it was read, where it is solved, and what its entries show.
#pragma once
#include <variant>

#include <seidel/drivers/matrix_source.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/csr.hpp>
#include <seidel/formats/multivector.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/statistics.hpp>
#include <seidel/solvers/null_space.hpp>
#include <seidel/solvers/preconditioners/list.hpp>

namespace seidel::drivers {

struct Outcome;

/// What a user knows of the smooth error of A: --coordinates, --near-null.
struct LoadedNearNull {
  MultiVector<double> vectors = MultiVector<double>(0, 0, Layout::column_major);
  Index unknowns_per_node = 0;

  NearNullVectors view() const { return {vectors.view(), unknowns_per_node}; }
};

/// A matrix with row pointers of 32 bits, half the bytes to read in each product, or of 64.
template <class Space>
using AnyCsr = std::variant<Csr<double, std::int32_t, Space>, Csr<double, std::int64_t, Space>>;
/// A, if it has such offsets, else an empty matrix.
template <class Offset, class Space>
CsrView<double, Offset, Space> view_with(const AnyCsr<Space>& A) {
  const auto* const held = std::get_if<Csr<double, Offset, Space>>(&A);
  return held ? held->view() : CsrView<double, Offset, Space>{};
}

/// What the entries of a matrix show.
struct Inspected {
  MatrixProperties properties = {};
  RowStatistics rows = {};

  /// Whether every row of A sums to zero: then A * ones = 0 tells nothing of a solver.
  bool ones_vanish() const { return rows.nrows > 0 && properties.zero_row_sums == rows.nrows; }
  /// Whether fewer rows than columns have entries: then A x = A * ones has smaller solutions than ones.
  bool has_dependent_columns() const { return rows.nrows - rows.empty_rows < rows.ncols; }
};

/// Solved is 2^-of_A A x' = 2^-of_b b, x = 2^(of_b - of_A) x', so that the products of a system whose numbers are all tiny or huge
/// stay in the range of double. Powers of two round nothing; they are 0 where sizes are usual.
struct Units {
  int of_A = 0;
  bool negated = false;  // solved is -A x = -b: the whole diagonal of A is negative, which cg and multigrid do not take
  std::vector<int> of_b = {};  // of each column
};
/// Whether signs are turned.
inline bool is_negated(const MatrixProperties& A, const RowStatistics& rows) {
  return A.square && rows.nrows > 0 && A.diagonal_negative == rows.nrows;
}
/// What comes before the reasons for a method then.
inline constexpr const char* negated_because =
    "with the signs of A and b turned, because the whole diagonal of A is negative: ";

struct Problem {
  const SolveOptions& options;
  OpenMP host = host_threads(options);
  LoadedMatrix matrix = {};
  std::vector<Array<double>> b = std::vector<Array<double>>(1);  // one or more; empty: A * ones, made by inspect()
  Array<double> x0 = {};                                         // empty: zeros
  LoadedNearNull near_null = {};
  double read_seconds = 0;
  Array<std::int32_t> row_ptr = {};  // of A, too; empty where 32 bits do not hold the number of entries
  Placement where = {};
  AnyCsr<Device> there = {};           // in the memory of the GPU that solves with it,
  Array<double, Device> b_there = {};  // and A * ones
  Inspected seen = {};
  Units units = {};
  NullSpace null_space = {};

  bool least_squares() const { return options.request.goal == Goal::least_squares; }
  CsrView<double, std::int64_t, Host> wide() const { return matrix.matrix.view(); }
  CsrView<double, std::int32_t, Host> narrow() const {
    const auto& A = matrix.matrix;
    return {A.nrows, A.ncols, row_ptr, A.col_idx, A.values};
  }
  bool is_narrow() const { return !row_ptr.empty(); }
  /// look(A) with row pointers of 32 bits, if there are any.
  auto with_matrix(const auto& look) const { return is_narrow() ? look(narrow()) : look(wide()); }
  std::int64_t bytes_there() const;
};

/// Reads or makes what the options name, for so many GPUs, if for any.
Problem load(const SolveOptions& options, int processes);
/// Reads what was asked for; nothing if nothing was.
/// Errors  InputError: another number of rows or columns than A needs, entries that are not finite, dependent columns.
LoadedNearNull load_near_null(const SolveOptions& options, const LoadedMatrix& A);
/// Decides where it is solved, by the processes of a team if there is one; makes row pointers of 32 bits, where they
/// hold the number of entries.
void place(Problem& problem, Team* team);
/// Brings the matrix to where it is solved, looks at it there, and makes b there unless one was given. Errors  ShapeError,
/// InputError for what cannot be solved.
void inspect(Problem& problem);
/// The x of the right-hand side that is made: ones, or, where A * ones = 0, signs.
Array<double> known_solution(const Problem& problem);

/// Brings A to size 1, if it is tiny or huge and no entry underflows; makes its diagonal positive, if all of it is negative.
/// Returns whether it changed: then it must be inspected again.
bool change_units_of_A(Problem& problem);
/// Brings b and x0 to size 1, too, and b to the sign of A. All columns get the same unit where an absolute tolerance or x0, which
/// is for all of them, has it.
void change_units_of_b(Problem& problem);
/// x of a column, and the norms of x and b, in their own units. Where x loses digits or its range there, it is certified again, as a solution
/// for b.
void restore_units(const Problem& problem, std::size_t column, HostSpan<const double> b, Outcome& outcome);
/// Makes problem.seen what is to be told of A, and criteria_of() what is to be told of b.
void tell_in_own_units(Problem& problem);

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

/// What that means for a right-hand side. Takes from it what no x gives: what is left has a least-squares solution.
Singular look_at_rhs(const Problem& problem, Array<double>& b);

/// Takes from x its part in the null space, and judges it anew, on the host.
void finish_singular(const Problem& problem, const Singular& singular, HostSpan<const double> b, Outcome& outcome);

}  // namespace seidel::drivers
