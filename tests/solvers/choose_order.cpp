// Natural order or colours on a GPU: by estimated time to solution, with the numbers in the reason.
#include <doctest/doctest.h>

#include <seidel/solvers/choose_order.hpp>

using namespace seidel;

TEST_CASE("wide wavefronts go in natural order, long chains by colours, and both say what they found") {
  const OrderChoice lattice = choose_order(gpu_sweeps, 256 * 256 * 256, 117000000, 766);
  CHECK(lattice.order == Order::natural);
  CHECK(lattice.reason.find("766 wavefronts of 2.19e+04 rows") != std::string::npos);

  const OrderChoice chain = choose_order(gpu_sweeps, 1000000, 2999998, 1000000);
  CHECK(chain.order == Order::colours);
  CHECK(chain.reason.find("no parallelism") != std::string::npos);
  CHECK(chain.reason.find("1000000 wavefronts of 1 rows") != std::string::npos);

  const OrderChoice thin = choose_order(gpu_sweeps, 2100000, 14700000, 23630);  // wavefronts of 89 rows
  CHECK(thin.order == Order::colours);
  CHECK(thin.reason.find("no parallelism") == std::string::npos);
}

TEST_CASE("the estimate is what was measured on an H200, within 10 %") {
  const auto pair = [](std::int64_t n, std::int64_t nnz, std::int64_t wavefronts) {
    return estimate_natural(gpu_sweeps, n, nnz, wavefronts).pair_seconds;
  };
  CHECK(pair(16777216, 117047296, 766) == doctest::Approx(1.11e-3).epsilon(0.1));  // poisson3d:256
  CHECK(pair(7077888, 189119224, 1338) == doctest::Approx(1.70e-3).epsilon(0.1));  // hpcg:192
}

TEST_CASE("more wavefronts never favour natural order, and the slower order is never taken") {
  bool colours = false;
  for (std::int64_t wavefronts = 1; wavefronts <= 1 << 22; wavefronts *= 2) {
    const auto choice = choose_order(gpu_sweeps, 1 << 22, 7 << 22, wavefronts);
    const bool dearer = estimate_natural(gpu_sweeps, 1 << 22, 7 << 22, wavefronts).seconds() >
                        estimate_colours(gpu_sweeps, 1 << 22, 7 << 22).seconds();
    CHECK((choice.order == Order::colours) == dearer);
    CHECK((!colours || choice.order == Order::colours));
    colours = choice.order == Order::colours;
  }
  CHECK(colours);
  CHECK(choose_order_on_host().order == Order::natural);
  CHECK(choose_order(gpu_sweeps, 0, 0, 0).order == Order::natural);
}
