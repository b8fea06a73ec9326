// Gauss-Seidel sweeps: the formula taken literally, the same bits on every back end, and what a textbook promises of
// them.
#include "../backends.hpp"
#include "matrices.hpp"

#include <seidel/kernels/symgs/reference.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

template <class Real>
struct Case {
  std::vector<Real> b, x;  // right-hand side, first guess
  std::vector<Real> forward, backward, symmetric, from_zero;
};

template <class Real>
Case<Real> literal(const Plain& A, Real omega, unsigned seed) {
  const auto csr = csr_of<Real>(A);
  const auto swept = [&](Direction direction, const std::vector<Real>& b, std::vector<Real> x) {
    reference_sweep(csr.view(), direction, b.data(), x.data(), omega);
    return x;
  };
  constexpr auto forward = Direction::forward, backward = Direction::backward;
  Case<Real> c;
  c.b = random_values<Real>(A.nrows(), seed);
  c.x = random_values<Real>(A.nrows(), seed + 1);
  c.forward = swept(forward, c.b, c.x);
  c.backward = swept(backward, c.b, c.x);
  c.symmetric = swept(backward, c.b, c.forward);
  c.from_zero = swept(backward, c.b, swept(forward, c.b, std::vector<Real>(A.nrows(), 0)));
  return c;
}

/// sweep(GaussSeidel, b, x) on back end `on`, from x.
template <class Offset, class Real, class B, class Sweep>
std::vector<Real> swept_on(const B& on, const Plain& plain, const std::vector<Real>& b, const std::vector<Real>& x,
                           const Sweep& sweep) {
  const auto A = copied_to<SpaceOf<B>>(on, csr_of<Real, Offset>(plain).view());
  const GaussSeidel<Real, Offset, B> sweeps(on, A.view());
  const auto b_on = moved_to(on, b);
  auto x_on = moved_to(on, x);
  sweep(sweeps, b_on.span(), x_on.span());
  on.synchronize();
  return moved_back(on, x_on);
}

template <class Offset, class Real>
void check_all_sweeps(const Plain& plain, const Case<Real>& expected, Real omega) {
  on_every_backend([&](auto on) {
    const auto A = copied_to<SpaceOf<decltype(on)>>(on, csr_of<Real, Offset>(plain).view());
    const GaussSeidel<Real, Offset, decltype(on)> sweeps(on, A.view());
    const auto b = moved_to(on, expected.b);
    const auto check = [&](const char* what, const std::vector<Real>& from, const std::vector<Real>& to,
                           const auto& sweep) {
      CAPTURE(what);
      auto x = moved_to(on, from);
      sweep(x.span());
      on.synchronize();
      CHECK(differing(moved_back(on, x), to) == 0);
    };
    check("forward", expected.x, expected.forward, [&](auto x) { sweeps.forward(b, x, omega); });
    check("backward", expected.x, expected.backward, [&](auto x) { sweeps.backward(b, x, omega); });
    check("symmetric", expected.x, expected.symmetric, [&](auto x) { sweeps.symmetric(b, x, omega); });
    check("from zero", poisoned<Real>(plain.nrows()), expected.from_zero,
          [&](auto x) { sweeps.symmetric_from_zero(b, x, omega); });
    check("from zero, again", expected.x, expected.from_zero, [&](auto x) { sweeps.symmetric_from_zero(b, x, omega); });
  });
}

}  // namespace

TEST_CASE_TEMPLATE("sweeps are the literal formula, bit for bit, on every back end", Real, double, float) {
  const unsigned seed = fresh_seed();
  for (const auto& named : awkward_to_sweep(seed))
    for (const Real omega : {Real(1), Real(1.3)}) {
      const Plain& plain = named.plain;
      CAPTURE(named.name);
      CAPTURE(omega);
      check_all_sweeps<std::int32_t>(plain, literal<Real>(plain, omega, seed), omega);
    }
  const Plain plain = random_square(9000, 2, seed);
  check_all_sweeps<std::int64_t>(plain, literal<Real>(plain, Real(0.7), seed), Real(0.7));
}

TEST_CASE("a swept row solves its equation with the newest values, to rounding") {
  const unsigned seed = fresh_seed();
  constexpr double u = std::numeric_limits<double>::epsilon() / 2;
  for (const auto& [name, plain] : awkward_to_sweep(seed)) {
    CAPTURE(name);
    const auto b = random_values<double>(plain.nrows(), seed), old = random_values<double>(plain.nrows(), seed + 1);
    for (const double omega : {1.0, 1.3}) {
      const auto x = swept_on<std::int32_t>(OpenMP{2}, plain, b, old,
                                            [&](const auto& sweeps, auto b, auto x) { sweeps.forward(b, x, omega); });
      std::int64_t wrong = 0;
      for (Index i = 0; i < plain.nrows(); ++i) {
        long double sum = b[i], magnitude = std::abs(b[i]), diagonal = 1;
        for (const auto& [j, value] : plain.rows[i]) {
          if (j == i) diagonal = value;
          if (j == i) continue;
          const long double term = static_cast<long double>(value) * (j < i ? x[j] : old[j]);
          sum -= term, magnitude += std::abs(term);
        }
        const long double exact = (1 - static_cast<long double>(omega)) * old[i] + omega * sum / diagonal;
        const long double scale = magnitude / std::abs(diagonal) + std::abs(old[i]);
        wrong += !(std::abs(x[i] - exact) <= (plain.rows[i].size() + 8) * 2 * u * scale);
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("the solution stays where it is, to rounding") {
  // Small integers: b = A x is exact, and so is all of a sweep but the products with 1 / a_ii.
  const Plain plain = poisson(12, 13, 14);
  std::vector<double> x(plain.nrows()), b(plain.nrows(), 0);
  for (Index i = 0; i < plain.nrows(); ++i) x[i] = i % 17 - 8;
  for (Index i = 0; i < plain.nrows(); ++i)
    for (const auto& [j, value] : plain.rows[i]) b[i] += value * x[j];
  const auto swept = swept_on<std::int32_t>(OpenMP{3}, plain, b, x,
                                            [](const auto& sweeps, auto b, auto x) { sweeps.symmetric(b, x); });
  double worst = 0;
  for (Index i = 0; i < plain.nrows(); ++i) worst = std::max(worst, std::abs(swept[i] - x[i]));
  // An error e in the neighbours moves a row by at most e (weights add up to 1 or less) beside a few roundings of at
  // most 6 * 8 / 6 each: wavefronts may pass it on, so it is bounded by their number.
  CHECK(worst <= 2 * 37 * 16 * 8 * std::numeric_limits<double>::epsilon());
}

TEST_CASE("as a preconditioner of a symmetric matrix SymGS is symmetric and positive") {
  const unsigned seed = fresh_seed();
  const Plain plain = poisson(15, 16, 17);
  const auto x = random_values<double>(plain.nrows(), seed), y = random_values<double>(plain.nrows(), seed + 1);
  const auto zero = std::vector<double>(plain.nrows(), 0);
  const auto apply = [&](const std::vector<double>& r, double omega) {
    return swept_on<std::int32_t>(OpenMP{2}, plain, r, zero,
                                  [&](const auto& sweeps, auto b, auto x) { sweeps.symmetric_from_zero(b, x, omega); });
  };
  for (const double omega : {1.0, 1.3}) {
    const auto Mx = apply(x, omega), My = apply(y, omega);
    long double yMx = 0, xMy = 0, xMx = 0, scale = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      yMx += static_cast<long double>(y[i]) * Mx[i], xMy += static_cast<long double>(x[i]) * My[i];
      xMx += static_cast<long double>(x[i]) * Mx[i], scale += std::abs(y[i] * Mx[i]) + std::abs(x[i] * My[i]);
    }
    // ||M^-1|| is below 1 here and an entry's error below a few u times the rows that it comes from (46 wavefronts).
    CHECK(std::abs(double(yMx - xMy)) <= double(scale) * 46 * 16 * std::numeric_limits<double>::epsilon());
    CHECK(xMx > 0);
  }
}

TEST_CASE_TEMPLATE("a matrix that no sweep can use is refused, naming the first such row", Real, double, float) {
  const auto refused = [](const Plain& plain, const auto& check) {
    on_every_backend([&](auto on) {
      const auto A = copied_to<SpaceOf<decltype(on)>>(on, csr_of<Real>(plain).view());
      check([&] { GaussSeidel<Real, std::int32_t, decltype(on)>(on, A.view()); });
    });
  };
  const Plain good = random_square(20000, 2, 7);
  const auto names_row = [&](const Plain& plain, std::int64_t row) {
    refused(plain, [&](const auto& analyse) {
      try {
        analyse();
        FAIL("not refused");
      } catch (const ZeroDiagonal& error) {
        CHECK(error.row() == row);
      }
    });
  };
  Plain bad = good;
  bad.rows[19990].erase(19990);
  names_row(bad, 19990);
  bad.rows[12345][12345] = 0;
  names_row(bad, 12345);
  bad.rows[17].clear();
  names_row(bad, 17);

  const auto says = [&](const Plain& plain, const char* words) {
    refused(plain, [&](const auto& analyse) { CHECK_THROWS_WITH_AS(analyse(), doctest::Contains(words), InputError); });
  };
  bad = good;
  bad.rows[5][5] = std::numeric_limits<double>::infinity();
  says(bad, "row 6, column 6: found inf");
  bad.rows[5][5] = std::numeric_limits<Real>::denorm_min();
  says(bad, "row 6: the diagonal entry is so small");
  for (const double sign : {1, -1}) {
    bad.rows[3][19000] = std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
    says(bad, "row 4, column 19001: found NaN");
  }
  refused(rows_of_lengths({1}, 3, 1), [](const auto& analyse) {
    CHECK_THROWS_WITH_AS(analyse(), doctest::Contains("found a 1 x 3 matrix, expected a square one"), ShapeError);
  });
}

TEST_CASE("new values are checked, then taken over") {
  const unsigned seed = fresh_seed();
  const Plain plain = random_square(9000, 2, seed);
  const auto expected = literal<double>(plain, 1.0, seed);
  on_every_backend([&](auto on) {
    const auto right = csr_of<double>(plain);
    auto other = csr_of<double>(plain);
    for (auto& v : other.values) v = 2 + v * v;
    const auto A = moved_to(on, other.view());
    GaussSeidel<double, std::int32_t, decltype(on)> sweeps(on, A.view());
    const auto update = [&](const Array<double>& values) {  // which do not outlive the call
      sweeps.update_values(copied_to<SpaceOf<decltype(on)>>(on, values.span()).span());
    };
    update(right.values);
    const auto b = moved_to(on, expected.b);
    const auto sweeps_as_expected = [&] {
      auto x = moved_to(on, expected.x);
      sweeps.symmetric(b, x);
      on.synchronize();
      CHECK(differing(moved_back(on, x), expected.symmetric) == 0);
    };
    sweeps_as_expected();
    const std::int64_t last = right.row_ptr[8999];
    other.values[last] = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH_AS(update(other.values), doctest::Contains("row 9000"), InputError);
    sweeps_as_expected();  // the values before
    for (std::int64_t k = last; k < right.nnz(); ++k) other.values[k] = 0;
    CHECK_THROWS_AS(update(other.values), ZeroDiagonal);
    sweeps_as_expected();
    CHECK_THROWS_AS(update(Array<double>(right.nnz() - 1)), ShapeError);
    update(right.values);
    sweeps_as_expected();
  });
}

TEST_CASE("sizes and wavefronts are told") {
  const Plain plain = poisson(5, 6, 7);
  on_every_backend([&](auto on) {
    const auto A = copied_to<SpaceOf<decltype(on)>>(on, csr_of<double>(plain).view());
    const GaussSeidel<double, std::int32_t, decltype(on)> sweeps(on, A.view());
    CHECK(sweeps.wavefronts() == 16);
    CHECK(sweeps.size() == 210);
    auto short_x = moved_to(on, std::vector<double>(209));
    const auto b = moved_to(on, std::vector<double>(210));
    CHECK_THROWS_AS(sweeps.forward(b, short_x), ShapeError);
  });
}

TEST_CASE("fewer threads than asked for give the same bits") {
  const unsigned seed = fresh_seed();
  const Plain plain = random_square(40000, 4, seed);
  const auto expected = literal<double>(plain, 1.0, seed);
  const auto A = csr_of<double>(plain);
  const GaussSeidel<double, std::int32_t, OpenMP> sweeps(OpenMP{7}, A.view());
  const Array<double> b(expected.b);
  const auto check = [&] {
    Array<double> x(expected.x);
    sweeps.symmetric(b, x);
    return differing(moved_back(OpenMP{1}, x), expected.symmetric);
  };
  CHECK(check() == 0);
  std::int64_t wrong = 0;
#pragma omp parallel num_threads(2)  // the region inside gets one thread
#pragma omp single
  wrong = check();
  CHECK(wrong == 0);
  CHECK(check() == 0);
}
