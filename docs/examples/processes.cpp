// A system whose rows the processes of an MPI program share: each makes its own rows, and all solve together.
//
//   mpirun -np 4 build/mpi/docs/examples/example_processes
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include <seidel/formats/mpi/mpi_processes.hpp>
#include <seidel/kernels/distributed/matrix.hpp>
#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/multigrid/distributed.hpp>

namespace {

using seidel::Index;
using On = seidel::Distributed<seidel::OpenMP>;  // Distributed<Cuda>: each process with a GPU

/// Rows first ... last - 1 of the 5-point Laplacian on m x m points, with columns of the whole matrix.
seidel::Csr<double, std::int64_t> laplacian(std::int64_t m, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> row_ptr{0};
  std::vector<Index> col_idx;
  std::vector<double> values;
  for (std::int64_t i = first; i < last; ++i) {
    const auto add = [&](bool is_there, std::int64_t column, double value) {
      if (is_there) col_idx.push_back(Index(column)), values.push_back(value);
    };
    add(i >= m, i - m, -1);
    add(i % m > 0, i - 1, -1);
    add(true, i, 4);
    add(i % m + 1 < m, i + 1, -1);
    add(i + m < m * m, i + m, -1);
    row_ptr.push_back(std::int64_t(values.size()));
  }
  return {Index(last - first), Index(m * m), seidel::Array<std::int64_t>(row_ptr), seidel::Array<Index>(col_idx),
          seidel::Array<double>(values)};
}

/// What one process does.
bool solved(const seidel::Processes& all) {
  const std::int64_t m = 400;
  // Who has which rows. A program that has dealt them out already says how many each has: RowShares(counts).
  const auto rows = std::make_shared<seidel::SharedRows>(all, seidel::RowShares(m * m, all.size()));
  const On on(seidel::OpenMP{1}, rows);
  const seidel::DistributedMatrix A(on, laplacian(m, rows->first(), rows->first() + rows->rows()));
  const seidel::DistributedAmg M(A, {.coarsening = {.unknowns_per_node = 1}}, {});
  auto b = A.range(), x = A.domain();  // the elements of this process
  fill(b, 1);
  const seidel::Summary summary = cg(A, M, b, x);
  const double largest = max_abs(x);  // of all processes, on each of them
  if (all.rank() == 0)
    std::printf("%d processes: %d iterations, residual %.1e, largest entry %.1f\n", all.size(), int(summary.iterations),
                summary.relative_residual, largest);
  return summary.converged() && summary.iterations < 40;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool fine = solved(seidel::MpiProcesses(MPI_COMM_WORLD));
  MPI_Finalize();
  return fine ? 0 : 1;
}
