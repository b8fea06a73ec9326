// What factors tell of a least-squares solution that an iteration found.
#include <seidel/drivers/solve_least_squares.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <seidel/drivers/memory_plan.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>
#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/matrix_operator.hpp>

namespace seidel::drivers {

namespace {

using V = Vector<double, OpenMP>;
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

void refine_least_squares(const OpenMP& host, const DirectSystem& system, HostSpan<const double> x0, double norm_2_of_A,
                          double seconds, const Criteria& criteria, Outcome& outcome) {
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
  V x(host, copied_to<Host>(host, outcome.x.span())), r = like(b), c(host, rows);
  if (wide) {
    std::transform(x0.begin(), x0.end(), c.span().begin(), [=](double x) { return size * x; });
    std::copy(b.span().begin(), b.span().end(), c.span().begin() + above);
  } else {
    std::copy(b.span().begin(), b.span().end(), c.span().begin());
  }
  Outcome both;  // of (y, x)
  both.x = Array<double>(rows, 0.0);
  both.summary.norm_b = norm2(c);
  Criteria any;
  any.relative_tolerance = std::numeric_limits<double>::infinity();
  refine_directly(host, {.A = K.view(), .b = c.span(), .norm_inf_of_A = 1}, factors, Refine::x, any, both);
  if (both.error_source != ErrorSource::refinement) return;

  const double size_of_both = max_abs(V(host, both.x.span()));
  V finer_x(host, copied_to<Host>(host, HostSpan<const double>(both.x.data() + first_of_x, A.ncols)));
  const double size_of_x = max_abs(finer_x), rounding = both.error * size_of_both;
  Outcome finer;
  finer.summary.norm_b = outcome.summary.norm_b;
  const TransposableMatrix products(MatrixOperator(host, Product(host, A)),
                                    MatrixOperator(host, Product(host, At.view())));
  finer.certificate = certify_least_squares(host, A, products, finer_x, b, system.norm_inf_of_A, norm_2_of_A);
  note_solved(criteria, finer);
  axpy(-1, finer_x, x);
  outcome.error_source = ErrorSource::refinement;
  outcome.at_least = false;
  outcome.error = std::max(rounding, finer.solved ? 0.0 : double(max_abs(x))) / size_of_x;
  if (finer.solved) {
    outcome.certificate = finer.certificate;
    outcome.least_squares = finer.least_squares;
    outcome.summary.norm_x = norm2(finer_x);
    outcome.summary.relative_residual = finer.certificate.relative_residual;
    outcome.x = copied_to<Host>(host, finer_x.span());
  }
  outcome.refine_seconds = watch.seconds();
}

}  // namespace seidel::drivers
