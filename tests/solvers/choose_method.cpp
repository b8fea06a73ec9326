// The rules of `auto`, one matrix for each.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "systems.hpp"

#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/permute.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/statistics.hpp>
#include <seidel/kernels/orders/orders.hpp>
#include <seidel/solvers/multigrid/k_cycle.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {
MethodChoice choice_for(const Matrix& A, const MethodRequest& request = {}) {
  return choose_method(properties(OpenMP{1}, A.view()), row_statistics(OpenMP{1}, A.view()), request);
}
}  // namespace

TEST_CASE("symmetric with a positive diagonal: cg, which goes on with minres, then with gmres") {
  const MethodChoice choice = choice_for(poisson(5));
  CHECK(choice.method == Method::cg);
  CHECK(choice.fallbacks == std::vector<Method>{Method::minres, Method::gmres});
  CHECK(choice.preconditioner == PreconditionerKind::jacobi);
  CHECK(choice.may_drop_preconditioner);
  CHECK(choice.order == Order::natural);
  CHECK(choice.reason ==
        "cg, because A is symmetric with a positive diagonal; jacobi: most rows are dominated by their diagonal");
}

TEST_CASE("cg takes symgs where few rows are dominated, and where something was asked for that it alone has") {
  const auto chosen = [](const Matrix& A, const MethodRequest& request = {}) {
    return choice_for(A, request).preconditioner;
  };
  CHECK(chosen(generate(OpenMP{1}, "elasticity3d:6")) == PreconditionerKind::symgs);
  const Matrix A = poisson(20);
  CHECK(chosen(A, {.order = Order::colours}) == PreconditionerKind::symgs);
  MethodRequest request;
  request.settings.set(form_setting, int(Form::eisenstat));
  CHECK(chosen(A, request) == PreconditionerKind::symgs);
  request.settings.set(form_setting, int(Form::flexible));
  CHECK(chosen(A, request) == PreconditionerKind::jacobi);
  for (const Setting& setting : PreconditionerKind::symgs.settings) {
    request = {};
    request.settings.set(setting, setting.usual);
    CHECK(chosen(A, request) == PreconditionerKind::jacobi);
    request.settings.set(setting, setting.usual + (setting.whole || !setting.words.empty() ? 1 : 0.5));
    CHECK(chosen(A, request) == PreconditionerKind::symgs);
  }
}

TEST_CASE("entries that differ from their mirrors by rounding leave a matrix symmetric, larger differences do not") {
  Matrix A = poisson(5);
  A.values[1] *= 1 + 8 * std::numeric_limits<double>::epsilon();
  CHECK(choice_for(A).method == Method::cg);
  CHECK(choice_for(A).symmetric);
  CHECK(choice_for(A).reason ==
        "cg, because A is symmetric (but for rounding) with a positive diagonal; jacobi: most rows are dominated by "
        "their diagonal");
  CHECK_NOTHROW(choice_for(A, {.preconditioner = PreconditionerKind::ic0}));
  A.values[1] *= 1 + 1e-10;
  CHECK(choice_for(A).method != Method::cg);
  CHECK_FALSE(choice_for(A).symmetric);
  CHECK_THROWS_AS(choice_for(A, {.preconditioner = PreconditionerKind::ic0}), InputError);
}

TEST_CASE("a large lattice whose rows sum to zero: amg; a smaller, a compact or a strictly dominated one: jacobi") {
  const auto chosen = [](const char* name) { return choice_for(generate(OpenMP{1}, name)).preconditioner; };
  CHECK(chosen("poisson2d:100") == PreconditionerKind::amg);
  CHECK(chosen("poisson3d:16x16x100") == PreconditionerKind::amg);
  CHECK(chosen("poisson2d:99") == PreconditionerKind::jacobi);
  CHECK(chosen("poisson3d:24") == PreconditionerKind::jacobi);
  CHECK(chosen("spd:20000:5") == PreconditionerKind::jacobi);
  CHECK(chosen("elasticity3d:24") == PreconditionerKind::amg);  // no row dominated: five iterations per plane
  CHECK(chosen("elasticity3d:20") == PreconditionerKind::symgs);
  CHECK(choice_for(generate(OpenMP{1}, "poisson2d:100")).may_try_gmres);
  CHECK_FALSE(choice_for(generate(OpenMP{1}, "poisson2d:24")).may_try_gmres);
}

TEST_CASE(
    "rows that sum to little count as those that sum to zero, and a coefficient that varies much asks for amg sooner") {
  const auto chosen = [](Matrix A, double shift, Index cells_apart) {
    const auto scale = [&](Index i) { return cells_apart > 0 && i / cells_apart % 2 == 1 ? 100.0 : 1.0; };
    for (Index i = 0; i < A.nrows; ++i)
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        if (A.col_idx[k] == i) A.values[k] += shift;
        A.values[k] *= scale(i) * scale(A.col_idx[k]);
      }
    return choice_for(A).preconditioner;
  };
  const auto at = [](const char* name) { return generate(OpenMP{1}, name); };
  CHECK(chosen(at("poisson2d:120"), 1e-4, 0) == PreconditionerKind::amg);
  CHECK(chosen(at("poisson2d:120"), -1e-4, 0) == PreconditionerKind::amg);
  CHECK(chosen(at("poisson2d:120"), 0.1, 0) == PreconditionerKind::jacobi);
  CHECK(chosen(at("poisson3d:16x16x70"), 0, 0) == PreconditionerKind::jacobi);
  CHECK(chosen(at("poisson3d:16x16x70"), 0, 16 * 16 * 10) == PreconditionerKind::amg);
  CHECK(chosen(at("poisson3d:16x16x45"), 0, 16 * 16 * 10) == PreconditionerKind::jacobi);
}

TEST_CASE("rows without an order: what counts is how far the matrix reaches, not its bandwidth") {
  std::mt19937_64 random(fresh_seed());
  const auto chosen = [&](const Matrix& ordered) {
    Array<Index> order(ordered.nrows);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const Matrix A = permuted(OpenMP{1}, ordered.view(), order.span());
    const Questions questions{.levels = [&](std::int64_t enough) { return count_of_levels(A.view(), enough); }};
    const auto properties = seidel::properties(OpenMP{1}, A.view());
    const auto rows = row_statistics(OpenMP{1}, A.view());
    CHECK(choose_method(properties, rows).preconditioner == PreconditionerKind::jacobi);  // who is not told cannot know
    return choose_method(properties, rows, {}, questions).preconditioner;
  };
  for (const char* name : {"poisson2d:120", "poisson3d:7x7x220"})
    CHECK(chosen(generate(OpenMP{1}, name)) == PreconditionerKind::amg);
  const Index n = 12000;  // a ring with chords, whose ends are some tens of steps apart
  Plain ring{n, std::vector<std::map<Index, double>>(n)};
  const auto couple = [&](Index i, Index j) {
    if (i == j || ring.rows[i].contains(j)) return;
    ring.rows[i][j] = ring.rows[j][i] = -1;
    ++ring.rows[i][i], ++ring.rows[j][j];
  };
  for (Index i = 0; i < n; ++i) couple(i, (i + 1) % n), couple(i, Index(random() % n));
  CHECK(chosen(csr_of<double, std::int64_t>(ring)) == PreconditionerKind::jacobi);
}

TEST_CASE("unsymmetric and dominant: bicgstab; not dominant: gmres; no diagonal: gmres alone") {
  const Matrix dominant = with_dominant_diagonal(random_matrix(1, 50, 50, 4));
  CHECK(choice_for(dominant).method == Method::bicgstab);
  CHECK(choice_for(dominant).fallbacks == std::vector<Method>{Method::gmres, Method::idr});
  CHECK(choice_for(dominant).preconditioner == PreconditionerKind::symgs);

  const Matrix weak = matrix_of(3, {{{0, 1.0}, {1, 9.0}}, {{0, -9.0}, {1, 1.0}, {2, 9.0}}, {{1, 9.0}, {2, 1.0}}});
  CHECK(choice_for(weak).method == Method::gmres);
  CHECK(choice_for(weak).fallbacks == std::vector<Method>{Method::idr});
  CHECK(choice_for(weak).preconditioner == PreconditionerKind::none);  // so small that gmres needs no help
  std::vector<Row> rows(1500, Row{{0, 9.0}, {1499, 1.0}});
  for (Index i = 0; i < 1499; ++i) rows[i] = {{i, 1.0}, {i + 1, 9.0}};
  CHECK(choice_for(matrix_of(1500, rows)).method == Method::gmres);
  CHECK(choice_for(random_matrix(2, 1500, 1500, 9)).method == Method::lsmr);  // with empty rows

  const Matrix holes = matrix_of(2, {{{1, 1.0}}, {{0, 2.0}}});
  CHECK(choice_for(holes).method == Method::gmres);
  CHECK(choice_for(holes).preconditioner == PreconditionerKind::none);
  CHECK(choice_for(holes).reason.find("row 1 has no nonzero entry there") != std::string::npos);
}

TEST_CASE("symmetric, not dominant, not all of the diagonal positive: minres alone, then gmres") {
  const Matrix signs = matrix_of(3, {{{0, 1.0}, {1, 9.0}}, {{0, 9.0}, {1, -1.0}, {2, 9.0}}, {{1, 9.0}, {2, 1.0}}});
  for (const Matrix& A : {copy_of(signs), matrix_of(2, {{{1, 1.0}}, {{0, 1.0}}})}) {
    const MethodChoice choice = choice_for(A);
    CHECK(choice.method == Method::minres);
    CHECK(choice.fallbacks == std::vector<Method>{Method::gmres});
    CHECK(choice.preconditioner == PreconditionerKind::none);
  }
  const MethodRequest request{.preconditioner = PreconditionerKind::symgs};  // not positive definite there
  CHECK(choice_for(signs, request).method == Method::gmres);
}

TEST_CASE("symmetric with a negative diagonal entry is not for cg") {
  CHECK(choice_for(diagonal({1, -1, 2})).method == Method::bicgstab);
  CHECK(choice_for(tridiagonal(9, -2, 1)).method == Method::bicgstab);
}

TEST_CASE("gmres keeps all directions of a small system, 50 of a large one") {
  CHECK(choice_for(tridiagonal(1000, 1, 9)).restart == 1000);
  CHECK(choice_for(tridiagonal(1000, 1, 9)).preconditioner == PreconditionerKind::symgs);  // of cg, which comes first
  CHECK(choice_for(tridiagonal(1001, 1, 9)).restart == 50);
}

TEST_CASE("multigrid as a method takes amg, and nothing else") {
  MethodRequest request{.method = Method::multigrid};
  CHECK(choice_for(poisson(5), request).preconditioner == PreconditionerKind::amg);
  request.preconditioner = PreconditionerKind::symgs;
  CHECK_THROWS_WITH_AS(choice_for(poisson(5), request),
                       "multigrid: found symgs as preconditioner, expected amg\n  leave it out", UsageError);
}

TEST_CASE("what is asked for is taken, and nothing else is tried") {
  MethodRequest request;
  request.method = Method::gmres, request.preconditioner = PreconditionerKind::jacobi;
  request.order = Order::colours, request.settings.set(restart_setting, 7);
  const MethodChoice choice = choice_for(poisson(5), request);
  CHECK(choice.method == Method::gmres);
  CHECK(choice.preconditioner == PreconditionerKind::jacobi);
  CHECK(choice.restart == 7);
  CHECK(choice.fallbacks.empty());
  CHECK(!choice.may_drop_preconditioner);
  CHECK(choice.reason == "gmres, as asked; jacobi, as asked");
  MethodRequest colours;
  colours.order = Order::colours;
  CHECK(choice_for(poisson(5), colours).order == Order::colours);
}

TEST_CASE("a preconditioner that changes takes the flexible form of cg or gmres, and methods without one are refused") {
  const Matrix A = poisson(20);
  MethodRequest request{.preconditioner = PreconditionerKind::amg};
  for (const Setting& setting : PreconditionerKind::amg.settings)
    if (setting.key == "amg.cycle") request.settings.set(setting, int(AmgCycle::k));
  const MethodChoice taken = choice_for(A, request);
  CHECK(taken.method == Method::cg);
  CHECK(taken.form == Form::flexible);
  CHECK(taken.reason.find("flexible") != std::string::npos);
  CHECK(taken.fallbacks == std::vector<Method>{Method::gmres});
  const auto with = [&](const Method& method, std::optional<Form> form = {}) {
    MethodRequest asked = request;
    asked.method = method;
    if (form) asked.settings.set(form_setting, int(*form));
    return choice_for(A, asked).form;
  };
  CHECK(with(Method::gmres) == Form::flexible);
  CHECK(with(Method::gmres, Form::flexible) == Form::flexible);
  CHECK(with(Method::multigrid) == Form::plain);
  CHECK_THROWS_AS(with(Method::cg, Form::plain), UsageError);
  for (const Method& method : {Method::minres, Method::bicgstab, Method::idr})
    CHECK_THROWS_AS(with(method), UsageError);

  request = {};
  CHECK(with(Method::cg, Form::flexible) == Form::flexible);  // also where it need not be
  CHECK(with(Method::cg) == Form::plain);
  CHECK_THROWS_AS(with(Method::minres, Form::flexible), UsageError);
  CHECK(Method::gmres.vectors({.restart = 30, .form = Form::flexible}) == Method::gmres.vectors({.restart = 30}) + 29);
}

TEST_CASE("a system that is not square is refused") {
  CHECK_THROWS_AS(choice_for(matrix_of(3, {{{0, 1.0}}})), ShapeError);
}

TEST_CASE(
    "Eisenstat's form is taken for cg with plain symgs in natural order where rows are wide, and refused elsewhere") {
  const Matrix wide = random_spd(7, 400, 30), narrow = poisson(20);
  MethodRequest request{.preconditioner = PreconditionerKind::symgs};
  CHECK(choice_for(wide, request).form == Form::eisenstat);
  CHECK(choice_for(narrow, request).form == Form::plain);
  request.settings.set(form_setting, int(Form::eisenstat));
  CHECK(choice_for(narrow, request).form == Form::eisenstat);
  request.settings.set(form_setting, int(Form::plain));
  CHECK(choice_for(wide, request).form == Form::plain);

  const auto excluded = [&](auto change) {
    MethodRequest other;
    change(other);
    CHECK(choice_for(wide, other).form == Form::plain);
    other.settings.set(form_setting, int(Form::eisenstat));
    CHECK_THROWS_AS(choice_for(wide, other), UsageError);
  };
  excluded([](MethodRequest& r) { r.method = Method::gmres; });
  excluded([](MethodRequest& r) { r.preconditioner = PreconditionerKind::jacobi; });
  excluded([](MethodRequest& r) { r.order = Order::colours; });
  for (const Setting& detail : PreconditionerKind::symgs.settings)  // relaxed, several pairs, in single precision
    excluded([&](MethodRequest& r) {
      r.settings.set(detail, detail.usual + (detail.whole || !detail.words.empty() ? 1 : 0.5));
    });
}
