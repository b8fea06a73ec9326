// Natural order or colours: what an iteration takes, and how many there are.
#include <seidel/solvers/choose_order.hpp>

#include <cmath>
#include <cstdio>

#include <seidel/formats/runtime/quantity.hpp>

namespace seidel {

namespace {

// The number of iterations cannot be known beforehand; most systems that symgs suits take 30 to 500.
constexpr double expected_iterations = 100;
// Iterations to 1e-8 by colours over those in natural order, from 38 systems (docs/notes/orders.md): 0.95 to 1.2 for most
// systems with dominated rows, up to 1.5 for lattices with strong coupling in one direction, 1.0 to 1.35 for most others.
constexpr double more_if_dominated = 1.1, more_if_not = 1.25;

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

/// The estimate for sweeps of so many steps that follow each other.
OrderEstimate estimate(const SweepMachine& machine, const SweptMatrix& A, double setup_per_entry, std::int64_t steps,
                       double seconds_per_step, double iterations) {
  const double n = double(A.nrows), nnz = double(A.nnz);
  const double pair = pair_bytes(n, nnz) / machine.bytes_per_second + 2 * double(steps) * seconds_per_step;
  return {setup_per_entry * nnz, pair, pair + rest_bytes(n, nnz) / machine.bytes_per_second, iterations};
}

}  // namespace

OrderEstimate estimate_natural(const SweepMachine& machine, const SweptMatrix& A) {
  return estimate(machine, A, machine.analysis_seconds_per_entry, A.steps, machine.seconds_per_step,
                  expected_iterations);
}

OrderEstimate estimate_colours(const SweepMachine& machine, const SweptMatrix& A) {
  return estimate(machine, A, machine.analysis_seconds_per_entry + machine.reorder_seconds_per_entry, A.colours,
                  machine.seconds_per_colour, expected_iterations * (A.dominated ? more_if_dominated : more_if_not));
}

OrderChoice choose_order(const SweepMachine& machine, const SweptMatrix& A) {
  const OrderEstimate natural = estimate_natural(machine, A), colours = estimate_colours(machine, A);
  const double rows_per_step = A.steps > 0 ? double(A.nrows) / double(A.steps) : 0;
  const std::string has = plural(A.steps, "step") + " of " +
                          (rows_per_step < 100 ? text("%.3g row%s", rows_per_step, rows_per_step == 1 ? "" : "s")
                                               : plural(std::llround(rows_per_step), "row"));
  const std::string against =
      text("about %.2g ms per iteration on a GPU against %.2g by %lld colours, which may need %.0f %% more of them",
           1e3 * natural.iteration_seconds, 1e3 * colours.iteration_seconds, (long long)A.colours,
           100 * (colours.iterations / natural.iterations - 1));
  if (natural.seconds() <= colours.seconds())
    return {Order::natural, text("whose sweep has %s: %s", has.c_str(), against.c_str())};
  return {Order::colours, text("because natural order has %s%s: %s", rows_per_step < 4 ? "no parallelism, " : "",
                               has.c_str(), against.c_str())};
}

OrderChoice choose_order_on_host() {
  return {Order::natural, "which needs the fewest iterations, and gives the same bits with any number of threads"};
}

}  // namespace seidel
