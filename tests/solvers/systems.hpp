// Systems to solve, one call that solves them on any back end, and a residual that the library has no part in.
#pragma once
#include "../backends.hpp"
#include "../matrices.hpp"

#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/preconditioners/identity.hpp>
#include <seidel/solvers/preconditioners/jacobi.hpp>
#include <seidel/solvers/preconditioners/make.hpp>
#include <seidel/solvers/preconditioners/split_symgs.hpp>
#include <seidel/solvers/preconditioners/symgs.hpp>
#include <seidel/solvers/solve.hpp>

namespace seidel::tests {

struct How {
  Method method = Method::cg;
  PreconditionerKind preconditioner = PreconditionerKind::none;
  Order order = Order::natural;
  int restart = 50;
  std::vector<Method> fallbacks = {};
  Form form = Form::plain;
  bool may_drop_preconditioner = false;
  bool symmetric = true;  // A is
  bool may_try_gmres = false;
};
std::string name_of(const How& how);

/// Each method with each preconditioner.
std::vector<How> all_ways();

MethodChoice choice_of(const How& how);

struct Outcome {
  Summary summary;
  std::vector<double> x;
  const Summary* operator->() const { return &summary; }
};

/// A x = b from x0 (zeros if empty). Compiled in systems.cpp for every back end.
template <class B>
[[gnu::used]] Outcome solve_on(const B& on, const How& how, const Matrix& A, const std::vector<double>& b,
                               const Criteria& criteria = {}, std::vector<double> x0 = {});

std::vector<double> times(const Matrix& A, const std::vector<double>& x);
std::vector<double> random_vector(unsigned seed, std::int64_t n);
inline std::vector<double> ones(std::int64_t n) { return std::vector<double>(n, 1.0); }

/// ||b - A x|| / ||b|| in long double; NaN if anything in it is.
double true_residual(const Matrix& A, const std::vector<double>& x, const std::vector<double>& b);

/// max |x_i - y_i| / max |x_i|.
double relative_difference(const std::vector<double>& x, const std::vector<double>& y);

/// The 5-point stencil on a k x k grid.
Matrix poisson(Index k);

/// Random entries, mirrored, and a diagonal that dominates: symmetric positive definite.
Matrix random_spd(unsigned seed, Index n, Index mean);

/// diag(values).
Matrix diagonal(const std::vector<double>& values);

/// The n x n Hilbert matrix: symmetric positive definite, its condition 10^(1.5 n).
Matrix hilbert(Index n);

/// Positive definite, springs of 1e8 and 1e2 in a chain, condition 1e9: A x is known to about 1e-8 of b and no better.
Matrix at_the_limit();

}  // namespace seidel::tests
