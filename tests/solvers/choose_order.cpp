// Natural order or colours on a GPU: by estimated time to solution, with the numbers in the reason.
#include <doctest/doctest.h>

#include <seidel/formats/generators/generate.hpp>
#include <seidel/kernels/aggregation/nodes.hpp>
#include <seidel/kernels/orders/orders.hpp>
#include <seidel/solvers/choose_order.hpp>

using namespace seidel;

TEST_CASE("wide wavefronts go in natural order, long chains by colours, and both say what they found") {
  const OrderChoice lattice = choose_order(gpu_sweeps, {256 * 256 * 256, 117000000, 766, 2});
  CHECK(lattice.order == Order::natural);
  CHECK(lattice.reason.find("766 steps of 21,902 rows") != std::string::npos);
  CHECK(lattice.reason.find(" ms per iteration on a GPU") != std::string::npos);
  const OrderChoice solid = choose_order(gpu_sweeps, {786432, 61700000, 442, 24, false});  // elasticity3d:64
  CHECK(solid.order == Order::natural);
  CHECK(solid.reason.find("442 steps of 1,779 rows") != std::string::npos);
  CHECK(solid.reason.find("24 colours, which may need 25 % more") != std::string::npos);

  const OrderChoice chain = choose_order(gpu_sweeps, {1000000, 2999998, 1000000, 2});
  CHECK(chain.order == Order::colours);
  CHECK(chain.reason.find("no parallelism") != std::string::npos);
  CHECK(chain.reason.find("1,000,000 steps of 1 row:") != std::string::npos);

  const OrderChoice thin = choose_order(gpu_sweeps, {2100000, 14700000, 23630, 12});  // wavefronts of 89 rows
  CHECK(thin.order == Order::colours);
  CHECK(thin.reason.find("no parallelism") == std::string::npos);
}

TEST_CASE("the estimate is what was measured on an H200, within 10 %") {
  const SweptMatrix poisson{16777216, 117047296, 766, 2}, hpcg{7077888, 189119224, 1338, 8};
  CHECK(estimate_natural(gpu_sweeps, poisson).pair_seconds == doctest::Approx(1.11e-3).epsilon(0.1));
  CHECK(estimate_natural(gpu_sweeps, hpcg).pair_seconds == doctest::Approx(1.70e-3).epsilon(0.1));
  CHECK(estimate_colours(gpu_sweeps, poisson).pair_seconds == doctest::Approx(0.47e-3).epsilon(0.1));
  CHECK(estimate_colours(gpu_sweeps, hpcg).pair_seconds == doctest::Approx(0.76e-3).epsilon(0.1));
}

TEST_CASE("more steps never favour natural order, more colours never colours, and the slower order is never taken") {
  for (const std::int64_t colours : {2, 30, 400}) {
    bool by_colours = false;
    for (std::int64_t steps = 1; steps <= 1 << 22; steps *= 2) {
      const SweptMatrix A{1 << 22, 7 << 22, steps, colours};
      const auto choice = choose_order(gpu_sweeps, A);
      const bool dearer = estimate_natural(gpu_sweeps, A).seconds() > estimate_colours(gpu_sweeps, A).seconds();
      CHECK((choice.order == Order::colours) == dearer);
      CHECK((!by_colours || choice.order == Order::colours));
      by_colours = choice.order == Order::colours;
      SweptMatrix more = A;
      more.colours *= 2;
      CHECK((choice.order == Order::colours || choose_order(gpu_sweeps, more).order == Order::natural));
    }
    CHECK(by_colours);
  }
  CHECK(choose_order_on_host().order == Order::natural);
  CHECK(choose_order(gpu_sweeps, {}).order == Order::natural);
}

TEST_CASE("a node is as many rows of one pattern as follow each other everywhere") {
  const auto nodes_of = [](const char* spec) {
    return unknowns_per_node<OpenMP, std::int64_t>(OpenMP{1}, generate(OpenMP{1}, spec).view());
  };
  CHECK(nodes_of("elasticity3d:4") == 3);
  CHECK(nodes_of("poisson3d:6") == 1);
  const std::int64_t row_ptr[] = {0, 2, 4, 6, 8};
  const Index same[] = {0, 1, 0, 1, 2, 3, 2, 3}, shifted[] = {0, 1, 0, 1, 2, 3, 1, 3};
  const double values[8] = {};
  const auto with = [&](const Index* columns) {
    return unknowns_per_node<OpenMP, std::int64_t>(OpenMP{1}, {4, 4, {row_ptr, 5}, {columns, 8}, {values, 8}});
  };
  CHECK(with(same) == 2);
  CHECK(with(shifted) == 1);
}
