// Whichever allocation fails, a solver says so, and nothing is lost.
#include "../allocations.hpp"
#include "systems.hpp"

using namespace seidel;
using namespace seidel::tests;

TEST_CASE("any allocation may fail while a solve is set up") {
  const Matrix A = poisson(24);
  const auto b = ramp(A.nrows);
  const auto check = [&](auto on) {
    for (How how : all_ways()) {
      how.restart = 7;
      CAPTURE(name_of(how));
      Criteria criteria;
      criteria.max_iterations = 2;
      check_every_allocation(4 * A.nrows, [&] { solve_on(on, how, A, b, criteria); });
    }
  };
  check(Serial{});
  check(OpenMP{3});
}
