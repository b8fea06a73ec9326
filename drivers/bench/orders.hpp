// What an order of Gauss-Seidel sweeps costs and what it gains: a pair of sweeps beside the solve that it is for.
#pragma once
#include <atomic>
#include <span>
#include <string>
#include <vector>

#include <seidel/drivers/bench/kernels/tasks.hpp>
#include <seidel/drivers/bench/output.hpp>

namespace seidel::drivers {

struct OrderRow {
  std::string matrix, order, method;  // cg where the matrix is symmetric with a positive diagonal, else bicgstab
  BackendName backend;
  int threads;
  double setup_seconds, pair_seconds, share_of_copy, share_of_roof;  // pair and shares are 0 where not timed
  std::int64_t wavefronts, iterations;
  bool solved;
  double solution_seconds;  // setup and solve to 1e-8 of b = A * ones
};

/// A row for each of our default sweeps among `pairs`, which are of this matrix (not reordered). Ends at once where
/// `stop` is true, without the row at hand.
std::vector<OrderRow> order_rows(const Matrix& A, std::span<const Measurement> pairs, const Roofs& roofs,
                                 const std::atomic<bool>& stop);

Table table_of(const std::vector<OrderRow>& rows);
Json to_json(const std::vector<OrderRow>& rows);

}  // namespace seidel::drivers
