// Solvers in the threads of a program.
#include "systems.hpp"

#include <thread>

using namespace seidel;
using namespace seidel::tests;

TEST_CASE("threads that solve at the same time, each with what it made itself, find the bits of one alone") {
  const Matrix A = poisson(80);
  const auto b = random_vector(fresh_seed(), A.nrows);
  for (const How& how : all_ways()) {
    CAPTURE(name_of(how));
    const Outcome alone = solve_on(OpenMP{2}, how, A, b, {.max_iterations = 5});
    std::vector<Outcome> found(4);
    std::vector<std::thread> threads;
    for (Outcome& mine : found)
      threads.emplace_back([&] { mine = solve_on(OpenMP{2}, how, A, b, {.max_iterations = 5}); });
    for (std::thread& thread : threads) thread.join();
    for (const Outcome& one : found) {
      CHECK(one.x == alone.x);
      CHECK(one->history == alone->history);
    }
  }
}
