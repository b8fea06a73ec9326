// The matrix that a preconditioner is made of, where that is not A itself.
#include <seidel/drivers/solve_arrange.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <seidel/drivers/direct.hpp>
#include <seidel/drivers/report/text.hpp>

namespace seidel::drivers {

namespace {

/// Rows and columns are scaled where the largest entries of two rows differ by more than this.
constexpr double much = 1e3;

/// The largest entry of the row that has the largest one, relative to that of the row that has the smallest one.
double spread_of_rows(const CsrView<double, std::int64_t, Host>& A) {
  double most = 0, least = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < A.nrows; ++i) {
    double largest = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) largest = std::max(largest, std::abs(A.values[k]));
    if (largest > 0) most = std::max(most, largest), least = std::min(least, largest);
  }
  return most > 0 ? most / least : 1;
}

bool may_permute(const SolveOptions& options, const Inspected& seen) {
  const MethodRequest& request = options.request;
  if (options.permute == Permute::none || request.preconditioner == PreconditionerKind::none) return false;
  if (request.method && (request.method->needs != Needs::square || *request.method == direct_method)) return false;
  // Of a symmetric matrix, rows in another order are not symmetric: only where there is no other way, and that is one.
  if (request.preconditioner && request.preconditioner->needs_definite) return false;
  return seen.rows.empty_rows == 0 && (request.preconditioner || !(seen.properties.symmetric || seen.properties.skew));
}

bool may_scale(const SolveOptions& options, const Inspected& seen) {
  const MethodRequest& request = options.request;
  if (options.scale == Scale::none || request.preconditioner) return false;
  if (!request.method || request.method->needs == Needs::square) return request.method != direct_method;
  return request.method->needs != Needs::nothing && seen.properties.symmetric;  // its scales are symmetric, too
}

}  // namespace

std::unique_ptr<Arranged> arrange(const SolveOptions& options, const Loaded& loaded, const Inspected& seen) {
  const MatrixProperties& p = seen.properties;
  const bool full_diagonal = p.first_bad_diagonal < 0;
  if (full_diagonal || seen.rows.empty_rows > 0) {
    const MethodChoice choice = choose_method(p, seen.rows, options.request);
    if (choice.method.needs == Needs::nothing) return {};
    // Those do not change when rows and columns are scaled.
    if (choice.preconditioner != PreconditionerKind::none) return {};
  }
  auto to = std::make_unique<Arranged>();
  const std::string zeros =
      formatted("because {} zero on the diagonal", plural(p.diagonal_missing + p.diagonal_zero, "row is", "rows are"));
  const auto make = [&](const auto& A, auto& made) {
    if (!full_diagonal && may_permute(options, seen))
      if (Matching found = max_product_matching(A); found.matched == A.nrows) {
        to->by = std::move(found.arrangement);
        if (options.scale == Scale::none) to->by.row_scale = {}, to->by.column_scale = {};
        to->why = formatted("made of A with its rows permuted{}, {}", options.scale == Scale::none ? "" : " and scaled",
                            zeros);
      }
    if (to->by.empty() && may_scale(options, seen) && spread_of_rows(loaded.wide()) > much) {
      to->by = equilibration(A);
      to->why = "but rows and columns are scaled, because their entries differ much in size";
    }
    if (to->by.empty()) return;
    made = arranged(A, to->by);
    const OpenMP host = host_threads(options);
    to->seen = {.properties = properties(host, made.view()), .rows = row_statistics(host, made.view())};
  };
  loaded.row_ptr.empty() ? make(loaded.wide(), to->wide) : make(loaded.narrow(), to->narrow);
  return to->by.empty() ? nullptr : std::move(to);
}

}  // namespace seidel::drivers
