// `--order auto`: in which order symgs takes the rows, by the estimated time to solution.
#pragma once
#include <cstdint>
#include <string>

#include <seidel/solvers/choose_method.hpp>

namespace seidel {

/// What the estimate needs to know of the back end.
struct SweepMachine {
  double bytes_per_second = 0;
  double seconds_per_step = 0;            // that one wavefront waits for another, beyond the time that its bytes take
  double seconds_per_colour = 0;          // the same for one colour and another
  double analysis_seconds_per_entry = 0;  // of the natural sweep
  double reorder_seconds_per_entry = 0;   // colours, the permuted matrix and its way to the back end
};
/// NVIDIA H200: 4.27 TB/s. Pairs of exact sweeps there took bytes / bandwidth + 2 * steps * 0.39 us within 9 % on
/// poisson3d:256 (1.11 ms), hpcg:192 (1.70 ms) and an irregular graph of 23630 wavefronts (18.6 ms), the analysis 0.15
/// ns an entry. Pairs by colours took bytes / bandwidth + 2 * colours * 11 us within 9 % on poisson3d:256 (2 colours,
/// 0.47 ms), hpcg:192 (8, 0.76 ms) and elasticity3d:64 (24, 0.75 ms). What it takes to put the matrix in order is a
/// guess: 1.2 ns an entry. Other GPUs have less bandwidth and similar waits: there the rule leans too far to colours,
/// by less than their ratio.
inline constexpr SweepMachine gpu_sweeps{4.27e12, 0.39e-6, 11e-6, 0.15e-9, 1.2e-9};

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

struct OrderChoice {
  Order order = Order::natural;
  std::string reason;  // goes on from "natural order, "
};

/// On a GPU: the order with the least seconds() to a solution.
OrderChoice choose_order(const SweepMachine& machine, const SweptMatrix& A);
/// On the host: natural, whatever the number of threads, on which no result may depend.
OrderChoice choose_order_on_host();

}  // namespace seidel
