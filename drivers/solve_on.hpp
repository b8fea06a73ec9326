// A system solved and certified on one back end.
#pragma once
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/csr.hpp>
#include <seidel/solvers/certify.hpp>
#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/criteria.hpp>
#include <seidel/solvers/summary.hpp>

namespace seidel::drivers {

/// What is to be solved, in host memory.
template <class Offset>
struct System {
  CsrView<double, Offset, Host> A;
  HostSpan<const double> b, x0;  // x0 is empty for zero
  double norm_inf_of_A = 0;
  double sell_padding = 1;  // places an entry in SELL
  bool ones = false;        // b is A * ones
};

struct Outcome {
  Summary summary;
  Certificate certificate;
  bool solved = false;  // the certificate is within the tolerance
  Array<double> x;
  double error_against_ones = -1;  // max |x_i - 1|; negative where b is not A * ones
  double setup_seconds = 0, solve_seconds = 0, certify_seconds = 0;
  std::string product_format;                    // "CSR", "SELL-32"
  std::int64_t wavefronts = 0, sweep_bytes = 0;  // of symgs; 0 without
};

/// Solves and certifies. Instantiated for 32- and 64-bit offsets.
template <class Offset>
[[gnu::used]] Outcome solve_on(const Placement& where, const System<Offset>& system, const MethodChoice& choice,
                               const SymgsSettings& sweeps, const Criteria& criteria);

/// What the sweeps of symgs will hold on the host, before they take it. Every diagonal entry of A is stored.
/// Cost    three to five sweeps; for another order than natural A is permuted first, and that copy given back.
/// Errors  InputError for a diagonal that cannot be divided by.
std::int64_t count_sweeps(const Placement& where, const CsrView<double, std::int64_t, Host>& A, Order order,
                          bool single);

}  // namespace seidel::drivers
