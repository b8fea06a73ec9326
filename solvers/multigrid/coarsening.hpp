// What multigrid asks of a coarsening. No base class: any callable of this kind fits.
#pragma once
#include <concepts>
#include <functional>

#include <seidel/formats/csr.hpp>
#include <seidel/kernels/blas1/blas1.hpp>

namespace seidel {

/// P = c(on, A): the prolongation to the rows of A from those of a coarser level. A is the matrix of a level, the finest first,
/// in the memory of the back end `on`, which is OpenMP or Cuda. All that follows is made from P: R = P', R A P, the cycle.
///
/// Shapes  A is n x n, P n x m and canonical. A row of A whose row of P is empty has no part in coarser levels. m = 0, or
///         m > 0.9 n, says that A is to be the last level.
template <class C, class B, class Offset>
concept Coarsening = requires(const C& c, const B& on, const CsrView<double, Offset, SpaceOf<B>>& A) {
  { c(on, A) } -> std::same_as<Csr<double, Offset, SpaceOf<B>>>;
};

/// Holds any Coarsening, or none.
template <class B, class Offset>
using AnyCoarsening =
    std::function<Csr<double, Offset, SpaceOf<B>>(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A)>;

}  // namespace seidel
