// C = A B + beta C of matrices in blocks, on a grid of processes.
#pragma once
#include <seidel/formats/mpi/dense_parts.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// Seconds of one process.
struct DistributedTimes {
  double sending = 0;    // blocks and sums between processes, waiting for them included
  double copying = 0;    // between memory of host and device, and blocks into the form that is sent
  double computing = 0;  // products, and adding sums
};

/// Two ways to share the work out on P_r x P_c processes.
enum class DistributedGemm {
  summa,    // each process computes its blocks of C, as those of A and B pass by
  row_sums  // each row of processes computes rows of C, each of its processes with a part of k; the first adds them up
};

/// M x N x K, in blocks of `block`.
struct DistributedShape {
  std::int64_t m = 0, n = 0, k = 0, block = 32;
};

/// Which parts of A, B and C a process needs. With row_sums all but the leaders of rows have a C of no columns.
struct DistributedParts {
  DensePart a, b, c;
};
DistributedParts parts_of(DistributedGemm how, const ProcessGrid& grid, const DistributedShape& shape);

/// C = A B + beta C with the parts of parts_of, each row by row without gaps.
///
/// Cost    2 M N K / (P_r P_c) flops each. summa: sends A along rows and B along columns, once; 256 terms at a time are
///         held. row_sums: A and B stay; each process but the leaders sends M N / P_r sums once. On Cuda its parts are
///         copied there, and C back.
/// Repeats bit for bit. summa has the bits of gemm() on one machine, on every grid; row_sums those of its number of
///         columns and its block.
/// Errors  BackendError, ResourceError of one process alone: the others then wait, so the caller must end them.
/// Source  van de Geijn, Watts, SUMMA: scalable universal matrix multiplication, Concurrency 9(4), 1997.
template <Backend B>
void distributed_gemm(const B& on, DistributedGemm how, const ProcessGrid& grid, const DistributedShape& shape,
                      HostSpan<const double> A, HostSpan<const double> B_, double beta, HostSpan<double> C,
                      DistributedTimes& times);

}  // namespace seidel
