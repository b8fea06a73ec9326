// One failure of each kind: its cause comes first, and the remedy is an option that exists.
#include "../solvers/systems.hpp"

#include <cmath>
#include <random>
#include <set>

#include <seidel/drivers/diagnose.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/statistics.hpp>

using namespace seidel;
using namespace seidel::drivers;
using namespace seidel::tests;

namespace {

struct Case {
  Outcome outcome;
  std::vector<Diagnosis> causes;
  bool names(const std::string& cause) const {
    for (const auto& d : causes)
      if (d.cause.find(cause) != std::string::npos) return true;
    return false;
  }
  const Diagnosis& first() const {
    static const Diagnosis none;
    return causes.empty() ? none : causes[0];
  }
};

const std::string own_choice = "--method auto --precond auto";

Case diagnosed(const How& how, const Matrix& A, const std::vector<double>& b, const Criteria& criteria = {}) {
  Case c{solve_on(OpenMP{1}, how, A, b, criteria), {}};
  c.causes = diagnose(properties(OpenMP{1}, A.view()), row_statistics(OpenMP{1}, A.view()), choice_of(how),
                      c.outcome.summary, criteria);
  for (const auto& d : c.causes) {
    CHECK(!d.cause.empty());
    CHECK(!d.evidence.empty());
    CHECK((!d.remedy.empty() || !d.advice.empty() || d.cause.find("positive definite") != std::string::npos));
    if (!d.remedy.empty()) CHECK(d.remedy.substr(0, 2) == "--");
  }
  return c;
}

}  // namespace

TEST_CASE("a success has no causes") { CHECK(diagnosed({}, poisson(5), ones(25)).causes.empty()); }

TEST_CASE("indefinite: named with p'Ap and the diagonal") {
  const Case c = diagnosed({}, diagonal({1, 2, -3, 4}), ones(4));
  CHECK(c.first().cause == "A is not positive definite");
  CHECK(c.first().evidence.find("p'Ap") != std::string::npos);
  CHECK(c.first().evidence.find("row 3") != std::string::npos);
  CHECK(c.first().remedy == own_choice);
  // seen in the diagonal already: that symgs is indefinite, too, is no cause of its own
  CHECK(diagnosed({Method::cg, PreconditionerKind::symgs}, diagonal({1, 2, -0.1}), ones(3)).first().cause ==
        "A is not positive definite");
}

TEST_CASE("negative definite: told to turn the sign") {
  const Case c = diagnosed({}, tridiagonal(30, -2, 1), ones(30));
  CHECK(c.first().cause.find("negative definite") != std::string::npos);
  CHECK(c.first().advice.find("-A x = -b") != std::string::npos);
}

TEST_CASE("an iteration that diverges is said to diverge; of numbers that leave the range only large ones are blamed") {
  Summary summary;
  summary.method = "idr";
  summary.status = Status::breakdown;
  summary.breakdown = Breakdown::not_finite;
  summary.reason = "the residual is NaN or infinite after iteration 11090";
  summary.history = {1, 1e5, 1e300};
  const auto first = [&](double size) {
    summary.norm_b = size;
    const Matrix A = diagonal({size, 2 * size, 3 * size});
    return diagnose(properties(OpenMP{1}, A.view()), row_statistics(OpenMP{1}, A.view()), {}, summary, {}).front();
  };
  CHECK(first(1).cause == "idr diverged: its residual grew beyond all bounds");
  CHECK(first(1).advice.find("scale") == std::string::npos);
  CHECK(first(1e200).cause == "numbers leave the range of double precision");
  CHECK(first(1e-200).cause == "numbers leave the range of double precision");
}

TEST_CASE("a method that came after one which diverged is told what hinders it") {
  Summary summary;
  summary.method = "gmres";
  summary.status = Status::stagnated;
  summary.reason = "the true residual is 1, and a restart from it does not reduce it";
  summary.norm_b = summary.relative_residual = 1;
  summary.history = {1, 0};
  summary.truth_checks = {{.iteration = 1, .recurrence = 0, .truth = 1}};
  Attempt diverged;
  diverged.method = "minres";
  diverged.breakdown = Breakdown::not_finite;
  summary.attempts = {diverged, summary.as_attempt()};
  MethodChoice choice;
  choice.method = Method::cg;
  choice.preconditioner = PreconditionerKind::amg;
  const Matrix A = tridiagonal(30, 2, -1);
  const auto found =
      diagnose(properties(OpenMP{1}, A.view()), row_statistics(OpenMP{1}, A.view()), choice, summary, {});
  REQUIRE(found.size() > 0);
  CHECK(found.front().cause.starts_with("amg does not suit A"));
}

TEST_CASE("unsymmetric given to cg") {
  const Case c = diagnosed({}, matrix_of(2, {{{0, 1.0}, {1, 9.0}}, {{0, -1.0}, {1, -2.0}}}), ones(2));
  CHECK(c.first().cause == "A is not symmetric, and cg needs that");
  CHECK(c.first().remedy == own_choice);
}

TEST_CASE("symgs on a matrix without a dominant diagonal: told to do without it, which helps") {
  std::mt19937_64 random(7);
  std::vector<Row> rows(40);
  for (auto& row : rows)
    for (Index j = 0; j < 40; ++j) row.emplace(j, double(random() % 2001) / 1000 - 1);
  const Matrix A = matrix_of(40, rows);
  How how{Method::gmres, PreconditionerKind::symgs, Order::natural, 40};
  const Case c = diagnosed(how, A, ramp(40));
  REQUIRE(!c.outcome->converged());
  CHECK(c.first().cause.starts_with("symgs does not suit A"));
  CHECK(c.first().remedy == own_choice);
  how.preconditioner = PreconditionerKind::none;
  CHECK(solve_on(OpenMP{1}, how, A, ramp(40))->converged());
}

TEST_CASE("nearly singular: named before rounding makes it look indefinite, and no tolerance of that size is offered") {
  const Case c =
      diagnosed({Method::cg, PreconditionerKind::symgs, Order::natural, 14, {Method::gmres}}, hilbert(14), ramp(14));
  REQUIRE(!c.outcome->converged());
  CHECK(c.first().cause.starts_with("A is singular, or so nearly singular"));
  for (const auto& d : c.causes) CHECK(d.remedy.find("--tol") == std::string::npos);
}

TEST_CASE("cg that is far from done is told of symgs, with iterations enough") {
  const Criteria criteria{.max_iterations = 3};
  std::mt19937_64 random(7);
  std::vector<double> b(60);
  for (double& v : b) v = double(random() % 2001) / 1000 - 1;
  const Case c = diagnosed({}, tridiagonal(60, 2, -1), b, criteria);
  CAPTURE(c.first().evidence);
  CHECK(c.first().remedy == own_choice + " --max-iterations 20000");
  CHECK(c.first().advice.find("--precond symgs") != std::string::npos);
}

TEST_CASE("a residual that has grown beyond all measure is not called on its way") {
  const Matrix A = poisson(5);
  Summary summary;
  summary.method = "bicgstab";
  summary.history = {1};
  for (int k = 0; k < 40; ++k) summary.history.push_back(1e87 * std::pow(0.5, k));
  summary.iterations = 40;
  summary.relative_residual = 1;
  const auto causes = diagnose(properties(OpenMP{1}, A.view()), row_statistics(OpenMP{1}, A.view()),
                               {Method::bicgstab, PreconditionerKind::none}, summary, {});
  REQUIRE(!causes.empty());
  CHECK(causes[0].cause == "no progress");
}

TEST_CASE("singular with the constants in its null space, and with an empty row") {
  Matrix A = tridiagonal(40, 2, -1);
  A.values[0] = A.values[A.nnz() - 1] = 1;
  const Criteria criteria{.max_iterations = 300};
  const Matrix empty = matrix_of(3, {{{0, 1.0}}, {}, {{2, 1.0}}});
  for (const Method& method : methods) {
    if (!method.takes("none")) continue;
    CHECK(diagnosed({method}, A, ones(40), criteria).first().cause ==
          "A is singular with the constants in its null space");
    CHECK(diagnosed({method}, empty, ones(3)).first().cause == "A is singular");
  }
}

TEST_CASE("of rank one: called singular, not as good as double precision gives it") {
  std::vector<Row> rows(20);
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < 20; ++j) rows[i].emplace(j, std::sin(3.0 * i + 1) * std::cos(7.0 * j));
  const Case c =
      diagnosed({Method::gmres, PreconditionerKind::none, Order::natural, 20}, matrix_of(20, rows), ramp(20));
  REQUIRE(!c.outcome->converged());
  CHECK(c.first().cause.find("singular") != std::string::npos);
  CHECK(!c.names("limit of double precision"));
}

TEST_CASE("one triangle only") {
  std::vector<Row> rows(60);
  for (Index i = 0; i < 60; ++i) {
    if (i > 0) rows[i].emplace(i - 1, -1e3);
    rows[i].emplace(i, 1e-3);
  }
  const Criteria criteria{.max_iterations = 50};
  const Case c =
      diagnosed({Method::gmres, PreconditionerKind::none, Order::natural, 5}, matrix_of(60, rows), ramp(60), criteria);
  CHECK(c.first().cause.find("one triangle") != std::string::npos);
  CHECK(c.first().evidence.find("below") != std::string::npos);
  CHECK(c.first().remedy.empty());
  const Case with_cg = diagnosed({Method::cg}, matrix_of(60, rows), ramp(60), criteria);
  CHECK(with_cg.first().remedy.starts_with(own_choice));  // it may be a triangular matrix, after all
}

TEST_CASE("the limit of double precision") {
  const Matrix A = at_the_limit();
  const How how{Method::cg, PreconditionerKind::symgs};
  Case c = diagnosed(how, A, ones(60));
  REQUIRE(c.outcome->status == Status::stagnated);
  CHECK(c.first().cause == "the limit of double precision is reached");
  CHECK(c.first().remedy == own_choice);  // an eased tolerance is the last resort
  MethodChoice choice = choice_of(how);
  choice.automatic = true;
  c.causes =
      diagnose(properties(OpenMP{1}, A.view()), row_statistics(OpenMP{1}, A.view()), choice, c.outcome.summary, {});
  REQUIRE(c.first().remedy.substr(0, 6) == "--tol ");
  Criteria eased;  // the remedy works
  eased.relative_tolerance = std::stod(c.first().remedy.substr(6));
  CHECK(solve_on(OpenMP{1}, how, A, ones(60), eased)->converged());
}

TEST_CASE("too few iterations: the number that is missing is right within a factor 2") {
  const Matrix A = poisson(60);
  const auto b = ramp(A.nrows);
  const How how{Method::gmres, PreconditionerKind::none, Order::natural, 10};  // a steady rate
  const std::int64_t needed = solve_on(OpenMP{1}, how, A, b)->iterations;
  const Criteria criteria{.max_iterations = needed / 2};
  const Case c = diagnosed(how, A, b, criteria);
  CHECK(c.first().cause.find("too few iterations") != std::string::npos);
  CHECK(c.first().remedy == "--max-iterations 20000");  // the rate may fall
  const std::string about = "about ";
  const double total =
      double(criteria.max_iterations) + std::stod(c.first().cause.substr(c.first().cause.find(about) + about.size()));
  CHECK(total >= 0.5 * double(needed));
  CHECK(total <= 2.0 * double(needed));
}

TEST_CASE("gmres that a limit could not contain ends long before it, and says what it would take") {
  const Matrix A = tridiagonal(2000, 2, -1);
  Criteria criteria{.max_iterations = 5000};
  const Case c = diagnosed({Method::gmres, PreconditionerKind::none, Order::natural, 5}, A, ramp(A.nrows), criteria);
  CHECK(c.outcome->status == Status::stagnated);
  CHECK(c.outcome->iterations < 3000);
  CHECK(c.outcome->reason.find("more are needed") != std::string::npos);
  CHECK(c.first().cause == "gmres restarts too early for this matrix");
  CHECK(c.first().remedy == own_choice + " --max-iterations 20000");
  CHECK(c.first().advice.find("--precond symgs") != std::string::npos);
  criteria.max_iterations = 100;  // too few to tell
  CHECK(solve_on(OpenMP{1}, {Method::gmres, PreconditionerKind::none, Order::natural, 6}, A, ramp(A.nrows), criteria)
            ->status == Status::iteration_limit);
}

TEST_CASE("an indefinite matrix that no method was quick with is called so") {
  Matrix A = poisson(40);
  for (Index i = 0; i < A.nrows; ++i)
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col_idx[k] == i) A.values[k] = 3;
  const Criteria criteria{.max_iterations = 60};
  const How how{Method::cg, PreconditionerKind::none, Order::natural, 20, {Method::gmres}};
  const Case c = diagnosed(how, A, ramp(A.nrows), criteria);
  REQUIRE(c.outcome->status == Status::iteration_limit);
  CHECK(c.first().cause == "A is not positive definite");
  CHECK(c.first().evidence.find("p'Ap") != std::string::npos);
  CHECK(c.first().remedy == own_choice + " --max-iterations 20000");
}

TEST_CASE("advice comes to an end: what was asked for, then the program's own choice, then factors, then nothing") {
  const Matrix A = poisson(5);
  Summary summary;
  summary.method = "idr";
  summary.status = Status::breakdown;
  summary.breakdown = Breakdown::zero_omega;
  summary.history = {1};
  summary.relative_residual = 1;
  MethodChoice choice{.method = Method::idr, .preconditioner = PreconditionerKind::none};
  Criteria criteria;
  const auto remedies = [&] {
    std::set<std::string> all;
    for (const auto& one :
         diagnose(properties(OpenMP{1}, A.view()), row_statistics(OpenMP{1}, A.view()), choice, summary, criteria))
      if (!one.remedy.empty()) all.insert(one.remedy);
    return all;
  };
  using Remedies = std::set<std::string>;
  CHECK(remedies() == Remedies{own_choice});
  choice.automatic = true;
  criteria.max_iterations = 50;
  CHECK(remedies() == Remedies{"--max-iterations 20000"});
  criteria = {};
  CHECK(remedies() == Remedies{"--method direct"});
  summary.attempts = {{.method = "direct",
                       .status = Status::stagnated,
                       .reason = "",
                       .iterations = 0,
                       .relative_residual = 1,
                       .seconds = 0,
                       .breakdown = Breakdown::none,
                       .curvature = 0}};
  CHECK(remedies().empty());

  summary = {};  // a limit of iterations is raised once
  summary.method = "cg";
  summary.norm_b = 1;
  summary.relative_residual = 1e-5;
  for (int k = 0; k <= 20000; ++k) summary.history.push_back(std::pow(10, -k / 4000.0));
  summary.iterations = 20000;
  const Remedies longer = remedies();
  REQUIRE(longer.size() == 1);
  CHECK(longer.begin()->starts_with("--max-iterations 6"));  // twice the 32,000 that the rate says
  criteria.max_iterations = 64000;
  CHECK(remedies() == Remedies{"--method direct"});
  choice.automatic = false;
  CHECK(remedies() == Remedies{own_choice});
}

TEST_CASE("a limit of time is raised by whatever is proposed, whatever else is found") {
  const auto A = diagonal({1, 0, -3, 4});
  Summary summary;
  summary.status = Status::time_limit;
  summary.reason = "the limit of time is reached";
  Criteria criteria;
  criteria.seconds = 0.5;
  for (const char* method : {"direct", "gmres", "minres"})
    for (const bool automatic : {false, true}) {
      CAPTURE(method);
      CAPTURE(automatic);
      summary.method = method;
      summary.history = {1};
      summary.relative_residual = 1;
      MethodChoice choice;
      choice.automatic = automatic;
      const auto found =
          diagnose(properties(OpenMP{1}, A.view()), row_statistics(OpenMP{1}, A.view()), choice, summary, criteria);
      REQUIRE(!found.empty());
      CHECK(found[0].remedy.find("--time-limit 60") != std::string::npos);
      if (summary.method == "direct") CHECK(found[0].cause == "the limit of time is too short for factors");
    }
}

TEST_CASE("symgs is proposed in place of weaker preconditioners alone") {
  for (const auto& [precond, weaker] : {std::pair{PreconditionerKind::jacobi, true},
                                        {PreconditionerKind::none, true},
                                        {PreconditionerKind::ilu0, false},
                                        {PreconditionerKind::symgs, false}}) {
    Criteria criteria;
    criteria.max_iterations = 6;
    const Case c = diagnosed({Method::bicgstab, precond}, poisson(40), ones(1600), criteria);
    bool proposed = false;
    for (const auto& d : c.causes) proposed = proposed || d.advice.find("symgs") != std::string::npos;
    CHECK(proposed == weaker);
  }
}

TEST_CASE("badly scaled") {
  std::vector<double> values(100);
  for (int i = 0; i < 100; ++i) values[i] = std::pow(10.0, i / 7.0);
  const Criteria criteria{.max_iterations = 20};
  const Case c = diagnosed({}, diagonal(values), ones(100), criteria);
  CHECK(c.names("badly scaled"));
  CHECK(c.causes.back().remedy == own_choice + " --max-iterations 20000");
}

TEST_CASE("gmres that restarts too early, bicgstab that breaks down, skew") {
  std::vector<Row> shift(64), skew(64);
  for (Index i = 0; i < 64; ++i) {
    shift[i] = {{(i + 1) % 64, 1.0}};
    if (i > 0) skew[i].emplace(i - 1, -1.0);
    if (i < 63) skew[i].emplace(i + 1, 1.0);
  }
  std::vector<double> b(64);
  b[0] = 1;
  const Matrix A = matrix_of(64, shift);
  const Case early = diagnosed({Method::gmres, PreconditionerKind::none, Order::natural, 20}, A, b);
  CHECK(early.first().cause == "gmres restarts too early for this matrix");
  CHECK(early.first().remedy == own_choice);
  CHECK(diagnosed({Method::bicgstab}, A, b).first().remedy == own_choice);
  CHECK(diagnosed({Method::cg}, matrix_of(64, skew), b).names("skew-symmetric"));
  skew.resize(63), skew[62].erase(63);
  CHECK(diagnosed({Method::gmres}, matrix_of(63, skew), ones(63)).first().cause == "A is singular");
}

TEST_CASE("a right-hand side whose square underflows: a method that takes no squares of it") {
  const std::vector<double> b(20, 1e-200);
  const Case c = diagnosed({}, tridiagonal(20, 2, -1), b);
  CHECK(c.first().cause.starts_with("b is so small"));
  REQUIRE(c.first().remedy == "--method gmres");
  CHECK(solve_on(OpenMP{1}, {Method::gmres}, tridiagonal(20, 2, -1), b)->converged());
}
