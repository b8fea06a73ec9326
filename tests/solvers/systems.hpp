// Systems to solve, one call that solves them on any back end, and a residual that the library has no part in.
#pragma once
#include "../backends.hpp"
#include "../matrices.hpp"

#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/preconditioners/identity.hpp>
#include <seidel/solvers/preconditioners/jacobi.hpp>
#include <seidel/solvers/preconditioners/split_symgs.hpp>
#include <seidel/solvers/preconditioners/symgs.hpp>
#include <seidel/solvers/solve.hpp>

namespace seidel::tests {

struct How {
  Method method = Method::cg;
  PreconditionerKind preconditioner = PreconditionerKind::none;
  Order order = Order::natural;
  int restart = 50;
  std::optional<Method> fallback = {};
  Form form = Form::plain;
};
inline std::string name_of(const How& how) {
  return std::string(to_string(how.method)) + " " + std::string(to_string(how.preconditioner)) + " " +
         std::string(to_string(how.order)) + " " + std::string(to_string(how.form));
}

/// Each method with each preconditioner.
inline std::vector<How> all_ways() {
  std::vector<How> ways;
  for (Method method : {Method::cg, Method::bicgstab, Method::gmres}) {
    for (auto kind : {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::symgs})
      ways.push_back({method, kind});
    ways.push_back({method, PreconditionerKind::symgs, Order::colours});
    ways.push_back({method, PreconditionerKind::symgs, Order::blocks});
  }
  ways.push_back({.method = Method::cg, .preconditioner = PreconditionerKind::symgs, .form = Form::eisenstat});
  return ways;
}

/// `there` is A in the memory of `on`, and outlives the result. Compiled in systems.cpp for every back end.
template <class B>
[[gnu::used]] AnyPreconditioner<Vector<double, B>> preconditioner(const B& on, const Matrix& A,
                                                                    const CsrView<double, std::int64_t, SpaceOf<B>>& there,
                                                                    const How& how);

struct Outcome {
  Summary summary;
  std::vector<double> x;
  const Summary* operator->() const { return &summary; }
};

/// A x = b from x0 (zeros if empty). Compiled in systems.cpp for every back end.
template <class B>
[[gnu::used]] Outcome solve_on(const B& on, const How& how, const Matrix& A, const std::vector<double>& b,
                               const Criteria& criteria = {}, std::vector<double> x0 = {});

inline std::vector<double> times(const Matrix& A, const std::vector<double>& x) {
  std::vector<double> y(A.nrows);
  for (Index i = 0; i < A.nrows; ++i) {
    long double sum = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) sum += (long double)A.values[k] * x[A.col_idx[k]];
    y[i] = double(sum);
  }
  return y;
}
inline std::vector<double> ones(std::int64_t n) { return std::vector<double>(n, 1.0); }

/// ||b - A x|| / ||b|| in long double; NaN if anything in it is.
inline double true_residual(const Matrix& A, const std::vector<double>& x, const std::vector<double>& b) {
  long double rr = 0, bb = 0;
  for (Index i = 0; i < A.nrows; ++i) {
    long double r = b[i];
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) r -= (long double)A.values[k] * x[A.col_idx[k]];
    rr += r * r;
    bb += (long double)b[i] * b[i];
  }
  return double(bb > 0 ? std::sqrt(rr / bb) : std::sqrt(rr));
}

/// The 5-point stencil on a k x k grid.
inline Matrix poisson(Index k) {
  std::vector<Row> rows(std::size_t(k) * k);
  for (Index y = 0; y < k; ++y)
    for (Index x = 0; x < k; ++x) {
      Row& row = rows[std::size_t(y) * k + x];
      const Index i = y * k + x;
      if (y > 0) row.emplace_back(i - k, -1.0);
      if (x > 0) row.emplace_back(i - 1, -1.0);
      row.emplace_back(i, 4.0);
      if (x + 1 < k) row.emplace_back(i + 1, -1.0);
      if (y + 1 < k) row.emplace_back(i + k, -1.0);
    }
  return matrix_of(k * k, rows);
}

/// Random entries, mirrored, and a diagonal that dominates: symmetric positive definite.
inline Matrix random_spd(unsigned seed, Index n, Index mean) {
  const Matrix R = random_matrix(seed, n, n, mean);
  std::vector<Row> rows(n);
  for (Index i = 0; i < n; ++i)
    for (std::int64_t k = R.row_ptr[i]; k < R.row_ptr[i + 1]; ++k)
      if (const Index j = R.col_idx[k]; j < i)
        rows[i].emplace_back(j, R.values[k]), rows[j].emplace_back(i, R.values[k]);
  for (auto& row : rows) std::sort(row.begin(), row.end());
  return with_dominant_diagonal(matrix_of(n, rows));
}

/// diag(values).
inline Matrix diagonal(const std::vector<double>& values) {
  std::vector<Row> rows;
  for (double v : values) rows.push_back({{Index(rows.size()), v}});
  return matrix_of(Index(values.size()), rows);
}

/// The n x n Hilbert matrix: symmetric positive definite, its condition 10^(1.5 n).
inline Matrix hilbert(Index n) {
  std::vector<Row> rows(n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) rows[i].emplace_back(j, 1.0 / (i + j + 1));
  return matrix_of(n, rows);
}

}  // namespace seidel::tests
