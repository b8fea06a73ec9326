// `--order auto`: in which order symgs takes the rows, by the estimated time to solution.
#pragma once
#include <cstdint>
#include <string>

#include <seidel/solvers/choose_method.hpp>

namespace seidel {

/// What the estimate needs to know of the back end.
struct SweepMachine {
  double bytes_per_second = 0;
  double seconds_per_step = 0;            // that a wavefront waits for the one before, beyond the time of its bytes
  double seconds_per_colour = 0;          // the same per colour
  double analysis_seconds_per_entry = 0;  // of the natural sweep
  double reorder_seconds_per_entry = 0;   // finding colours, permuting the matrix, copying it to the back end
};
/// NVIDIA H200. With these numbers the estimate is within 9 % of measured pairs of sweeps (docs/notes/orders.md). Other
/// GPUs have less bandwidth and similar waits: there the rule prefers colours too often.
inline constexpr SweepMachine gpu_sweeps{.bytes_per_second = 4.27e12,
                                         .seconds_per_step = 0.39e-6,
                                         .seconds_per_colour = 11e-6,
                                         .analysis_seconds_per_entry = 0.15e-9,
                                         .reorder_seconds_per_entry = 1.2e-9};

/// A matrix, as far as the time of its sweeps goes.
struct SweptMatrix {
  std::int64_t nrows = 0, nnz = 0;
  std::int64_t steps = 0;    // of a sweep in natural order: wavefronts, of nodes where rows are taken together
  std::int64_t colours = 0;  // of greedy_colours
  bool dominated = true;     // most rows are weakly dominated by their diagonal
};

/// Of cg with symgs. An iteration is a pair of sweeps, a product and the vector operations.
struct OrderEstimate {
  double setup_seconds = 0, pair_seconds = 0, iteration_seconds = 0, iterations = 0;
  double seconds() const { return setup_seconds + iteration_seconds * iterations; }
};
OrderEstimate estimate_natural(const SweepMachine& machine, const SweptMatrix& A);
OrderEstimate estimate_colours(const SweepMachine& machine, const SweptMatrix& A);

/// With so many steps or more a sweep in natural order takes a GPU, which waits after each, longer than one core of the host.
constexpr std::int64_t steps_for_host(std::int64_t nnz) {
  constexpr double seconds_per_entry = 0.5e-9;  // of one core and one sweep: 0.2 to 0.4 ns on Zen 5, more on others
  return 1 + std::int64_t(double(nnz) * seconds_per_entry / gpu_sweeps.seconds_per_step);
}

struct OrderChoice {
  Order order = Order::natural;
  std::string reason;  // continues the sentence "natural order, "
};

/// On a GPU: the order with the least seconds() to a solution.
OrderChoice choose_order(const SweepMachine& machine, const SweptMatrix& A);
/// On the host: natural, whatever the number of threads, on which no result may depend.
OrderChoice choose_order_on_host();

}  // namespace seidel
