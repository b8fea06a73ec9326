// A = L D L' or P A Q = L U by Eigen: what a factorisation would take, and what it solves.
#include <seidel/drivers/direct.hpp>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/signals.hpp>
#include <seidel/formats/arrange.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>
#include <seidel/kernels/certificate/certificate.hpp>

namespace seidel::drivers {

constinit const Method direct_method = {
    .name = "direct",
    .help = "factors of A, LDL' or LU, and refinement in twice the precision; on one core",
    .only_with = "none",
    .vectors = [](const MethodChoice&) -> std::int64_t { return 3; }};

namespace {

using Sparse = Eigen::SparseMatrix<double, Eigen::ColMajor, std::int32_t>;
using RowMajor = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;
using Order = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, std::int32_t>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;
Eigen::Map<Eigen::VectorXd> vector_of(Array<double>& v) { return {v.data(), v.size()}; }

// A pivot on the diagonal may be smaller than others of its column by this. With 1, partial pivoting, factors of some matrices have ten
// times the entries that are forecast, with 0.1 or less the same as forecast, and solutions have the same digits.
constexpr double min_pivot = 0.01;
// Flops per second, half of what one core of an AMD EPYC makes of poisson3d:32 (LDL') and less of convdiff:30x30x30 (LU, whose
// columns go in blocks); and beside them the time to order and to count, per nonzero of A, and to move an entry of the factors.
constexpr double flops_per_second = 1e9, flops_per_second_of_lu = 2e9, seconds_per_nonzero = 2e-7,
                 seconds_per_entry = 2e-8;

Eigen::Map<const RowMajor> rows_of(const CsrView<double, std::int32_t, Host>& A) {
  return {A.nrows, A.ncols, A.nnz(), A.row_ptr.data(), A.col_idx.data(), A.values.data()};
}

/// Scales of rows and columns alike that bring a positive diagonal to between 1 and 4.
Arrangement unit_diagonal(const RowMajor& A) {
  Array<double> scale(A.rows()), same(A.rows());
  const Eigen::VectorXd diagonal = A.diagonal();
  for (Index i = 0; i < A.rows(); ++i) scale[i] = same[i] = std::ldexp(1.0, -(std::ilogb(diagonal[i]) >> 1));
  return {.row_scale = std::move(scale), .column_scale = std::move(same)};
}

/// Entries below the diagonal of each column of the Cholesky factor of the pattern of P (A + A') P'.
/// Source  Davis, Algorithm 849: A concise sparse Cholesky factorization package, ACM TOMS 31(4), 2005.
std::vector<std::int64_t> column_counts(const Sparse& A) {
  const auto n = std::int32_t(A.cols());
  std::vector<std::int32_t> parent(n, -1), seen(n, -1);
  std::vector<std::int64_t> counts(n, 0);
  for (std::int32_t k = 0; k < n; ++k) {
    seen[k] = k;
    for (Sparse::InnerIterator it(A, k); it; ++it)
      for (std::int32_t i = it.row(); i < k && seen[i] != k; i = parent[i]) {  // from i toward the root
        if (parent[i] < 0) parent[i] = k;
        ++counts[i];
        seen[i] = k;
      }
  }
  return counts;
}

}  // namespace

double seconds_to_count(std::int64_t nnz) { return seconds_per_nonzero * double(nnz); }

struct DirectSolver::Factors {
  bool positive = false;
  bool nearby = false;
  std::optional<bool> regular = {};  // what factorise() found
  DirectForecast forecast = {};
  /// Of LU: row_of[j] is the row whose entry in column j should be large, and becomes the diagonal. The scales keep pivots from
  /// being chosen by the units of the rows. Of LDL': the scales bring the diagonal to about 1, so that no pivot is too small to
  /// divide by.
  Arrangement to = {};
  Order rows = {}, columns = {};  // then diagonal entries are taken in this order, in which factors have few entries
  Eigen::SimplicialLDLT<Sparse, Eigen::Lower, Eigen::NaturalOrdering<std::int32_t>> cholesky = {};
  Eigen::SparseLU<Sparse, Eigen::NaturalOrdering<std::int32_t>> lu = {};

  std::pair<ConstVector, ConstVector> scales() const {
    return {{to.row_scale.data(), to.row_scale.size()}, {to.column_scale.data(), to.column_scale.size()}};
  }
  /// R A C with its rows and columns in their order.
  Sparse arranged(const Sparse& A) const {
    const auto [R, C] = scales();
    Sparse scaled = R.asDiagonal() * A * C.asDiagonal();
    scaled = rows * scaled;
    return scaled * columns.inverse();
  }
  void find_diagonal(const RowMajor& A);
  void find_order(const RowMajor& A);
  /// Of A, arranged. Other pivots than those on the diagonal are taken only where these are much smaller: that keeps the order, and
  /// refinement brings back the digits that it loses.
  void make_lu(const Sparse& A) {
    lu.isSymmetric(true);  // keeps the order, too
    lu.setPivotThreshold(min_pivot);
    lu.compute(arranged(A));
  }
};

void DirectSolver::Factors::find_diagonal(const RowMajor& A) {
  const auto n = Index(A.rows());
  rows.setIdentity(n);
  columns.setIdentity(n);
  if (positive) {
    to = unit_diagonal(A);
  } else {
    Matching found = max_product_matching(CsrView<double, std::int32_t, Host>{
        n, n, {A.outerIndexPtr(), n + 1}, {A.innerIndexPtr(), A.nonZeros()}, {A.valuePtr(), A.nonZeros()}});
    for (Index column = 0; column < n; ++column) rows.indices()[found.arrangement.row_of[column]] = column;
    to = std::move(found.arrangement);
    if (found.matched < n) regular = false;  // whatever its values are; Eigen does not end where there are no entries
  }
}

void DirectSolver::Factors::find_order(const RowMajor& A) {
  const auto n = Index(A.rows());
  rows = columns.inverse() * rows;  // with the pivots on the diagonal again
  const Sparse one = rows * Sparse(A), other = one.transpose(), pattern = one + other;  // entries that cancel stay
  Order backward;
  Eigen::AMDOrdering<std::int32_t>()(pattern, backward);
  columns = backward.inverse();
  rows = columns * rows;
  Sparse ordered(n, n);
  ordered = pattern.twistedBy(columns);
  const double factors = positive ? 1 : 2;
  forecast = {};
  for (const std::int64_t below : column_counts(ordered)) {
    forecast.entries += std::int64_t(factors) * (below + 1);
    forecast.flops += factors * double(below) * double(below + 3);
  }
  forecast.bytes = 12 * forecast.entries + 48 * A.nonZeros() + 64 * std::int64_t(n);
  forecast.seconds = forecast.flops / (positive ? flops_per_second : flops_per_second_of_lu) +
                     seconds_to_count(A.nonZeros()) + seconds_per_entry * double(forecast.entries);
}

DirectSolver::DirectSolver(const CsrView<double, std::int32_t, Host>& A, bool positive, double max_seconds)
    : A_(A), factors_(std::make_shared<Factors>()), max_seconds_(max_seconds) {
  factors_->positive = positive;
  if (A.nrows > 0) find_order();
}

DirectSolver::~DirectSolver() = default;

/// Eigen looks neither at signals nor at clocks, so work that may take long has a thread of its own, and what it needs: once it is
/// given up nobody waits for it. Then false.
bool DirectSolver::compute(double expected_seconds, std::function<void(Factors&)> work) {
  constexpr double long_seconds = 0.02;
  const Stopwatch watch;
  const auto gives_up = [&] {
    given_up_ = given_up_ || stop_requested() || seconds_ + watch.seconds() > max_seconds_;
    if (given_up_) forecast_.seconds = std::numeric_limits<double>::infinity();
    return given_up_;
  };
  if (gives_up()) return false;
  if (expected_seconds < long_seconds) {
    work(*factors_);
  } else {
    std::packaged_task<void()> task([factors = factors_, work = std::move(work)] { work(*factors); });
    std::future<void> done = task.get_future();
    std::thread(std::move(task)).detach();
    while (done.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
      if (gives_up()) return false;
    done.get();
  }
  seconds_ += watch.seconds();
  forecast_ = factors_->forecast;
  return true;
}

bool DirectSolver::find_order() {
  return compute(seconds_to_count(A_.nnz()), [A = RowMajor(rows_of(A_))](Factors& factors) {
    factors.find_diagonal(A);
    factors.find_order(A);
  });
}

bool DirectSolver::factorise() {
  if (A_.nrows == 0) return true;
  if (factors_->regular) return *factors_->regular;
  if (factors_->positive) {
    if (!compute(forecast_.seconds,
                 [A = Sparse(rows_of(A_))](Factors& factors) { factors.cholesky.compute(factors.arranged(A)); }))
      return false;
    const auto& pivots = factors_->cholesky;
    if (pivots.info() == Eigen::Success && (pivots.vectorD().array() > 0).all()) return *(factors_->regular = true);
    factors_->positive = false;
    if (!find_order()) return false;
    if (factors_->regular) return *factors_->regular;
  }
  if (!compute(forecast_.seconds, [A = Sparse(rows_of(A_))](Factors& factors) { factors.make_lu(A); })) return false;
  return *(factors_->regular = factors_->lu.info() == Eigen::Success);
}

bool DirectSolver::factorise_nearby() {
  if (factors_->nearby) return true;
  if (given_up_) return false;
  constexpr double size = 1e-10;
  const Sparse matrix = rows_of(A_), transposed = matrix.transpose();
  const bool symmetric = (matrix - transposed).norm() == 0 || (matrix + transposed).norm() == 0;
  std::vector<Eigen::Triplet<double, std::int32_t>> entries;
  const auto add = [&](Index row, Index column) {
    double largest = 0;
    for (std::int64_t k = A_.row_ptr[row]; k < A_.row_ptr[row + 1]; ++k)
      largest = std::max(largest, std::abs(A_.values[k]));
    const double any = 1 + double(std::uint32_t(entries.size()) * 2654435761U >> 22) / 1024;  // equal ones may cancel
    entries.emplace_back(row, column, size * any * (largest > 0 ? largest : 1));
  };
  for (Index column = 0; column < A_.nrows; ++column) {
    add(column, column);
    if (!symmetric) add(factors_->to.row_of[column], column);
  }
  Sparse E(A_.nrows, A_.ncols);
  E.setFromTriplets(entries.begin(), entries.end());
  const Sparse nearby = matrix + E;
  if (!compute(seconds_to_count(nearby.nonZeros()),
               [A = RowMajor(nearby)](Factors& factors) { factors.find_order(A); }) ||
      !compute(forecast_.seconds, [A = nearby](Factors& factors) { factors.make_lu(A); }))
    return false;
  return factors_->nearby = factors_->lu.info() == Eigen::Success;
}

void DirectSolver::solve(HostSpan<const double> r, HostSpan<double> d) const {
  if (A_.nrows == 0) return;
  const ConstVector rhs(r.data(), r.size());
  Eigen::Map<Eigen::VectorXd> solution(d.data(), d.size());
  const auto [R, C] = factors_->scales();
  const Eigen::VectorXd ordered = factors_->rows * R.cwiseProduct(rhs);
  const Eigen::VectorXd found = factors_->positive ? Eigen::VectorXd(factors_->cholesky.solve(ordered))
                                                   : Eigen::VectorXd(factors_->lu.solve(ordered));
  solution = factors_->columns.inverse() * found;
  solution = C.cwiseProduct(solution);
}

bool DirectSolver::is_singular() const {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  /// Of the digits of a number of size 1. Less than min_loss is no sign of a singular matrix, more than max_loss is one.
  constexpr double min_loss = 1e-6, max_loss = 0.03;
  const Index n = A_.nrows;
  if (n == 0) return false;
  const ConstVector R = factors_->scales().first, C = factors_->scales().second;
  Array<double> z(n), r(n), d(n);
  const auto size = [&](Array<double>& v) {
    return vector_of(v).cwiseQuotient(C).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  };
  for (Index i = 0; i < n; ++i) r[i] = fraction(i) / R[i];
  solve(r, z.span());
  const double loss = eps * size(z);
  if (!(loss <= max_loss)) return true;
  if (loss <= min_loss) return false;
  vector_of(z) /= size(z);
  const Array<double> zero(n, 0.0);
  certified_residual(OpenMP{1}, A_, std::as_const(z).span(), zero.span(), r.span());
  solve(r, d.span());
  vector_of(z) += vector_of(d);
  return size(z) > 0.5;
}

std::string DirectSolver::description() const {
  if (given_up_) return "unfinished";
  return factors_->positive
             ? formatted("LDL', {}", plural(forecast_.entries, "entry", "entries"))
             : formatted("LU, about {}{}", plural(forecast_.entries, "entry", "entries"),
                         factors_->nearby ? ", of a matrix that differs from A by 1e-10, because A is singular" : "");
}

}  // namespace seidel::drivers
