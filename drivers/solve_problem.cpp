// The first steps of `seidel solve`: what was read, and what it looks like.
#include <seidel/drivers/solve_problem.hpp>

#include <algorithm>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/direct.hpp>
#include <seidel/drivers/memory_plan.hpp>
#include <seidel/drivers/report/command_line.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/solve_team.hpp>
#include <seidel/drivers/vector_source.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>
#include <seidel/kernels/spmv/spmv.hpp>
#include <seidel/solvers/finite.hpp>

namespace seidel::drivers {

namespace {

void require_solvable(const Problem& problem) {
  const auto& [name, A, file, seconds] = problem.matrix;
  const MatrixProperties& properties = problem.seen.properties;
  if (A.nrows != A.ncols && !problem.least_squares())
    throw ShapeError(
        formatted("{}: found {} and {}, expected as many rows as columns\n"
                  "  the x with the least ||b - Ax||, of those the smallest: {}",
                  name, plural(A.nrows, "row"), plural(A.ncols, "column"),
                  command_with(problem.options.command_line, "--least-squares")));
  if (properties.nonfinite > 0)
    throw InputError(
        formatted("{}: found {} NaN or infinite (first at row {}, column {}), expected finite numbers\n"
                  "  seidel info and seidel convert take such a matrix, seidel solve does not",
                  file && !file->first_nonfinite.empty() ? file->first_nonfinite : name,
                  plural(properties.nonfinite, "entry that is", "entries that are"), properties.first_nonfinite_row + 1,
                  properties.first_nonfinite_col + 1));
}

/// A times ones, or, where that is zero, times a vector of 1 and -1. Errors  InputError for a row whose sum overflows.
template <Backend B, class Offset>
Array<double, SpaceOf<B>> default_rhs(const Problem& problem, const B& on,
                                      const CsrView<double, Offset, SpaceOf<B>>& A) {
  const Array<double> x = known_solution(problem);
  const auto there = copied_to<SpaceOf<B>>(on, x.span());
  Array<double, SpaceOf<B>> b(on, A.nrows);
  spmv<B>(on, A, there.span(), b.span());
  if (const std::int64_t row = first_nonfinite(on, std::as_const(b).span()); row >= 0)
    throw InputError(
        formatted("{}: found row {} whose sum overflows, expected A * ones, the right-hand side, to be "
                  "finite\n  give another one with --rhs, or scale A down",
                  problem.matrix.name, row + 1));
  return b;
}

}  // namespace

Problem load(const SolveOptions& options, int processes) {
  const Stopwatch reading;
  const auto state_plan = [&](std::int64_t nrows, std::int64_t ncols, std::int64_t nnz) {
    const bool cuda = place(options, nnz).backend == BackendName::cuda;
    const MemoryPlan least =
        plan_read(nrows, ncols, nnz, options.request, cuda, without_margin(available_bytes(Host{})));
    least.require();
    if (cuda)
      plan_read_for_gpu(nrows, ncols, nnz, options.request, processes * without_margin(available_bytes(Device{})))
          .require();
    if (options.verbose || least.large()) say(options, "at least " + least.text());
  };
  Problem problem{.options = options, .matrix = load_matrix(options.matrix, options, options.repair, state_plan)};
  const auto& [name, A, file, seconds] = problem.matrix;
  if (!options.rhs.empty()) problem.b = load_vectors("--rhs", options.rhs, A.nrows, name, options);
  if (!options.x0.empty()) problem.x0 = load_vector("--x0", options.x0, A.ncols, name, options);
  problem.near_null = load_near_null(options, problem.matrix);
  problem.read_seconds = reading.seconds();
  return problem;
}

void place(Problem& problem, Team* team) {
  const Csr<double, std::int64_t>& A = problem.matrix.matrix;
  problem.where = problem.options.request.method == direct_method
                      ? Placement{.because = "factors are computed on one core"}
                      : place(problem.options, A.nnz());
  if (A.nnz() <= std::numeric_limits<std::int32_t>::max()) {
    problem.row_ptr = Array<std::int32_t>(A.row_ptr.size());
    for_shares(problem.host, A.row_ptr.size(), 1, [&](std::int64_t first, std::int64_t last, int) {
      std::copy(A.row_ptr.begin() + first, A.row_ptr.begin() + last, problem.row_ptr.begin() + first);
    });
  }
  // Processes that share A have their parts of it on GPUs; the first one looks at all of it on the host.
  if (team) {
    problem.where.team = team;
    problem.where.threads = team->threads();
    if (problem.where.backend != BackendName::cuda)
      problem.where.backend = team->threads() > 1 ? BackendName::openmp : BackendName::serial;
  } else if (problem.where.backend == BackendName::cuda) {
    problem.where.gpu.emplace(CudaSettings{.host = problem.host});
  }
}

Array<double> known_solution(const Problem& problem) {
  const Index n = problem.matrix.matrix.ncols;
  Array<double> x(n, 1.0);
  if (problem.seen.ones_vanish())
    for (Index i = 0; i < n; ++i) x[i] = (i * 2654435761U >> 7) & 1 ? 1 : -1;
  return x;
}

std::int64_t Problem::bytes_there() const {
  return std::visit(
      [&](const auto& A) {
        return 12 * A.nnz() + std::int64_t(sizeof A.row_ptr[0]) * A.row_ptr.size() + 8 * b_there.size();
      },
      there);
}

void inspect(Problem& problem) {
  const auto look = [&](const auto& on, const auto& A, auto& b) {
    problem.seen.properties = properties(on, A);
    require_solvable(problem);
    problem.seen.rows = row_statistics(on, A);
    if (problem.options.rhs.empty()) b = default_rhs(problem, on, A);
  };
  if constexpr (built_with_cuda)
    if (const auto& gpu = problem.where.gpu) {
      problem.there = {}, problem.b_there = {};
      problem.there = problem.with_matrix([&](const auto& A) { return AnyCsr<Device>(copied_to<Device>(*gpu, A)); });
      return std::visit([&](const auto& A) { look(*gpu, A.view(), problem.b_there); }, problem.there);
    }
  look(problem.host, problem.wide(), problem.b.front());
}

}  // namespace seidel::drivers
