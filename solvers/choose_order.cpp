// Natural order or colours: what an iteration takes, and how many there are.
#include <seidel/solvers/choose_order.hpp>

#include <cstdio>

namespace seidel {

namespace {

// How many iterations there will be nobody knows; most systems that symgs suits take 30 to 500.
constexpr double expected_iterations = 100;
// Iterations to 1e-8 by colours over those in natural order: poisson3d 1.10, hpcg 1.10, elasticity3d 1.33,
// poisson2d 1.05, bcsstk16 1.10, 1138_bus 1.01.
constexpr double iterations_with_colours = 1.15;
// Sweeps by colours read x once a colour: 0.47 ms for the 0.57 of the bytes on poisson3d:256, 0.76 for 0.55 on
// hpcg:192.
constexpr double colours_over_bytes = 1.2;

double pair_bytes(double n, double nnz) { return 12 * (nnz - n) + 48 * n; }
double rest_bytes(double n, double nnz) {
  return 12 * nnz + 20 * n + 10 * 8 * n;
}  // a product; ten reads and writes of vectors

template <class... Values>
std::string text(const char* format, Values... values) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

/// The estimate whose pair of sweeps takes `pair` seconds.
OrderEstimate estimate(const SweepMachine& machine, double n, double nnz, double setup, double pair,
                       double iterations) {
  return {setup, pair, pair + rest_bytes(n, nnz) / machine.bytes_per_second, iterations};
}

}  // namespace

OrderEstimate estimate_natural(const SweepMachine& machine, std::int64_t nrows, std::int64_t nnz,
                               std::int64_t wavefronts) {
  const double n = double(nrows), entries = double(nnz);
  const double pair =
      pair_bytes(n, entries) / machine.bytes_per_second + 2 * double(wavefronts) * machine.seconds_a_wavefront;
  return estimate(machine, n, entries, machine.analysis_seconds_an_entry * entries, pair, expected_iterations);
}

OrderEstimate estimate_colours(const SweepMachine& machine, std::int64_t nrows, std::int64_t nnz) {
  const double n = double(nrows), entries = double(nnz);
  const double pair = colours_over_bytes * pair_bytes(n, entries) / machine.bytes_per_second;
  return estimate(machine, n, entries, (machine.analysis_seconds_an_entry + machine.reorder_seconds_an_entry) * entries,
                  pair, expected_iterations * iterations_with_colours);
}

OrderChoice choose_order(const SweepMachine& machine, std::int64_t nrows, std::int64_t nnz, std::int64_t wavefronts) {
  const OrderEstimate natural = estimate_natural(machine, nrows, nnz, wavefronts);
  const OrderEstimate colours = estimate_colours(machine, nrows, nnz);
  const double rows_a_wavefront = wavefronts > 0 ? double(nrows) / double(wavefronts) : 0;
  const std::string has = text("%lld wavefronts of %.4g rows", (long long)wavefronts, rows_a_wavefront);
  const std::string against = text(
      "%.2g ms an iteration on a GPU against %.2g by colours, of which there may be %.0f and %.0f, and "
      "%.2g against %.2g s to set up",
      1e3 * natural.iteration_seconds, 1e3 * colours.iteration_seconds, natural.iterations, colours.iterations,
      natural.setup_seconds, colours.setup_seconds);
  if (natural.seconds() <= colours.seconds())
    return {Order::natural, text("which has %s: about %s", has.c_str(), against.c_str())};
  return {Order::colours, text("because natural order has %s%s: about %s",
                               rows_a_wavefront < 4 ? "no parallelism, " : "", has.c_str(), against.c_str())};
}

OrderChoice choose_order_on_host() {
  return {Order::natural, "which needs the fewest iterations, and gives the same bits with any number of threads"};
}

}  // namespace seidel
