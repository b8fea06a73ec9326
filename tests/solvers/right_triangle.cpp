// Sides of right triangles, against the C library with longer numbers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <seidel/solvers/right_triangle.hpp>

#include "../matrices.hpp"

using namespace seidel;

namespace {

constexpr double largest = std::numeric_limits<double>::max(), infinity = std::numeric_limits<double>::infinity(),
                 not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a hypotenuse has an error of two units in the last place at most, whatever the sides are") {
  const unsigned seed = tests::fresh_seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> digits(-2, 2), exponent(-1000, 1000), apart(-30, 30);
  double most = 0;
  for (int t = 0; t < 200000; ++t) {
    const double scale = std::exp2(std::floor(exponent(random)));
    const double a = digits(random) * scale, b = digits(random) * scale * std::exp2(std::floor(apart(random)) / 2);
    const double found = hypotenuse(a, b);
    const long double right = std::hypot(static_cast<long double>(a), static_cast<long double>(b));
    most = std::max(most, double(std::abs(found - right) / right) / std::numeric_limits<double>::epsilon());
    if (found != hypotenuse(-b, a)) FAIL_CHECK(a, " and ", b, " are not treated alike");
  }
  MESSAGE("largest error in units of the last place: ", most);
  CHECK(most <= 2);
  CHECK(most > 0.25);  // the comparison sees errors
}

TEST_CASE("right triangles with sides that are 0, tiny, huge, infinite or NaN") {
  CHECK(hypotenuse(3., -4.) == 5);
  CHECK(hypotenuse(0., 0.) == 0);
  CHECK(hypotenuse(0., -2.5) == 2.5);
  CHECK(hypotenuse(3e-320, 4e-320) == doctest::Approx(5e-320));
  CHECK(hypotenuse(largest / 2, largest / 2) == doctest::Approx(largest / std::sqrt(2)));
  CHECK(hypotenuse(largest, largest) == infinity);
  CHECK(hypotenuse(-infinity, 1.) == infinity);
  CHECK(hypotenuse(infinity, infinity) == infinity);
  CHECK(std::isnan(hypotenuse(not_a_number, 1.)));
  CHECK(std::isnan(hypotenuse(1., not_a_number)));
  CHECK(std::isnan(hypotenuse(not_a_number, 0.)));

  const double sides[] = {3e200, 4e200};
  CHECK(leg(5e200, sides, 1) == doctest::Approx(4e200));
  CHECK(leg(5e200, sides, 2) <= 1e193);
  CHECK(leg(1e200, sides, 2) == 0);
  CHECK(leg(0., sides, 2) == 0);
  CHECK(std::isnan(leg(not_a_number, sides, 2)));
}
