// The judges of bench and validate: what they take, what they refuse, and what both commands make of a wrong rival.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include <seidel/drivers/bench/measure.hpp>
#include <seidel/drivers/bench/run_plan.hpp>
#include <seidel/drivers/validate/checks.hpp>
#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/runtime/errors.hpp>

#include "process.hpp"

using namespace seidel;
using namespace seidel::drivers;

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// A x by rows, terms from left to right; and what the judge allows at each row.
struct Product {
  std::vector<double> y, bound;
};
Product product(const Matrix& A, const std::vector<double>& x) {
  Product p;
  for (Index i = 0; i < A.nrows; ++i) {
    double sum = 0, scale = 0;
    for (std::int64_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
      sum += A.values[e] * x[std::size_t(A.col_idx[e])], scale += std::fabs(A.values[e] * x[std::size_t(A.col_idx[e])]);
    p.y.push_back(sum);
    p.bound.push_back((double(A.row_ptr[i + 1] - A.row_ptr[i]) + 2) * eps * scale);
  }
  return p;
}

/// The pair of sweeps from x, or zero, as a textbook has it.
std::vector<double> pair_of_sweeps(const Matrix& A, const std::vector<double>& b, std::vector<double> x) {
  x.resize(b.size());
  const auto relax = [&](Index i) {
    double rest = b[std::size_t(i)], diagonal = 0;
    for (std::int64_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
      if (A.col_idx[e] == i)
        diagonal = A.values[e];
      else
        rest -= A.values[e] * x[std::size_t(A.col_idx[e])];
    x[std::size_t(i)] = rest / diagonal;
  };
  for (Index i = 0; i < A.nrows; ++i) relax(i);
  for (Index i = A.nrows; i-- > 0;) relax(i);
  return x;
}

Matrix random_matrix() { return generate(Serial{}, "random:130x117:2500", 3); }

/// seidel's own, spoilt after it has run.
template <class Spoil>
Prepared spoilt(const Task& task, const Where& where, Spoil spoil) {
  const Rival* honest = nullptr;
  for (const Rival& rival : rivals())
    if (!honest && rival.kernel == task.kernel) honest = &rival;
  Prepared prepared = honest->prepare(task, where);
  const auto output = prepared.output;
  prepared.output = [output, spoil](std::vector<double>& to) {
    output(to);
    if (!to.empty()) spoil(to);
  };
  return prepared;
}
Prepared one_entry_off(const Task& task, const Where& where) {
  return spoilt(task, where, [](auto& y) { y[y.size() / 2] += 1e-9; });
}
Prepared entries_unwritten(const Task& task, const Where& where) {
  return spoilt(task, where, [](auto& y) { y.back() = std::numeric_limits<double>::quiet_NaN(); });  // the poison stays
}
Prepared other_bits(const Task& task, const Where& where) {
  return spoilt(task, where, [](auto& y) { y[0] = std::nextafter(y[0], 2 * y[0]); });
}

std::vector<Rival> with(const Rival& wrong) {
  std::vector<Rival> all(rivals().begin(), rivals().end());
  all.push_back(wrong);
  return all;
}

}  // namespace

TEST_CASE("a product in another order of summation is right, one off by a little more than the bound is not") {
  const Matrix A = random_matrix();
  const Task task = make_task("spmv", A, 1, Layout::row_major, 7);
  const Product p = product(A, task.input);
  CHECK(task.error(p.y) <= 1);
  for (const std::size_t at : {std::size_t(0), std::size_t(64), p.y.size() - 1}) {
    if (p.bound[at] == 0) continue;
    CAPTURE(at);
    auto off = p.y;
    off[at] += 2.5 * p.bound[at];
    CHECK(task.error(off) > 1);
    off[at] = std::numeric_limits<double>::quiet_NaN();
    CHECK(!(task.error(off) <= 1));
  }
  CHECK(!(task.error({}) <= 1));
}

TEST_CASE("each column of several right-hand sides is judged, in both layouts") {
  const Matrix A = random_matrix();
  constexpr std::int64_t k = 3;
  for (const Layout layout : {Layout::row_major, Layout::column_major}) {
    const Task task = make_task("spmm", A, k, layout, 7);
    const auto place = [&](std::int64_t i, std::int64_t j, std::int64_t rows) {
      return std::size_t(layout == Layout::row_major ? i * k + j : j * rows + i);
    };
    std::vector<double> Y(std::size_t(A.nrows * k));
    for (std::int64_t j = 0; j < k; ++j) {
      std::vector<double> x;
      for (std::int64_t c = 0; c < A.ncols; ++c) x.push_back(task.input[place(c, j, A.ncols)]);
      const Product p = product(A, x);
      for (std::int64_t i = 0; i < A.nrows; ++i) Y[place(i, j, A.nrows)] = p.y[std::size_t(i)];
    }
    CHECK(task.error(Y) <= 1);
    Y[place(5, 2, A.nrows)] += 1e-9;
    CHECK(task.error(Y) > 1);
  }
}

TEST_CASE("a pair of sweeps is judged by its equations, from zero and from a guess") {
  const Matrix A = generate(Serial{}, "convdiff:9");
  for (const std::string_view kernel : {"symgs", "symgs-guess"}) {
    const Task task = make_task(kernel, A, 1, Layout::row_major, 7);
    CHECK(task.guess.empty() == (kernel == "symgs"));
    auto x = pair_of_sweeps(A, task.input, task.guess);
    CHECK(task.error(x) <= 1);
    if (!task.guess.empty()) {
      CHECK(task.error(task.guess) > 1);
      CHECK(task.error(pair_of_sweeps(A, task.input, {})) > 1);
    }
    for (const std::size_t at : {std::size_t(0), x.size() / 2, x.size() - 1}) {
      auto off = x;
      off[at] *= 1 + 1e-12;
      CHECK(task.error(off) > 1);
      off[at] = std::numeric_limits<double>::quiet_NaN();
      CHECK(!(task.error(off) <= 1));
    }
  }
}

TEST_CASE("pairs of sweeps for several columns are judged column by column, in both layouts") {
  const Matrix A = generate(Serial{}, "convdiff:9");
  const std::int64_t n = A.nrows, k = 3;
  for (const Layout layout : {Layout::row_major, Layout::column_major}) {
    const Task task = make_task("symgs", A, k, layout, 7);
    const auto at = [&](std::int64_t i, std::int64_t j) {
      return std::size_t(layout == Layout::row_major ? i * k + j : j * n + i);
    };
    std::vector<double> X(task.input.size());
    for (std::int64_t j = 0; j < k; ++j) {
      std::vector<double> b(static_cast<std::size_t>(n));
      for (std::int64_t i = 0; i < n; ++i) b[std::size_t(i)] = task.input[at(i, j)];
      const auto x = pair_of_sweeps(A, b, {});
      for (std::int64_t i = 0; i < n; ++i) X[at(i, j)] = x[std::size_t(i)];
    }
    CHECK(task.error(X) <= 1);
    for (std::int64_t j = 0; j < k; ++j) {
      auto off = X;
      off[at(n / 2, j)] *= 1 + 1e-12;
      CHECK(task.error(off) > 1);
    }
    auto short_of_one = X;
    short_of_one.pop_back();
    CHECK(!(task.error(short_of_one) <= 1));
  }
}

TEST_CASE("several right-hand sides: ours are right, and who takes one at a time is refused") {
  const Matrix A = generate(Serial{}, "poisson2d:19");
  Plan plan;
  plan.trials = 0, plan.threads = {3}, plan.k = {3}, plan.layouts = {Layout::row_major, Layout::column_major};
  for (const Measurement& m : measure("symgs", "A", A, plan, nullptr)) {
    CAPTURE(m.rival->name());
    CAPTURE(m.reason);
    CHECK(m.verdict == (m.rival->variant.empty() ? Verdict::right : Verdict::refused));
  }
}

TEST_CASE("a transpose is judged entry by entry") {
  const Matrix A = random_matrix();
  const Task task = make_task("transpose", A, 1, Layout::row_major, 7);
  std::vector<double> T, same;
  flat(transpose(Serial{}, A.view()), T), flat(A, same);
  CHECK(task.error(T) == 0);
  for (const std::size_t at : {std::size_t(0), T.size() / 2, T.size() - 1}) {
    auto off = T;
    off[at] += 1;
    CHECK(!(task.error(off) <= 1));
  }
  CHECK(!(task.error(same) <= 1));
}

TEST_CASE("a matrix that would make every answer right has no task") {
  Matrix A = random_matrix();
  A.values[17] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(make_task("spmv", A, 1, Layout::row_major, 1), InputError);
  Matrix P = generate(Serial{}, "poisson2d:4");
  P.values[0] = 0;
  CHECK_THROWS_AS(make_task("symgs", P, 1, Layout::row_major, 1), ZeroDiagonal);
}

TEST_CASE("every rival of the registry is right, has a name of its own, and patterns find it") {
  std::vector<std::string> names;
  for (const Rival& rival : rivals()) names.push_back(rival.name());
  auto sorted = names;
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
  CHECK(matches("spmv.*.serial", "spmv.csr.serial"));
  CHECK(!matches("spmv.*.serial", "spmv.csr.serial.eigen"));
  CHECK(matches("*.eigen", "spmv.csr.serial.eigen"));
  CHECK(matches("sp?v*", "spmv.csr.serial"));
  const Matrix A = generate(Serial{}, "poisson2d:19");
  Plan plan;
  plan.trials = 0, plan.threads = {3};
  for (const std::string_view kernel : kernels) {
    plan.k = {kernel == "spmm" ? 2 : 1};
    for (const Measurement& m : measure(kernel, "A", A, plan, nullptr)) {
      CAPTURE(m.rival->name());
      CAPTURE(m.reason);
      CHECK(m.verdict == Verdict::right);
    }
  }
}

TEST_CASE("a wrong rival is caught by bench and by validate, and never timed") {
  struct Wrong {
    Rival rival;
    std::string reason;
  };
  for (const std::string_view kernel : {"spmv", "spmm", "symgs", "symgs-guess"})
    for (const Wrong& wrong :
         {Wrong{{kernel, "csr", BackendName::serial, "off", false, "", one_entry_off}, "rounding allows"},
          Wrong{{kernel, "csr", BackendName::serial, "unwritten", false, "", entries_unwritten}, "never written"},
          Wrong{{kernel, "csr", BackendName::serial, "bits", true, "", other_bits}, "bits differ"}}) {
      CAPTURE(wrong.rival.name());
      const std::vector<Rival> all = with(wrong.rival);
      BenchKernelOptions bench;
      bench.backend = BackendName::serial, bench.quiet = true;
      BenchPlaces places = bench_places(bench, {});
      const Matrix A = generate(Serial{}, "poisson2d:9");
      Plan plan;
      plan.selection = places.selection, plan.threads = places.threads, plan.trials = 1, plan.warm = true;
      plan.selection.only = wrong.rival.name();  // a trial of each of the others would be most of this test's time
      const auto found = measure(kernel, "A", A, plan, nullptr, all);
      REQUIRE(found.size() == 1);
      const Measurement& m = found[0];
      CHECK(m.rival == &all.back());
      CHECK(m.verdict == Verdict::wrong);
      CHECK(m.sample.empty());
      CAPTURE(m.reason);
      CHECK(tests::contains(m.reason, wrong.reason));
      const std::vector<BenchItem> items = {{"poisson2d:9", {{std::string(kernel)}}}};
      CHECK(run_items(items, {0}, places, bench, {}, all) == 1);
      CHECK(run_items(items, {0}, places, bench, {}) == 0);
      ValidateOptions asked;
      asked.backend = BackendName::serial, asked.quiet = true;
      asked.matrices = {"poisson2d:9"}, asked.only = std::string(kernel) + ".csr.serial*";
      CHECK(validate(asked, all) == 1);
      CHECK(validate(asked, rivals()) == 0);
    }
}
