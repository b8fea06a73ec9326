// Systems at the edge: nothing to solve, nothing to do, nothing that can be solved.
#include "systems.hpp"

#include <seidel/solvers/gmres.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {
const double not_a_number = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
}

TEST_CASE("b = 0 is answered by x = 0 at once, whatever the guess") {
  const Matrix A = poisson(5);
  for (const How& how : all_ways())
    on_every_backend([&](auto on) {
      CAPTURE(name_of(how));
      const Outcome outcome = solve_on(on, how, A, std::vector<double>(25), {}, ramp(25));
      CHECK(outcome->status == Status::converged);
      CHECK(outcome->iterations == 0);
      CHECK(outcome->relative_residual == 0);
      CHECK(outcome->history == std::vector<double>{0});
      CHECK(outcome.x == std::vector<double>(25));
    });
}

TEST_CASE("an exact guess is left as it is, after 0 iterations") {
  const Matrix A = poisson(5);
  const std::vector<double> exact(25, 0.5);
  for (const How& how : all_ways()) {
    CAPTURE(name_of(how));
    const Outcome outcome = solve_on(OpenMP{1}, how, A, times(A, exact), {}, exact);
    CHECK(outcome->status == Status::converged);
    CHECK(outcome->iterations == 0);
    CHECK(outcome.x == exact);
  }
}

TEST_CASE("systems of 0, 1 and 2 unknowns are solved") {
  for (const How& how : all_ways())
    on_every_backend([&](auto on) {
      CAPTURE(name_of(how));
      CHECK(solve_on(on, how, matrix_of(0, {}), {})->status == Status::converged);
      const Outcome one = solve_on(on, how, diagonal({4}), {2});
      CHECK(one->status == Status::converged);
      CHECK(one.x == std::vector<double>{0.5});
      const Matrix two = matrix_of(2, {{{0, 2.0}, {1, 1.0}}, {{0, 1.0}, {1, 3.0}}});
      const Outcome outcome = solve_on(on, how, two, {3, 4});
      CHECK(outcome->status == Status::converged);
      CHECK(outcome->iterations <= 2);
      CHECK(outcome.x[0] == doctest::Approx(1));
      CHECK(outcome.x[1] == doctest::Approx(1));
    });
}

TEST_CASE("NaN and infinity in A, b or x0 are refused before the first iteration, with their place") {
  const Matrix A = poisson(5);
  for (const How& how : all_ways())
    for (double bad : {not_a_number, inf, -inf})
      on_every_backend([&](auto on) {
        auto b = ones(25), x0 = ones(25);
        b[7] = bad;
        CHECK(refusal<InputError>([&] { solve_on(on, how, A, b); }).find("b: entry 8 ") != std::string::npos);
        x0[24] = bad;
        CHECK(refusal<InputError>([&] { solve_on(on, how, A, ones(25), {}, x0); }).find("x: entry 25 ") !=
              std::string::npos);
        Matrix broken = copy_of(A);
        broken.values[broken.row_ptr[3] + 1] = bad;  // row 4: columns 3 4 5 9
        const auto there = moved_to(on, broken.view());
        CHECK(refusal<InputError>([&] { MatrixOperator(on, there.view()); }).find("row 4, column 4") !=
              std::string::npos);
      });
}

TEST_CASE("shapes that do not fit are refused") {
  CHECK_THROWS_AS(solve_on(OpenMP{1}, {}, matrix_of(3, {{{0, 1.0}}, {{1, 1.0}}}), ones(2)), ShapeError);
  CHECK_THROWS_AS(solve_on(OpenMP{1}, {}, poisson(3), ones(8)), ShapeError);
  CHECK_THROWS_AS(JacobiPreconditioner(OpenMP{1}, matrix_of(3, {{{0, 1.0}}}).view()), ShapeError);
}

TEST_CASE("b and x that share memory are refused, and left as they are") {
  const Matrix A = poisson(5);
  Array<double> memory(49, 1.0);
  MatrixOperator op(OpenMP{1}, A.view());
  for (const std::int64_t shift : {0, 1, 24}) {
    Vector<double, OpenMP> b(OpenMP{1}, memory.span().subspan(0, 25)), x(OpenMP{1}, memory.span().subspan(shift, 25));
    CHECK(refusal<InputError>([&] { gmres(op, IdentityPreconditioner{}, b, x); }).find("overlap") != std::string::npos);
  }
  CHECK(std::ranges::all_of(memory, [](double value) { return value == 1; }));
  Array<double> apart(50, 1.0);
  Vector<double, OpenMP> b(OpenMP{1}, apart.span().subspan(0, 25)), x(OpenMP{1}, apart.span().subspan(25, 25));
  CHECK(gmres(op, IdentityPreconditioner{}, b, x).status == Status::converged);
}

TEST_CASE(
    "preconditioners that divide by the diagonal refuse what they cannot use, in every order and on every back end") {
  Matrix zero = poisson(9), broken = poisson(9);
  for (Index row : {20, 40}) {
    std::int64_t k = zero.row_ptr[row];
    while (zero.col_idx[k] != row) ++k;
    zero.values[k] = 0;
  }
  broken.values[broken.row_ptr[31]] = not_a_number;
  const Matrix missing = matrix_of(3, {{{0, 1.0}, {1, 2.0}}, {{0, 2.0}, {2, 1.0}}, {{1, 1.0}, {2, 1.0}}});
  const Matrix wide = matrix_of(3, {{{0, 1.0}}, {{1, 1.0}}});
  for (const How& how : all_ways()) {
    if (how.method != Method::cg || how.preconditioner == PreconditionerKind::none) continue;
    CAPTURE(name_of(how));
    on_every_backend([&](auto on) {
      const auto make = [&](const Matrix& A) {
        const auto there = moved_to(on, A.view());
        make_preconditioner<std::decay_t<decltype(on)>, std::int64_t>(on, {A.view(), there.view()}, choice_of(how));
      };
      const auto row_without_diagonal = [&](const Matrix& A) -> std::int64_t {
        try {
          make(A);
        } catch (const ZeroDiagonal& error) {
          return error.row();
        }
        return -1;
      };
      CHECK(row_without_diagonal(zero) == 20);
      CHECK(row_without_diagonal(missing) == 1);
      CHECK_THROWS_AS(make(wide), ShapeError);
      CHECK(refusal<InputError>([&] { make(broken); }).starts_with("row 32, column "));
    });
  }
}

TEST_CASE("scales far from 1 change nothing, and what cannot be squared is said") {
  const Matrix A = poisson(10);
  const Outcome plain = solve_on(OpenMP{1}, {}, A, ones(100));
  for (double scale : {0x1p-400, 0x1p+400}) {  // powers of two: the same digits
    const Outcome scaled = solve_on(OpenMP{1}, {}, A, std::vector<double>(100, scale));
    CHECK(scaled->status == Status::converged);
    CHECK(scaled->history == plain->history);
  }
  for (const How& how : all_ways())
    for (double scale : {1e-200, 1e-300, 1e200, 1e300}) {
      CAPTURE(name_of(how));
      CAPTURE(scale);
      const std::vector<double> b(100, scale);
      const Outcome outcome = solve_on(OpenMP{1}, how, A, b);
      CHECK((outcome->status == Status::converged || outcome->status == Status::breakdown));
      CHECK(outcome->status != Status::indefinite);
      if (outcome->converged()) CHECK(true_residual(A, outcome.x, b) <= 1.001e-8);
      for (double v : outcome.x) CHECK(std::isfinite(v));
    }
}

TEST_CASE("a positive definite matrix is not called indefinite, whatever its scale and that of b") {
  for (const double of_A : {1e-150, 1e-75, 1e75, 1e150})
    for (const double of_b : {1e-150, 1e-75, 1.0, 1e75, 1e150})
      for (const PreconditionerKind& kind : preconditioners)
        for (const Form form : {Form::plain, Form::eisenstat}) {
          if (!kind.keeps_symmetry || (form == Form::eisenstat && kind != PreconditionerKind::symgs)) continue;
          How how;
          how.preconditioner = kind, how.form = form;
          CAPTURE(name_of(how));
          CAPTURE(of_A);
          CAPTURE(of_b);
          const Matrix A = tridiagonal(20, 2 * of_A, -of_A);
          const std::vector<double> b(20, of_b);
          const Outcome outcome = solve_on(OpenMP{1}, how, A, b);
          CHECK((outcome->status == Status::converged || outcome->status == Status::breakdown));
          CHECK(true_residual(A, outcome.x, b) <= 1);
        }
}
