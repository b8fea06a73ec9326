// The flexible forms of cg and gmres: those of the plain forms where M stays the same, and solutions where it does not.
#include "systems.hpp"

#include <seidel/formats/generators/generate.hpp>
#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/flexible.hpp>
#include <seidel/solvers/gmres.hpp>
#include <seidel/solvers/minres.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

const How ways[] = {{.method = Method::cg, .preconditioner = PreconditionerKind::symgs, .form = Form::flexible},
                    {.method = Method::cg, .preconditioner = PreconditionerKind::jacobi, .form = Form::flexible},
                    {.method = Method::gmres, .preconditioner = PreconditionerKind::symgs, .form = Form::flexible},
                    {.method = Method::gmres, .preconditioner = PreconditionerKind::none, .form = Form::flexible}};

std::vector<NamedMatrix> spd_systems(unsigned seed) {
  std::vector<NamedMatrix> systems;
  for (const char* spec : {"poisson2d:40", "hpcg:10", "elasticity3d:6"})
    systems.push_back({spec, generate(OpenMP{1}, spec)});
  for (unsigned k = 0; k < 6; ++k)
    systems.push_back({"random " + std::to_string(seed + k), random_spd(seed + k, Index(1 + 211 * k), Index(1 + k))});
  return systems;
}

/// z = D r, with one of several random diagonals D in turn, between 1 and 100.
template <class B>
class Changing {
 public:
  using V = Vector<double, B>;

  Changing(const B& on, unsigned seed, std::int64_t n) {
    std::mt19937_64 random(seed);
    for (int k = 0; k < 7; ++k) {
      std::vector<double> d(n);
      for (double& value : d) value = std::pow(10, 1 + random_value(random));
      diagonals_.emplace_back(on, moved_to(on, d));
    }
  }
  void apply(const V& r, V& z) const { multiply(diagonals_[calls_++ % diagonals_.size()], r, z); }
  bool is_symmetric() const { return true; }

 private:
  std::vector<V> diagonals_;
  mutable std::size_t calls_ = 0;
};

/// z = about A^-1 r by an iteration of its own, but z = r in each third call.
template <class Matrix>
class Unsteady {
 public:
  explicit Unsteady(const Matrix& A) : A_(A) {}
  template <class V>
  void apply(const V& r, V& z) const {
    if (calls_++ % 3 == 2) return copy(r, z);
    fill(z, 0);
    cg(A_, IdentityPreconditioner{}, r, z, {.relative_tolerance = 0.1});
  }
  bool is_symmetric() const { return true; }

 private:
  const Matrix& A_;
  mutable std::size_t calls_ = 0;
};

/// A x = b by solver(A, M, b, x, criteria).
template <class B, class M, class Solver>
Outcome solved(const B& on, const Matrix& A, const M& m, const std::vector<double>& b, const Criteria& criteria,
               const Solver& solver) {
  const auto there = moved_to(on, A.view());
  const Vector<double, B> rhs(on, moved_to(on, b));
  Vector<double, B> x(on, A.ncols);
  Outcome outcome{.summary = solver(MatrixOperator(on, there.view()), m, rhs, x, criteria), .x = {}};
  const auto back = copied_to<Host>(on, std::as_const(x).span());
  outcome.x.assign(back.begin(), back.end());
  return outcome;
}

const auto by_cg = [](const auto& A, const auto& M, const auto& b, auto& x, const Criteria& criteria) {
  return cg(A, M, b, x, criteria);
};
const auto by_gmres = [](const auto& A, const auto& M, const auto& b, auto& x, const Criteria& criteria) {
  return gmres(A, M, b, x, criteria, {.restart = 30});
};

}  // namespace

TEST_CASE(
    "with a preconditioner that stays the same the flexible forms make the iterates of the plain ones, to rounding") {
  for (const auto& [name, A] : spd_systems(fresh_seed())) {
    CAPTURE(name);
    const auto b = ramp(A.nrows);
    for (const How& flexible : ways)
      for (const std::int64_t steps : {1, 2, 5, 20}) {
        CAPTURE(name_of(flexible));
        CAPTURE(steps);
        How plain = flexible;
        plain.form = Form::plain;
        const Criteria criteria{.max_iterations = steps};
        const Outcome one = solve_on(OpenMP{1}, plain, A, b, criteria),
                      other = solve_on(OpenMP{1}, flexible, A, b, criteria);
        REQUIRE(other->iterations == one->iterations);
        CHECK(relative_difference(one.x, other.x) < 1e-10);
        for (std::size_t k = 0; k < one->history.size(); ++k)
          CHECK(other->history[k] == doctest::Approx(one->history[k]).epsilon(1e-5));
      }
  }
}

TEST_CASE("where the preconditioner changes, the flexible forms need fewer iterations than the plain ones") {
  const Matrix A = generate(OpenMP{1}, "poisson2d:40");
  const MatrixOperator op(OpenMP{1}, A.view());
  const auto b = ramp(A.nrows);
  for (const bool use_cg : {true, false}) {
    CAPTURE(use_cg);
    const auto check = [&](const auto& solver) {
      const Criteria criteria{.max_iterations = 500};
      const Outcome plain = solved(OpenMP{1}, A, Unsteady(op), b, criteria, solver);
      const Outcome flexible = solved(OpenMP{1}, A, Flexible{Unsteady(op)}, b, criteria, solver);
      CHECK(flexible->converged());
      CHECK(true_residual(A, flexible.x, b) <= 1.001e-8);
      CHECK((!plain->converged() || plain->iterations > 1.3 * flexible->iterations));
      CAPTURE(plain->iterations);
      CAPTURE(flexible->iterations);
      CHECK(flexible->iterations < 25);
    };
    use_cg ? check(by_cg) : check(by_gmres);
  }
}

TEST_CASE("the flexible forms have the same bits on every back end, with a preconditioner that changes") {
  const unsigned seed = fresh_seed();
  for (const auto& [name, A] : spd_systems(seed)) {
    CAPTURE(name);
    const auto b = ramp(A.nrows);
    const auto check = [&](const auto& solver) {
      const Criteria criteria{.max_iterations = 60};
      const Outcome serial = solved(OpenMP{1}, A, Flexible{Changing(OpenMP{1}, seed, A.nrows)}, b, criteria, solver);
      on_every_backend([&](auto on) {
        const Outcome here = solved(on, A, Flexible{Changing(on, seed, A.nrows)}, b, criteria, solver);
        CHECK(here->history == serial->history);
        CHECK(here.x == serial.x);
      });
    };
    check(by_cg);
    check(by_gmres);
  }
}

TEST_CASE("a flexible form says what is not positive definite, and minres takes no preconditioner that changes") {
  const Matrix indefinite = diagonal({1, -1, 2});
  const Flexible M{Changing(OpenMP{1}, 1, 3)};
  CHECK(solved(OpenMP{1}, indefinite, M, {1.0, 3.0, 1.0}, {}, by_cg)->status == Status::indefinite);
  CHECK(solved(OpenMP{1}, indefinite, M, {1.0, 3.0, 1.0}, {}, by_gmres)->converged());
  const auto by_minres = [](const auto& A, const auto& M, const auto& b, auto& x, const Criteria& criteria) {
    return minres(A, M, b, x, criteria);
  };
  CHECK_THROWS_AS(solved(OpenMP{1}, indefinite, M, {1.0, 3.0, 1.0}, {}, by_minres), UsageError);
}
