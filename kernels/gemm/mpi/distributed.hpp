// C = A B + beta C of matrices in blocks, on a grid of processes.
#pragma once
#include <memory>
#include <string>

#include <seidel/formats/mpi/dense_parts.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// Seconds of one process. A GPU computes while the next panel is sent: `computing` is then what is left to wait for.
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

template <Backend On, class Real>
class Panels;

/// C = A B + beta C with the parts of parts_of, where `on` computes, each row by row without gaps. FP64 or FP32.
///
/// Cost    2 M N K / (P_r P_c) flops each. summa: sends A along rows and B along columns, once; two panels of 256 terms
///         (1024 on a GPU) are held. row_sums: A and B stay; each process but the leaders sends M N / P_r sums once.
///         Between GPUs of their own NCCL sends panels where the build has it, MPI through the host everywhere else.
/// Repeats bit for bit. summa has the bits of gemm() on one machine with TermOrder::ascending, on every grid; row_sums those
///         of its number of columns and its block.
/// Errors  BackendError, ResourceError of one process alone: the others then wait, so the caller must end them.
/// Source  van de Geijn, Watts, SUMMA: scalable universal matrix multiplication, Concurrency 9(4), 1997.
template <Backend On, class Real>
class DistributedProduct {
 public:
  using Space = typename On::Space;

  /// Waits for all processes of the grid, which outlives this.
  DistributedProduct(const On& on, DistributedGemm how, const ProcessGrid& grid, const DistributedShape& shape);
  ~DistributedProduct();

  DistributedTimes apply(Span<const Real, Space> A, Span<const Real, Space> B, Real beta, Span<Real, Space> C);
  /// How panels travel between GPUs; else nothing.
  std::string describe() const;

 private:
  void by_summa(Span<const Real, Space> A, Span<const Real, Space> B, Real beta, Span<Real, Space> C,
                DistributedTimes& times);
  void by_row_sums(Span<const Real, Space> A, Span<const Real, Space> B, Real beta, Span<Real, Space> C,
                   DistributedTimes& times);

  On on_;
  const ProcessGrid& grid_;
  DistributedShape shape_;
  DistributedParts parts_;
  std::unique_ptr<Panels<On, Real>> panels_;  // of summa
};

}  // namespace seidel
