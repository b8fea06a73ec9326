// The first steps of `seidel solve`: what was read, and what it looks like.
#include <algorithm>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/memory_plan.hpp>
#include <seidel/drivers/report/command_line.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/solve_load.hpp>
#include <seidel/drivers/vector_source.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>
#include <seidel/kernels/spmv/spmv.hpp>
#include <seidel/solvers/finite.hpp>

namespace seidel::drivers {

namespace {

void require_solvable(const SolveOptions& options, const LoadedMatrix& loaded, const MatrixProperties& properties) {
  const auto& A = loaded.matrix;
  if (A.nrows != A.ncols && options.request.goal != Goal::least_squares)
    throw ShapeError(
        formatted("{}: found {} and {}, expected as many rows as columns\n"
                  "  the x with the least ||b - Ax||, of those the smallest: {}",
                  loaded.name, plural(A.nrows, "row"), plural(A.ncols, "column"),
                  command_with(options.command_line, "--least-squares")));
  if (properties.nonfinite > 0) {
    const std::string place =
        loaded.file && !loaded.file->first_nonfinite.empty() ? loaded.file->first_nonfinite : loaded.name;
    throw InputError(
        formatted("{}: found {} NaN or infinite (first at row {}, column {}), expected finite numbers\n"
                  "  seidel info and seidel convert take such a matrix, seidel solve does not",
                  place, plural(properties.nonfinite, "entry that is", "entries that are"),
                  properties.first_nonfinite_row + 1, properties.first_nonfinite_col + 1));
  }
}

/// Row pointers of 32 bits, half the bytes to read in each product; empty where they do not hold the number of entries.
Array<std::int32_t> narrowed(const OpenMP& host, const Array<std::int64_t>& row_ptr) {
  if (row_ptr[row_ptr.size() - 1] > std::numeric_limits<std::int32_t>::max()) return {};
  Array<std::int32_t> narrow(row_ptr.size());
  for_shares(host, row_ptr.size(), 1, [&](std::int64_t first, std::int64_t last, int) {
    std::copy(row_ptr.begin() + first, row_ptr.begin() + last, narrow.begin() + first);
  });
  return narrow;
}

/// A times ones, or, where that is zero, times a vector of 1 and -1. Errors  InputError for a row whose sum overflows.
template <Backend B, class Offset>
Array<double, SpaceOf<B>> default_rhs(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A, bool ones_vanish,
                                      const std::string& name) {
  const Array<double> x = known_solution(A.ncols, ones_vanish);
  const auto there = copied_to<SpaceOf<B>>(on, x.span());
  Array<double, SpaceOf<B>> b(on, A.nrows);
  spmv<B>(on, A, there.span(), b.span());
  if (const std::int64_t row = first_nonfinite(on, std::as_const(b).span()); row >= 0)
    throw InputError(
        formatted("{}: found row {} whose sum overflows, expected A * ones, the right-hand side, to be "
                  "finite\n  give another one with --rhs, or scale A down",
                  name, row + 1));
  return b;
}

}  // namespace

Loaded load(const SolveOptions& options) {
  const Stopwatch reading;
  const auto state_plan = [&](std::int64_t nrows, std::int64_t nnz) {
    const bool cuda = place(options, nnz).backend == BackendName::cuda;
    const MemoryPlan least = plan_read(nrows, nnz, options.request, cuda, without_margin(available_bytes(Host{})));
    least.require();
    if (cuda) plan_read_for_gpu(nrows, nnz, options.request, without_margin(available_bytes(Device{}))).require();
    if (options.verbose || least.large()) say(options, "at least " + least.text());
  };
  Loaded loaded{.matrix = load_matrix(options.matrix, options, options.repair, state_plan)};
  const auto& A = loaded.matrix.matrix;
  if (!options.rhs.empty()) {
    auto columns = load_vectors("--rhs", options.rhs, A.nrows, loaded.matrix.name, options);
    loaded.b = std::move(columns.front());
    loaded.more_b.assign(std::move_iterator(columns.begin() + 1), std::move_iterator(columns.end()));
  }
  if (!options.x0.empty()) loaded.x0 = load_vector("--x0", options.x0, A.ncols, loaded.matrix.name, options);
  loaded.near_null = load_near_null(options, loaded.matrix);
  loaded.seconds = reading.seconds();
  return loaded;
}

Array<double> known_solution(Index n, bool ones_vanish) {
  Array<double> x(n, 1.0);
  if (ones_vanish)
    for (Index i = 0; i < n; ++i) x[i] = (i * 2654435761U >> 7) & 1 ? 1 : -1;
  return x;
}

LoadedThere upload(const Cuda& on, const Loaded& loaded) {
  if (loaded.row_ptr.empty()) return {.wide = copied_to<Device>(on, loaded.wide())};
  return {.narrow = copied_to<Device>(on, loaded.narrow())};
}

Inspected inspect(const SolveOptions& options, const Placement& where, Loaded& loaded, LoadedThere& there) {
  const std::string& name = loaded.matrix.name;
  const auto look = [&](const auto& on, const auto& A, auto& b) {
    Inspected seen{.properties = properties(on, A)};
    require_solvable(options, loaded.matrix, seen.properties);
    seen.rows = row_statistics(on, A);
    if (options.rhs.empty()) b = default_rhs(on, A, ones_vanish(seen.properties, seen.rows), name);
    return seen;
  };
  if constexpr (built_with_cuda)
    if (where.gpu) return there.with_matrix([&](const auto& A) { return look(*where.gpu, A, there.b); });
  return look(host_threads(options), loaded.wide(), loaded.b);
}

void narrow(const SolveOptions& options, Loaded& loaded) {
  loaded.row_ptr = narrowed(host_threads(options), loaded.matrix.matrix.row_ptr);
}

}  // namespace seidel::drivers
