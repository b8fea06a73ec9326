// A matrix brought into a better shape: matching, equilibration.
#include <seidel/formats/arrange.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include <seidel/formats/runtime/errors.hpp>

namespace seidel {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The power of two nearest to 2^exponent.
double power_of_two(double exponent) { return std::ldexp(1, int(std::lround(std::clamp(exponent, -1000.0, 1000.0)))); }

/// Rows matched to columns so that the sum of costs log2(max_k |a_ik| / |a_ij|) >= 0 is least. Each row i and column j
/// has a price, u_i and v_j, with u_i + v_j <= cost_ij, and equality where they are matched.
template <class Offset>
class Assignment {
 public:
  explicit Assignment(const CsrView<double, Offset, Host>& A)
      : A_(A),
        cost_(std::size_t(A.nnz())),
        log_max_(std::size_t(A.nrows), 0.0),
        u_(std::size_t(A.nrows), 0.0),
        v_(std::size_t(A.ncols), infinity),
        row_of_(std::size_t(A.ncols), -1),
        column_of_(std::size_t(A.nrows), -1),
        distance_(std::size_t(A.ncols), infinity),
        from_(std::size_t(A.ncols), -1),
        state_(std::size_t(A.ncols), State::open) {
    price();
    match_cheaply();
    for (Index i = 0; i < A.nrows; ++i)
      if (column_of_[i] < 0) match(i);
  }

  std::vector<Index> row_of() const { return row_of_; }
  /// log2 of the scales with which matched entries are 1 and no entry is larger.
  double row_exponent(Index i) const { return u_[i] - log_max_[i]; }
  double column_exponent(Index j) const { return std::isfinite(v_[j]) ? v_[j] : 0; }

 private:
  enum class State : std::uint8_t { open, reached, dead };  // dead: no column that is free can be reached from there

  /// Costs, and first prices: v_j the least cost of the column, u_i what that leaves of the row.
  void price() {
    for (Index i = 0; i < A_.nrows; ++i) {
      double largest = 0;
      for (Offset k = A_.row_ptr[i]; k < A_.row_ptr[i + 1]; ++k) largest = std::max(largest, std::abs(A_.values[k]));
      if (largest > 0) log_max_[i] = std::log2(largest);
      for (Offset k = A_.row_ptr[i]; k < A_.row_ptr[i + 1]; ++k) {
        cost_[k] = A_.values[k] != 0 ? std::max(0.0, log_max_[i] - std::log2(std::abs(A_.values[k]))) : infinity;
        v_[A_.col_idx[k]] = std::min(v_[A_.col_idx[k]], cost_[k]);
      }
    }
    for (Index i = 0; i < A_.nrows; ++i) {
      double least = infinity;
      for (Offset k = A_.row_ptr[i]; k < A_.row_ptr[i + 1]; ++k)
        if (std::isfinite(cost_[k])) least = std::min(least, cost_[k] - v_[A_.col_idx[k]]);
      if (std::isfinite(least)) u_[i] = least;
    }
  }
  /// What u_i + v_j falls short of the cost, but for rounding.
  double slack(Index i, Offset k) const { return std::max(0.0, cost_[k] - u_[i] - v_[A_.col_idx[k]]); }

  /// The diagonal first, so that rows stay where they are if nothing is gained by moving them.
  void match_cheaply() {
    const auto take = [&](Index i, Offset k) {
      const Index j = A_.col_idx[k];
      if (column_of_[i] >= 0 || row_of_[j] >= 0 || !std::isfinite(cost_[k]) || slack(i, k) > 0) return;
      column_of_[i] = j;
      row_of_[j] = i;
    };
    for (const bool diagonal : {true, false})
      for (Index i = 0; i < A_.nrows; ++i)
        for (Offset k = A_.row_ptr[i]; k < A_.row_ptr[i + 1]; ++k)
          if (!diagonal || A_.col_idx[k] == i) take(i, k);
  }

  /// Along the shortest path from row `start` to a free column each row passes its column on (Dijkstra).
  void match(Index start) {
    using Reached = std::pair<double, Index>;
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> next;
    std::vector<Index> touched, done;
    double length = 0, shortest = infinity;
    Index end = -1;
    for (Index i = start;;) {
      for (Offset k = A_.row_ptr[i]; k < A_.row_ptr[i + 1]; ++k) {
        const Index j = A_.col_idx[k];
        if (!std::isfinite(cost_[k]) || state_[j] != State::open) continue;
        const double there = length + slack(i, k);
        if (!(there < std::min(distance_[j], shortest))) continue;
        if (!std::isfinite(distance_[j])) touched.push_back(j);
        distance_[j] = there;
        from_[j] = i;
        if (row_of_[j] < 0)
          shortest = there, end = j;
        else
          next.emplace(there, j);
      }
      while (!next.empty() &&
             (state_[next.top().second] != State::open || next.top().first > distance_[next.top().second]))
        next.pop();
      if (next.empty() || next.top().first >= shortest) break;
      const Index j = next.top().second;
      next.pop();
      state_[j] = State::reached;
      done.push_back(j);
      length = distance_[j];
      i = row_of_[j];
    }
    if (end >= 0) {
      for (const Index j : done) {
        v_[j] -= shortest - distance_[j];
        u_[row_of_[j]] += shortest - distance_[j];
      }
      u_[start] += shortest;
      for (Index j = end; j >= 0;) {
        const Index i = from_[j], passed_on = column_of_[i];
        row_of_[j] = i;
        column_of_[i] = j;
        j = i == start ? -1 : passed_on;
      }
    }
    for (const Index j : done) state_[j] = end >= 0 ? State::open : State::dead;
    for (const Index j : touched) distance_[j] = infinity;
  }

  CsrView<double, Offset, Host> A_;
  std::vector<double> cost_, log_max_, u_, v_;
  std::vector<Index> row_of_, column_of_;  // the matching; -1: none yet
  std::vector<double> distance_;           // of columns, from the row that is being matched
  std::vector<Index> from_;
  std::vector<State> state_;
};

}  // namespace

template <class Offset>
Matching max_product_matching(const CsrView<double, Offset, Host>& A) {
  if (A.nrows != A.ncols)
    throw ShapeError("a matching of rows and columns needs as many rows as columns, found " + std::to_string(A.nrows) +
                     " x " + std::to_string(A.ncols));
  const Assignment<Offset> assignment(A);
  std::vector<Index> row_of = assignment.row_of();
  Matching found;
  std::vector<bool> used(std::size_t(A.nrows), false);
  for (const Index i : row_of)
    if (i >= 0) used[i] = true, ++found.matched;
  Index free = 0;
  for (Index& i : row_of) {  // columns left over get the rows left over
    if (i >= 0) continue;
    while (used[free]) ++free;
    i = free++;
  }
  Arrangement& to = found.arrangement;
  to.row_of = Array<Index>(row_of);
  to.row_scale = Array<double>(A.nrows);
  to.column_scale = Array<double>(A.ncols);
  for (Index i = 0; i < A.nrows; ++i) {
    to.row_scale[i] = power_of_two(assignment.row_exponent(i));
    to.column_scale[i] = power_of_two(assignment.column_exponent(i));
  }
  return found;
}

template <class Offset>
Arrangement equilibration(const CsrView<double, Offset, Host>& A) {
  constexpr int rounds = 8;
  std::vector<double> row(std::size_t(A.nrows), 0.0), column(std::size_t(A.ncols), 0.0);  // exponents
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> largest_of_row(row.size(), -infinity), largest_of_column(column.size(), -infinity);
    for (Index i = 0; i < A.nrows; ++i)
      for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        if (A.values[k] == 0) continue;
        const Index j = A.col_idx[k];
        const double size = std::log2(std::abs(A.values[k])) + row[i] + column[j];
        largest_of_row[i] = std::max(largest_of_row[i], size);
        largest_of_column[j] = std::max(largest_of_column[j], size);
      }
    for (std::size_t i = 0; i < row.size(); ++i)
      if (std::isfinite(largest_of_row[i])) row[i] -= largest_of_row[i] / 2;
    for (std::size_t j = 0; j < column.size(); ++j)
      if (std::isfinite(largest_of_column[j])) column[j] -= largest_of_column[j] / 2;
  }
  Arrangement to{.row_of = {}, .row_scale = Array<double>(A.nrows), .column_scale = Array<double>(A.ncols)};
  std::transform(row.begin(), row.end(), to.row_scale.begin(), power_of_two);
  std::transform(column.begin(), column.end(), to.column_scale.begin(), power_of_two);
  return to;
}

template <class Offset>
Csr<double, Offset> arranged(const CsrView<double, Offset, Host>& A, const Arrangement& arrangement) {
  auto to = Csr<double, Offset>::uninitialised(OpenMP{1}, A.nrows, A.ncols, A.nnz());
  Offset place = 0;
  to.row_ptr[0] = 0;
  for (Index row = 0; row < A.nrows; ++row) {
    const Index i = arrangement.row_of.empty() ? row : arrangement.row_of[row];
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k, ++place) {
      to.col_idx[place] = A.col_idx[k];
      to.values[place] = arrangement.row_scale.empty()
                             ? A.values[k]
                             : A.values[k] * arrangement.row_scale[i] * arrangement.column_scale[A.col_idx[k]];
    }
    to.row_ptr[row + 1] = place;
  }
  return to;
}

template Matching max_product_matching(const CsrView<double, std::int32_t, Host>&);
template Matching max_product_matching(const CsrView<double, std::int64_t, Host>&);
template Arrangement equilibration(const CsrView<double, std::int32_t, Host>&);
template Arrangement equilibration(const CsrView<double, std::int64_t, Host>&);
template Csr<double, std::int32_t> arranged(const CsrView<double, std::int32_t, Host>&, const Arrangement&);
template Csr<double, std::int64_t> arranged(const CsrView<double, std::int64_t, Host>&, const Arrangement&);

}  // namespace seidel
