// The judges of bench and validate: what they take, what they refuse, and what both commands make of a wrong rival.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <seidel/drivers/bench/kernels/tasks.hpp>
#include <seidel/drivers/bench/measure.hpp>
#include <seidel/drivers/bench/run_plan.hpp>
#include <seidel/drivers/validate/checks.hpp>
#include <seidel/formats/convert.hpp>
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

Matrix scaled(Matrix A, double factor) {
  for (double& value : A.values) value *= factor;
  return A;
}
Matrix random_matrix() { return generate(OpenMP{1}, "random:130x117:2500", 3); }
MatrixOperand operand_of(Matrix A) { return {"A", std::move(A)}; }

std::vector<double> vector_of(const Array<double>& x) { return {x.begin(), x.end()}; }
Answer answer_of(const std::vector<double>& y) {
  Answer answer;
  answer.own(Array<double>(y));
  return answer;
}

/// seidel's own, spoilt after it has run.
template <class Spoil>
Prepared spoilt(const Kernel& kernel, const Task& task, const Where& where, Spoil spoil) {
  Prepared prepared = std::ranges::find(rivals(), &kernel, &Rival::kernel)->prepare(task, where);
  prepared.answer = [honest = prepared.answer, spoil] {
    const Answer answer = honest();
    const auto numbers = answer.array<double>(0);
    std::vector<double> y(numbers.begin(), numbers.end());
    spoil(y);
    return answer_of(y);
  };
  return prepared;
}
template <const Kernel& kernel>
Prepared one_entry_off(const Task& task, const Where& where) {
  return spoilt(kernel, task, where, [](auto& y) { y[y.size() / 2] += 1e-9; });
}
template <const Kernel& kernel>
Prepared entries_unwritten(const Task& task, const Where& where) {  // the poison stays
  return spoilt(kernel, task, where, [](auto& y) { y.back() = std::numeric_limits<double>::quiet_NaN(); });
}
template <const Kernel& kernel>
Prepared other_bits(const Task& task, const Where& where) {
  return spoilt(kernel, task, where, [](auto& y) { y[0] = std::nextafter(y[0], 2 * y[0]); });
}

/// Ways to be wrong, and what is said of them.
template <const Kernel& kernel>
struct Wrong {
  static std::vector<std::pair<Rival, std::string>> all() {
    const auto rival = [](const char* name, Role role, Prepare prepare) {
      return Rival{&kernel, "csr", BackendName::serial, name, role, "", std::move(prepare)};
    };
    return {{rival("off", Role::rounded, one_entry_off<kernel>), "rounding allows"},
            {rival("unwritten", Role::rounded, entries_unwritten<kernel>), "never written"},
            {rival("bits", Role::exact, other_bits<kernel>), "bits differ"}};
  }
};

std::vector<Rival> with(const Rival& wrong) {
  std::vector<Rival> all(rivals().begin(), rivals().end());
  all.push_back(wrong);
  return all;
}

}  // namespace

TEST_CASE("a cycle that leaves less energy of the error is right; nothing, NaN and a correction too many are not") {
  MatrixOperand of = operand_of(generate(OpenMP{1}, "poisson2d:20"));
  const MultigridTask task(of, {}, MultigridTask::Step::cycle);
  const Prepared cycle = std::ranges::find(rivals(), &kernels::amg_cycle, &Rival::kernel)->prepare(task, {OpenMP{1}});
  cycle.poison();
  CHECK(!(task.error(cycle.answer()) <= 1));
  cycle.run();
  const auto answer = cycle.answer();
  CHECK(task.error(answer) < 0.5);
  const auto z = answer.array<double>(0);
  const auto times = [&](double factor) {
    std::vector<double> y(z.begin(), z.end());
    for (double& entry : y) entry *= factor;
    return task.error(answer_of(y));
  };
  CHECK(times(0) == doctest::Approx(1));
  CHECK(times(-1) > 1);
  CHECK(times(3) > 1);
  CHECK(std::isnan(task.error(answer_of({1}))));
  MatrixOperand negative = operand_of(scaled(generate(OpenMP{1}, "poisson2d:20"), -1));
  CHECK_THROWS_AS(MultigridTask(negative, {}, MultigridTask::Step::setup), InputError);
}

TEST_CASE("what bench takes for a setup and for new values forgets the poison before") {
  MatrixOperand of = operand_of(generate(OpenMP{1}, "poisson2d:20"));
  const MultigridTask task(of, {}, MultigridTask::Step::setup);
  std::vector<Answer> answers;
  for (const Kernel* kernel : {&kernels::amg, &kernels::amg_values}) {
    const Prepared ready = std::ranges::find(rivals(), kernel, &Rival::kernel)->prepare(task, {OpenMP{1}});
    ready.poison();
    const Answer poisoned = ready.answer().copied();
    ready.run();
    answers.push_back(ready.answer().copied());
    CHECK(!same_bits(poisoned, answers.back()));
    CHECK(task.error(answers.back()) < 0.5);
  }
  CHECK(same_bits(answers[0], answers[1]));
}

TEST_CASE("a product in another order of summation is right, one off by a little more than the bound is not") {
  MatrixOperand of = operand_of(random_matrix());
  const ProductTask task(of, {});
  const Product p = product(of.A, vector_of(task.x));
  CHECK(task.error(answer_of(p.y)) <= 1);
  for (const std::size_t at : {std::size_t(0), std::size_t(64), p.y.size() - 1}) {
    if (p.bound[at] == 0) continue;
    CAPTURE(at);
    auto off = p.y;
    off[at] += 2.5 * p.bound[at];
    CHECK(task.error(answer_of(off)) > 1);
    off[at] = std::numeric_limits<double>::quiet_NaN();
    CHECK(!(task.error(answer_of(off)) <= 1));
  }
  CHECK(!(task.error(answer_of({})) <= 1));
  CHECK(!(task.error({}) <= 1));
}

TEST_CASE("each column of several right-hand sides is judged, in both layouts") {
  MatrixOperand of = operand_of(random_matrix());
  const Matrix& A = of.A;
  constexpr std::int64_t k = 3;
  for (const Layout layout : {Layout::row_major, Layout::column_major}) {
    const ProductTask task(of, {.k = k, .layout = layout});
    const auto place = [&](std::int64_t i, std::int64_t j, std::int64_t rows) {
      return std::size_t(layout == Layout::row_major ? i * k + j : j * rows + i);
    };
    std::vector<double> Y(std::size_t(A.nrows * k));
    for (std::int64_t j = 0; j < k; ++j) {
      std::vector<double> x;
      for (std::int64_t c = 0; c < A.ncols; ++c) x.push_back(task.x[std::int64_t(place(c, j, A.ncols))]);
      const Product p = product(A, x);
      for (std::int64_t i = 0; i < A.nrows; ++i) Y[place(i, j, A.nrows)] = p.y[std::size_t(i)];
    }
    CHECK(task.error(answer_of(Y)) <= 1);
    Y[place(5, 2, A.nrows)] += 1e-9;
    CHECK(task.error(answer_of(Y)) > 1);
  }
}

TEST_CASE("a pair of sweeps is judged by its equations, from zero and from a guess") {
  MatrixOperand of = operand_of(generate(OpenMP{1}, "convdiff:9"));
  for (const auto start : {SweepTask::Start::zero, SweepTask::Start::guess}) {
    const SweepTask task(of, {}, start);
    const auto b = vector_of(task.b), guess = vector_of(task.guess);
    CHECK(guess.empty() == (start == SweepTask::Start::zero));
    auto x = pair_of_sweeps(of.A, b, guess);
    CHECK(task.error(answer_of(x)) <= 1);
    if (!guess.empty()) {
      CHECK(task.error(answer_of(guess)) > 1);
      CHECK(task.error(answer_of(pair_of_sweeps(of.A, b, {}))) > 1);
    }
    for (const std::size_t at : {std::size_t(0), x.size() / 2, x.size() - 1}) {
      auto off = x;
      off[at] *= 1 + 1e-12;
      CHECK(task.error(answer_of(off)) > 1);
      off[at] = std::numeric_limits<double>::quiet_NaN();
      CHECK(!(task.error(answer_of(off)) <= 1));
    }
  }
}

TEST_CASE("pairs of sweeps for several columns are judged column by column, in both layouts") {
  MatrixOperand of = operand_of(generate(OpenMP{1}, "convdiff:9"));
  const std::int64_t n = of.A.nrows, k = 3;
  for (const Layout layout : {Layout::row_major, Layout::column_major}) {
    const SweepTask task(of, {.k = k, .layout = layout}, SweepTask::Start::zero);
    const auto at = [&](std::int64_t i, std::int64_t j) {
      return std::size_t(layout == Layout::row_major ? i * k + j : j * n + i);
    };
    std::vector<double> X(std::size_t(n * k));
    for (std::int64_t j = 0; j < k; ++j) {
      std::vector<double> b(static_cast<std::size_t>(n));
      for (std::int64_t i = 0; i < n; ++i) b[std::size_t(i)] = task.b[std::int64_t(at(i, j))];
      const auto x = pair_of_sweeps(of.A, b, {});
      for (std::int64_t i = 0; i < n; ++i) X[at(i, j)] = x[std::size_t(i)];
    }
    CHECK(task.error(answer_of(X)) <= 1);
    for (std::int64_t j = 0; j < k; ++j) {
      auto off = X;
      off[at(n / 2, j)] *= 1 + 1e-12;
      CHECK(task.error(answer_of(off)) > 1);
    }
    auto short_of_one = X;
    short_of_one.pop_back();
    CHECK(!(task.error(answer_of(short_of_one)) <= 1));
  }
}

TEST_CASE("several right-hand sides: ours are right, and who takes one at a time is refused") {
  MatrixOperand of = operand_of(generate(OpenMP{1}, "poisson2d:19"));
  Plan plan;
  plan.trials = 0, plan.threads = {3};
  for (const Layout layout : {Layout::row_major, Layout::column_major})
    for (const Measurement& m : measure(kernels::symgs, of, {.k = 3, .layout = layout}, plan)) {
      CAPTURE(m.rival->name());
      CAPTURE(m.reason);
      CHECK(m.verdict == (m.rival->variant.empty() ? Verdict::right : Verdict::refused));
    }
}

TEST_CASE("a transpose is judged entry by entry") {
  MatrixOperand of = operand_of(random_matrix());
  const TransposeTask task(of, {}, TransposeTask::Pattern::is_new);
  const auto A = with_offsets<std::int32_t>(OpenMP{1}, of.A.view());
  const auto error_of = [&](const CsrView<double, std::int32_t, Host>& T) {
    return task.error(drivers::answer_of(OpenMP{1}, T));
  };
  auto T = transpose(OpenMP{1}, A.view());
  CHECK(error_of(T.view()) == 0);
  CHECK(!(error_of(A.view()) <= 1));
  CHECK(!(error_of({}) <= 1));
  const auto off_at = [&](auto& numbers, std::int64_t at) {
    ++numbers[at];
    CHECK(!(error_of(T.view()) <= 1));
    --numbers[at];
  };
  for (const std::int64_t at : {std::int64_t(0), T.nnz() / 2, T.nnz() - 1}) off_at(T.col_idx, at), off_at(T.values, at);
  for (const Index at : {0, T.nrows / 2, T.nrows}) off_at(T.row_ptr, at);
}

TEST_CASE("an answer is kept apart from what later runs write, and equal to the bit or not at all") {
  Array<double> y(3, 0.0);
  Answer seen, negative;
  seen.add(OpenMP{1}, std::as_const(y).span());
  const Answer kept = seen.copied();
  CHECK(same_bits(seen, kept));
  negative.own(Array<double>(std::vector<double>{0, -0.0, 0}));
  CHECK(!same_bits(kept, negative));
  y[1] = 1;
  CHECK(!same_bits(seen, kept));
  Answer shorter, other_type;
  shorter.own(Array<double>(2, 0.0));
  other_type.own(Array<std::int64_t>(3, 0));
  CHECK(!same_bits(kept, shorter));
  CHECK(!same_bits(kept, other_type));
  CHECK(!same_bits(kept, {}));
}

TEST_CASE("an operand that would make every answer right is refused, and the kernel does not fit it") {
  MatrixOperand infinite = operand_of(random_matrix());
  infinite.A.values[17] = std::numeric_limits<double>::infinity();
  MatrixOperand zero = operand_of(generate(OpenMP{1}, "poisson2d:4"));
  zero.A.values[0] = 0;
  CHECK_THROWS_AS(kernels::spmv.require(infinite), InputError);
  CHECK_THROWS_AS(kernels::symgs.require(zero), ZeroDiagonal);
  CHECK(!fits(kernels::spmv, infinite));
  CHECK(!fits(kernels::symgs, zero));
  CHECK(fits(kernels::spmv, zero));
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
  Plan plan;
  plan.trials = 0, plan.threads = {3};
  for (const Kernel* kernel : all_kernels()) {
    const OperandKind& kind = *kernel->takes;
    for (const std::string& word : std::span(kind.for_validation).subspan(1, 2)) {
      const auto operand = kind.make(word, {});
      for (const Measurement& m : measure(*kernel, *operand, {.k = kernel->in_validate.back()}, plan)) {
        CAPTURE(m.rival->name());
        CAPTURE(word);
        CAPTURE(m.reason);
        const bool needs_blocks = m.rival->format.starts_with("bsr");
        CHECK((m.verdict == Verdict::right || (needs_blocks && m.verdict == Verdict::refused)));
      }
    }
  }
  for (const Kernel* kernel : {&kernels::spmv, &kernels::spmm}) {  // blocks of three
    MatrixOperand of = operand_of(generate(OpenMP{1}, "elasticity3d:3"));
    for (const Measurement& m : measure(*kernel, of, {.k = kernel->in_validate.back()}, plan)) {
      if (m.rival->format != "bsr3") continue;
      CAPTURE(m.rival->name());
      CAPTURE(m.reason);
      CHECK(m.verdict == Verdict::right);
    }
  }
}

TEST_CASE_TEMPLATE("a wrong rival is caught by bench and by validate, and never timed", Of, Wrong<kernels::spmv>,
                   Wrong<kernels::spmm>, Wrong<kernels::symgs>, Wrong<kernels::symgs_guess>) {
  for (const auto& [rival, reason] : Of::all()) {
    CAPTURE(rival.name());
    const std::vector<Rival> all = with(rival);
    BenchKernelOptions bench;
    bench.backend = BackendName::serial, bench.quiet = true, bench.trials = 0;
    const Plan places = plan_for(bench);
    MatrixOperand of = operand_of(generate(OpenMP{1}, "poisson2d:9"));
    Plan plan = places;
    plan.trials = 1, plan.warm = true;
    plan.selection.only = rival.name();  // a trial of each of the others would be most of this test's time
    const auto found = measure(*rival.kernel, of, {}, plan, all);
    REQUIRE(found.size() == 1);
    const Measurement& m = found[0];
    CHECK(m.rival == &all.back());
    CHECK(m.verdict == Verdict::wrong);
    CHECK(m.sample.empty());
    CAPTURE(m.reason);
    CHECK(tests::contains(m.reason, reason));
    const std::vector<BenchItem> items = {{"poisson2d:9", {{rival.kernel}}}};
    CHECK(run_items(items, bench, places, all) == 1);
    CHECK(run_items(items, bench, places) == 0);
    ValidateOptions asked;
    asked.backend = BackendName::serial, asked.quiet = true;
    asked.matrices = {"poisson2d:9"}, asked.only = std::string(rival.kernel->name) + ".csr.serial*";
    CHECK(validate(asked, all) == 1);
    CHECK(validate(asked, rivals()) == 0);
  }
}
