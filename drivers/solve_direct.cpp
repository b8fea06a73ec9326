// A system solved by factors of its matrix, and what factors tell of an x that was found otherwise.
#include <seidel/drivers/solve_direct.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <seidel/drivers/memory_plan.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>
#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/matrix_operator.hpp>

namespace seidel::drivers {

namespace {

using V = Vector<double, OpenMP>;
constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr int max_solves = 12;
/// ||A z|| / ||A|| of a z of size 1 that is mapped to zero, but for rounding.
constexpr double max_null = 1e-14;

/// Corrections of x, each from the residual in twice the precision.
struct Refinement {
  std::vector<double> history;  // ||b - A x|| / ||b||: of the start, then after each correction
  double error = 0;             // of the last x, or infinite: A is singular as far as double precision can tell
};

/// What rounding b to double changes in x: d = A^-1 r, where r are rounding errors of b.
void solve_for_rounding_of_b(const DirectSolver& solver, const V& b, V& r, V& d) {
  for (std::int64_t i = 0; i < b.size(); ++i) r.span()[i] = eps * fraction(i) * b.span()[i];
  solver.solve(std::as_const(r).span(), d.span());
}

/// Whether rounding the entries of A changes x by a tenth or more, so that x tells of their last digits alone.
bool is_made_by_rounding(const DirectSystem& system, const DirectSolver& solver, const V& x) {
  V r = like(x), d = like(x);
  for (Index i = 0; i < system.A.nrows; ++i) {
    double sizes = 0;
    for (auto k = system.A.row_ptr[i]; k < system.A.row_ptr[i + 1]; ++k)
      sizes += std::abs(system.A.values[k] * x.span()[system.A.col_idx[k]]);
    r.span()[i] = eps * fraction(i) * sizes;
  }
  solver.solve(std::as_const(r).span(), d.span());
  return !(max_abs(d) <= max_abs(x) / 10);
}

Refinement refined(const DirectSystem& system, const DirectSolver& solver, const V& b, V& x, const Criteria& criteria) {
  Refinement done;
  V r = like(b), d = like(b), best = like(b);
  const double norm_b = norm2(b);
  double correction = std::numeric_limits<double>::infinity(), fell = 1, largest = 0;
  const bool from_zero = max_abs(x) == 0;
  for (int solves = 0;; ++solves) {
    certified_residual(b.on(), system.A, x.span(), b.span(), r.span());
    const double residual = norm2(r) / (norm_b > 0 ? norm_b : 1);
    if (solves > (from_zero ? 1 : 0) && !(residual <= 2 * done.history.back())) {
      copy(best, x);  // that correction did harm
      fell = 1;
      break;
    }
    if (!std::isfinite(residual)) {  // x is beyond the range of double, or the factors are
      copy(best, x);
      done.error = std::numeric_limits<double>::infinity();
      return done;
    }
    done.history.push_back(residual);
    copy(x, best);
    if (solves == max_solves || criteria.stop_requested()) break;
    if (solves > 1 && (correction <= eps || fell > 0.5)) break;
    solver.solve(std::as_const(r).span(), d.span());
    axpy(1, d, x);
    largest = max_abs(x);
    const double now = largest > 0 ? double(max_abs(d)) / largest : 0;
    fell = solves == 0 ? 1 : correction > 0 ? now / correction : 0;
    correction = now;
  }
  largest = std::max(largest, double(max_abs(x)));  // of x*, though a correction toward it may raise the residual
  solve_for_rounding_of_b(solver, b, r, d);
  const double of_b = largest > 0 ? max_abs(d) / largest : 0;
  const double error = std::max({correction * std::min(fell, 1.0), of_b, eps});
  done.error = solver.is_singular() ? std::numeric_limits<double>::infinity() : error;
  return done;
}

void certify(const DirectSystem& system, const V& x, const V& b, const Criteria& criteria, Outcome& outcome) {
  const Stopwatch watch;
  outcome.certificate = seidel::certify(x.on(), system.A, x, b, system.norm_inf_of_A);
  outcome.certify_seconds += watch.seconds();
  Summary& summary = outcome.summary;
  summary.norm_x = norm2(x);
  summary.relative_residual = outcome.certificate.relative_residual;
  note_solved(criteria, outcome);
}

/// Whether some z outside of the space has A z = 0 but for rounding. Inverse iteration from a vector of no kind makes such a z
/// large beside all others; what then is corrected toward A z = 0, since the factors may be those of A + E, remains only
/// if it is one.
bool has_more_null_vectors(const NullSpace& space, const DirectSystem& system, const DirectSolver& solver, V& z) {
  V zero = like(z), Az = like(z), d = like(z);
  for (std::int64_t i = 0; i < z.size(); ++i) d.span()[i] = fraction(i);
  (void)space.project(d.span());
  solver.solve(std::as_const(d).span(), z.span());
  (void)space.project(z.span());
  axpby(0, d, 1 / double(max_abs(z)), z);
  const auto multiply = [&] {  // -A z
    certified_residual(z.on(), system.A, std::as_const(z).span(), std::as_const(zero).span(), Az.span());
  };
  multiply();
  solver.solve(std::as_const(Az).span(), d.span());
  axpy(1, d, z);
  (void)space.project(z.span());
  multiply();
  return max_abs(z) >= 0.1 && max_abs(Az) <= max_null * system.norm_inf_of_A;
}

void note_error(const DirectSystem& system, double error, const V& x, Outcome& outcome) {
  outcome.singular = !std::isfinite(error);
  outcome.note_error(outcome.singular ? ErrorSource::singular : ErrorSource::refinement, error);
  if (!system.ones) return;
  outcome.error_against_ones = 0;
  for (const double v : x.span()) outcome.error_against_ones = std::max(outcome.error_against_ones, std::abs(v - 1));
  outcome.note_error(ErrorSource::exact, outcome.error_against_ones);
}

using View = CsrView<double, std::int32_t, Host>;

/// [size I, T; T' 0]
Csr<double, std::int32_t> augmented(double size, const View& T, const View& Tt) {
  Csr<double, std::int32_t> K;
  K.nrows = K.ncols = T.nrows + T.ncols;
  K.row_ptr = Array<std::int32_t>(K.nrows + 1, 0);
  K.col_idx = Array<Index>(T.nrows + 2 * T.nnz());
  K.values = Array<double>(T.nrows + 2 * T.nnz());
  std::int32_t k = 0;
  const auto put = [&](Index column, double value) { K.col_idx[k] = column, K.values[k] = value, ++k; };
  for (Index row = 0; row < K.nrows; ++row) {
    const bool above = row < T.nrows;
    const View& block = above ? T : Tt;
    const Index i = above ? row : row - T.nrows, first_column = above ? T.nrows : 0;
    if (above) put(row, size);
    for (std::int32_t j = block.row_ptr[i]; j < block.row_ptr[i + 1]; ++j)
      put(first_column + block.col_idx[j], block.values[j]);
    K.row_ptr[row + 1] = k;
  }
  return K;
}

}  // namespace

Outcome solve_directly(const DirectSystem& system, DirectSolver& solver, const Criteria& criteria) {
  const OpenMP& host = system.host;
  Outcome outcome;
  Summary& summary = outcome.summary;
  const Stopwatch watch;
  const V b(host, copied_to<Host>(host, system.b));
  V x(host, b.size());
  summary.method = "direct";
  summary.norm_b = norm2(b);
  outcome.product_format = "CSR";
  const double spent = solver.seconds();
  const bool in_time = solver.forecast().seconds <= criteria.seconds;
  const bool regular = in_time && solver.factorise();
  const bool nearby = in_time && !regular && solver.factorise_nearby();
  outcome.preconditioner = solver.description();
  Refinement done{.history = {1}, .error = std::numeric_limits<double>::infinity()};
  if (regular || nearby) done = refined(system, solver, b, x, criteria);
  certify(system, x, b, criteria, outcome);
  const bool vain = regular && outcome.certificate.relative_residual >= 0.5 &&
                    (!std::isfinite(done.error) || is_made_by_rounding(system, solver, x));
  if (vain || (nearby && !outcome.solved)) {  // of no use: there is no solution, or E is too large for A
    fill(x, 0);
    done = {.history = {1}, .error = std::numeric_limits<double>::infinity()};
    certify(system, x, b, criteria, outcome);
  }
  summary.history = done.history;
  summary.iterations = summary.returned_iteration = std::int64_t(done.history.size()) - 1;
  if (regular || (nearby && outcome.solved))
    note_error(system, regular ? done.error : std::numeric_limits<double>::infinity(), x, outcome);
  if (outcome.solved) {
    summary.end(Status::converged, "the true residual is within the tolerance");
  } else if (criteria.stop_requested()) {
    summary.end(Status::interrupted, "a stop was requested");
  } else if (regular) {
    summary.end(Status::stagnated, "further corrections by the factors do not reduce the residual");
  } else if (solver.given_up()) {
    summary.end(Status::time_limit, "the limit of time is reached");
  } else if (in_time) {
    summary.breakdown = Breakdown::zero_pivot;
    summary.end(Status::breakdown, "a pivot of its factors is zero");
  } else {
    summary.end(Status::time_limit, formatted("factorising takes about {}, longer than the limit of time",
                                              human_seconds(solver.forecast().seconds)));
  }
  const double all = watch.seconds();
  outcome.setup_seconds = outcome.preconditioner_seconds = solver.seconds();
  outcome.solve_seconds = summary.seconds = all - (solver.seconds() - spent);
  summary.attempts = {summary.as_attempt()};
  summary.attempts.back().preconditioned = false;
  summary.attempts.back().seconds = all;
  outcome.x = copied_to<Host>(host, x.span());
  return outcome;
}

void refine_directly(const DirectSystem& system, DirectSolver& solver, Refine what, const Criteria& criteria,
                     Outcome& outcome) {
  const OpenMP& host = system.host;
  const Stopwatch watch;
  if (!solver.factorise()) {
    if (solver.given_up()) return;
    if (outcome.error_source != ErrorSource::exact) outcome.error_source = ErrorSource::singular;
    if (outcome.error_source == ErrorSource::singular) outcome.error = std::numeric_limits<double>::infinity();
    return;
  }
  const V b(host, copied_to<Host>(host, system.b));
  V x(host, copied_to<Host>(host, outcome.x.span()));
  const Refinement done = refined(system, solver, b, x, {});
  Outcome finer;
  finer.summary.norm_b = outcome.summary.norm_b;
  if (what == Refine::x) certify(system, x, b, criteria, finer);
  outcome.certify_seconds += finer.certify_seconds;
  if (finer.solved) {
    outcome.certificate = finer.certificate;
    outcome.summary.norm_x = finer.summary.norm_x;
    outcome.summary.relative_residual = finer.summary.relative_residual;
    outcome.x = copied_to<Host>(host, x.span());
    outcome.refined = true;
    note_error(system, done.error, x, outcome);
  } else if (outcome.error_source != ErrorSource::exact) {
    V change(host, copied_to<Host>(host, outcome.x.span()));
    axpy(-1, x, change);
    note_error(system, std::max(done.error, double(max_abs(change)) / double(max_abs(x))), x, outcome);
  }
  outcome.refine_seconds = watch.seconds();
}

void refine_outside(const NullSpace& space, const DirectSystem& system, DirectSolver& solver, Outcome& outcome) {
  const OpenMP& host = system.host;
  const Stopwatch watch;
  if (!solver.factorise() && !solver.factorise_nearby()) return;
  const V b(host, copied_to<Host>(host, system.b)), x(host, copied_to<Host>(host, outcome.x.span()));
  V r = like(b), d = like(b), Ad = like(b);
  if (has_more_null_vectors(space, system, solver, d)) {
    outcome.note_error(ErrorSource::singular, std::numeric_limits<double>::infinity());
    outcome.refine_seconds = watch.seconds();
    return;
  }
  if (outcome.error_source == ErrorSource::exact) return;
  certified_residual(host, system.A, x.span(), b.span(), r.span());
  solver.solve(std::as_const(r).span(), d.span());
  (void)space.project(d.span());
  certified_residual(host, system.A, std::as_const(d).span(), std::as_const(r).span(), Ad.span());
  const double rounding = 4 * eps * (system.norm_inf_of_A * norm2(x) + norm2(b));
  if (!(norm2(Ad) <= std::max(norm2(r) / 2, rounding))) return;
  const double correction = max_abs(d), largest = max_abs(x);
  solve_for_rounding_of_b(solver, b, r, d);
  (void)space.project(d.span());
  outcome.note_error(ErrorSource::refinement,
                     largest > 0 ? std::max({correction, double(max_abs(d)), eps * largest}) / largest : eps);
  outcome.refine_seconds = watch.seconds();
}

void refine_least_squares(const DirectSystem& system, HostSpan<const double> x0, double norm_2_of_A, double seconds,
                          const Criteria& criteria, Outcome& outcome) {
  const OpenMP& host = system.host;
  const View& A = system.A;
  const std::int64_t rows = std::int64_t(A.nrows) + A.ncols, nnz = std::max(A.nrows, A.ncols) + 2 * A.nnz();
  const std::int64_t available = without_margin(available_bytes(Host{}));
  constexpr std::int64_t bytes_per_nonzero = 100;  // to count what factors take
  if (std::max(rows, nnz) >= std::numeric_limits<std::int32_t>::max() || !(seconds_to_count(nnz) <= seconds) ||
      bytes_per_nonzero * nnz > available)
    return;
  const Stopwatch watch;
  const auto At = transpose(host, A);
  const bool wide = A.ncols > A.nrows;
  const Index above = std::max(A.nrows, A.ncols), first_of_x = wide ? 0 : above;
  double size = 0;  // of the entries of A, so that x and y are of one size
  for (const double a : A.values) size = std::max(size, std::abs(a));
  const auto K = wide ? augmented(size, At.view(), A) : augmented(size, A, At.view());
  DirectSolver factors(K.view(), false);
  if (!(factors.forecast().seconds <= seconds) || 2 * factors.forecast().bytes > available) return;

  const V b(host, copied_to<Host>(host, system.b));
  V x(host, copied_to<Host>(host, outcome.x.span())), c(host, rows);
  if (wide) std::transform(x0.begin(), x0.end(), c.span().begin(), [=](double start) { return size * start; });
  std::copy(b.span().begin(), b.span().end(), c.span().begin() + (wide ? above : 0));
  Outcome both;  // of (y, x)
  both.x = Array<double>(rows, 0.0);
  both.summary.norm_b = norm2(c);
  Criteria any;
  any.relative_tolerance = std::numeric_limits<double>::infinity();
  refine_directly({.A = K.view(), .b = c.span(), .host = host, .norm_inf_of_A = 1}, factors, Refine::x, any, both);
  if (both.error_source != ErrorSource::refinement) return;

  // The error of x alone: that of y may be larger by the square of the condition of A.
  V r(host, rows), d(host, rows);
  const auto largest_of_x = [&](const V& both) {
    return max_abs<OpenMP, double>(host, both.span().subspan(first_of_x, A.ncols));
  };
  const V z(host, std::move(both.x));
  certified_residual(host, K.view(), z.span(), std::as_const(c).span(), r.span());
  factors.solve(std::as_const(r).span(), d.span());
  const double size_of_x = largest_of_x(z), correction = largest_of_x(d);
  solve_for_rounding_of_b(factors, c, r, d);
  const double rounding = std::max({correction, largest_of_x(d), eps * size_of_x});
  V finer_x(host, copied_to<Host>(host, z.span().subspan(first_of_x, A.ncols)));
  Outcome finer;
  finer.summary.norm_b = outcome.summary.norm_b;
  const TransposableMatrix products(MatrixOperator(host, Product(host, A)),
                                    MatrixOperator(host, Product(host, At.view())));
  finer.certificate = certify_least_squares(host, A, products, finer_x, b, system.norm_inf_of_A, norm_2_of_A);
  note_solved(criteria, finer);
  if (!finer.solved && !outcome.solved) return;
  axpy(-1, finer_x, x);
  outcome.note_error(ErrorSource::refinement, std::max(rounding, finer.solved ? 0.0 : double(max_abs(x))) / size_of_x);
  if (finer.solved) {
    if (!outcome.solved)
      outcome.summary.end(Status::converged,
                          formatted("factors of [s I, {}] gave x, whose residual is within the tolerance",
                                    wide ? "A'; A 0" : "A; A' 0"));
    outcome.solved = true;
    outcome.certificate = finer.certificate;
    outcome.least_squares = finer.least_squares;
    outcome.summary.norm_x = norm2(finer_x);
    outcome.summary.relative_residual = finer.certificate.relative_residual;
    outcome.x = copied_to<Host>(host, finer_x.span());
    outcome.refined = true;
  }
  outcome.refine_seconds = watch.seconds();
}

}  // namespace seidel::drivers
