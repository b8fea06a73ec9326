// Products in FP32 by the BF16 tensor cores of a GPU.
#pragma once
#include <seidel/formats/dense.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel::gemm_detail {

/// Whether these tensor cores are here: compute capability 9.0.
bool have_bf16(const Cuda& on);

/// Whether they are here and take less time for such a product than our other kernels and
/// cuBLAS (docs/gemm.md).
bool bf16_pays(const Cuda& on, const DenseView<const float, Device>& A, const DenseView<const float, Device>& B,
               const DenseView<float, Device>& C);

/// C = beta C + alpha A B, as exact as FP32 is. A row of A or a column of B, times a power of two, is written as x = x_0 + x_1 + x_2
/// per element, with 8 bits each. Six of the nine products of two such parts are computed, each without an error; what the other
/// three would add is at most a rounding of the product in FP32, and a fourth of one on average. Elements of C that are no finite
/// numbers are computed once more as gemm.hpp has them. Shapes fit, nothing overlaps, K is not 0.
///
/// Error   of an element: at most (K + 3) eps (|alpha| |A| |B| + |beta C|) there for K >= 17, and 2^-120 times the product of
///         the largest elements of its row and column. Measured: a quarter of the error of FP32 products by cuBLAS.
/// Cost    12 M N K flops of the tensor cores. It takes scratch memory: 6 bytes per element of A and B, of at most 32,768 rows and
///         columns and of as many terms at a time as fit into `max_scratch` bytes, but at least 1024. Does not wait.
/// Repeats bit for bit, if max_scratch is the same.
/// Errors  BackendError; ResourceError.
/// Source  Henry, Tang, Heinecke, Leveraging the bfloat16 artificial intelligence datatype for higher-precision computations,
///         ARITH 2019. Sums outside the tensor cores: Ootomo, Yokota, Recovering single precision accuracy from tensor cores
///         while surpassing the FP32 theoretical peak performance, IJHPCA 36(4), 2022.
void product_by_bf16(const Cuda& on, float alpha, const DenseView<const float, Device>& A,
                     const DenseView<const float, Device>& B, float beta, const DenseView<float, Device>& C,
                     std::int64_t max_scratch = std::int64_t(1) << 29);

}  // namespace seidel::gemm_detail
