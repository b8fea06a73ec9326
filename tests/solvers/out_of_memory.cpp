// Whichever allocation fails, a solver says so, and nothing is lost.
#include "../allocations.hpp"
#include "systems.hpp"

#include <set>
#include <string>

using namespace seidel;
using namespace seidel::tests;

TEST_CASE("any allocation may fail while a solve is set up") {
  const Matrix A = poisson(24);
  const auto b = ramp(A.nrows);
  const auto check = [&](auto on) {
    std::set<std::string>
        seen;  // each method and each preconditioner once: what they take does not depend on the other
    for (How how : all_ways()) {
      const bool new_method = seen.insert("method " + std::string(how.method.name) + to_string(how.form).data()).second;
      const bool new_kind = seen.insert(std::string(how.preconditioner.name) + to_string(how.order).data()).second;
      if (!new_method && !new_kind) continue;
      how.restart = 7;
      CAPTURE(name_of(how));
      const Criteria criteria{.max_iterations = 2};
      check_every_allocation(4 * A.nrows, [&] { solve_on(on, how, A, b, criteria); });
    }
  };
  check(OpenMP{1});
  check(OpenMP{3});
}
