// Solvers take all their memory before the loop.
#include "../allocations.hpp"
#include "systems.hpp"

using namespace seidel;
using namespace seidel::tests;

TEST_CASE("the counter of allocations counts") {
  const std::int64_t before = allocations();
  Array<double> array(5);
  const std::int64_t one = allocations();
  CHECK(one == before + 1);
  std::vector<int> vector(5);
  CHECK(allocations() == one + 1);
}

TEST_CASE("jacobi takes its diagonal and no other memory while it is made, on the host") {
  const Matrix A = poisson(40);
  for (const OpenMP on : {OpenMP{1}, OpenMP{3}}) {
    (void)inverse_diagonal(on, A.view());  // threads take memory when they are first used
    const std::int64_t before = allocations();
    (void)inverse_diagonal(on, A.view());
    const std::int64_t of_diagonal = allocations() - before;
    const JacobiPreconditioner M(on, A.view());
    CHECK(allocations() - before == 2 * of_diagonal);
    CHECK(M.bytes() == 8 * A.nrows);
  }
}

TEST_CASE("nothing is allocated in the loop of a solver, with any preconditioner") {
  const Matrix A = poisson(140);  // large enough for threads
  const auto b = ramp(A.nrows);
  const auto check = [&](auto on) {
    for (How how : all_ways()) {
      how.restart = 5;
      CAPTURE(name_of(how));
      std::int64_t at_first = 0, at_last = 0;
      Criteria criteria{.max_iterations = 40, .error_tolerance = 1e-12};
      criteria.on_iteration = [&](const IterationReport& report) {
        at_last = allocations();
        if (report.iteration == 1) at_first = at_last;
      };
      const Outcome outcome = solve_on(on, how, A, b, criteria);
      REQUIRE(outcome->iterations > 5);
      CHECK(at_first > 0);
      CHECK(at_last - at_first == 0);
    }
  };
  check(OpenMP{1});
  check(OpenMP{3});
}
