// Products of dense matrices: the front door.
#pragma once
#include <seidel/formats/dense.hpp>
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/gemm/bf16.hpp>
#include <seidel/kernels/gemm/cublas.hpp>

namespace seidel {

/// In which order the terms of an element of a product are added.
enum class TermOrder {
  any,  // as the fastest way does it: on a GPU by BF16 tensor cores in FP32, or by cuBLAS, where that takes less time
  ascending  // as one chain, with the same bits on every back end
};

namespace gemm_detail {

/// C = beta C + alpha A B. Shapes fit, nothing overlaps. Instantiated for double and float.
template <class Real>
[[gnu::used]] void product(const OpenMP& on, Real alpha, const DenseView<const Real, Host>& A,
                           const DenseView<const Real, Host>& B, Real beta, const DenseView<Real, Host>& C);
template <class Real>
[[gnu::used]] void product(const Cuda& on, Real alpha, const DenseView<const Real, Device>& A,
                           const DenseView<const Real, Device>& B, Real beta, const DenseView<Real, Device>& C);
/// to[k * leading + i] = scale * from(i, k).
template <class Real>
[[gnu::used]] void copy_by_columns(const Cuda& on, Real scale, const DenseView<const Real, Device>& from, Real* to,
                                   std::int64_t leading);

}  // namespace gemm_detail

/// C = alpha A B + beta C.
///
/// Our own kernels compute each element as one chain of fused multiply-adds, k ascending:
///
///   c = beta c (0 if beta is 0);  for k = 0, 1, ... K - 1:  c = fma(a_ik, alpha b_kj, c)
///
/// with alpha b_kj rounded once. How the work is cut into tiles shows nowhere in it, so every back end does just that:
/// vector instructions of the host, cores and FP64 tensor cores of a GPU. With TermOrder::any a GPU does it in another order where
/// that takes less time: in FP32 by numbers of 8 bits (bf16.hpp), and large products of many terms by cuBLAS.
///
/// Shapes  A is M x K, B is K x N, C is M x N, each in a layout and with a leading dimension of its own; any may be 0.
///         A transposed operand is transposed(A) of formats/dense.hpp. C shares no element with A or B.
/// In/out  C is not read if beta is 0. If alpha or K is 0, A and B are not read.
/// Error   of an element: at most (K + 3) eps (|alpha| |A| |B| + |beta C|) there.
/// Cost    2 M N K flops. A host thread takes up to 5 MB for copies of the blocks of A and B at work. Cuda does not wait;
///         it takes scratch memory for a copy of the operand that alpha multiplies, if alpha is not 1, for one of an operand
///         of up to 160 terms per line that is not aligned to 16 bytes, and what bf16.hpp and cublas.hpp say. Several threads divide C,
///         never a sum: a dot product of long vectors uses one.
/// Repeats bit for bit: with TermOrder::ascending on every back end, with any number of threads, in every layout; else on
///         the same back end, and on the same GPU with the same cuBLAS.
/// Errors  ShapeError; InputError if C overlaps A or B; BackendError.
/// Source  Goto, van de Geijn, Anatomy of high-performance matrix multiplication, ACM TOMS 34(3), 2008.
template <Backend On, class Real>
void gemm(const On& on, std::type_identity_t<Real> alpha,
          const std::type_identity_t<DenseView<const Real, typename On::Space>>& A,
          const std::type_identity_t<DenseView<const Real, typename On::Space>>& B, std::type_identity_t<Real> beta,
          const DenseView<Real, typename On::Space>& C, TermOrder order = TermOrder::any) {
  require_shape(A, C.nrows, A.ncols, "gemm", "A");
  require_shape(B, A.ncols, C.ncols, "gemm", "B");
  require_shape(C, C.nrows, C.ncols, "gemm", "C");
  if (overlap(A, C) || overlap(B, C))
    throw InputError("gemm: C shares memory with A or B; write the product into a matrix of its own");
  if constexpr (!HostBackend<On>)
    if (order == TermOrder::any && alpha != 0) {
      if constexpr (std::is_same_v<Real, float>)
        if (gemm_detail::bf16_pays(on, A, B, C)) return gemm_detail::product_by_bf16(on, alpha, A, B, beta, C);
      if (gemm_detail::cublas_pays(A, B, C)) return gemm_detail::product_by_cublas(on, alpha, A, B, beta, C);
    }
  gemm_detail::product(on, alpha, A, B, beta, C);
}

}  // namespace seidel
