// cuBLAS, which computes a product where that is faster, and is a rival of our kernels. Its shared library is opened at the
// first call: neither the library seidel nor its program needs it to start.
#pragma once
#include <seidel/formats/dense.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel::gemm_detail {

/// Whether cuBLAS is here.
bool have_cublas();

/// C = beta C + alpha A B by cuBLAS. Shapes fit, nothing overlaps. Instantiated for double and float.
/// Cost    cuBLAS keeps up to 32 MB for each Cuda from its first product to its end; that one takes 0.1 s and more, and
///         cannot be captured in a graph.
/// Repeats bit for bit on the same GPU with the same library.
/// Errors  ResourceError where cuBLAS is missing; BackendError with its status.
template <class Real>
[[gnu::used]] void product_by_cublas(const Cuda& on, Real alpha, const DenseView<const Real, Device>& A,
                                     const DenseView<const Real, Device>& B, Real beta,
                                     const DenseView<Real, Device>& C);

/// Whether cuBLAS is here and takes less time for such a product than our kernels (docs/gemm.md).
template <class Real>
[[gnu::used]] bool cublas_pays(const DenseView<const Real, Device>& A, const DenseView<const Real, Device>& B,
                               const DenseView<Real, Device>& C);

}  // namespace seidel::gemm_detail
