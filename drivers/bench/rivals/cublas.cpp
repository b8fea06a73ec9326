// cuBLAS, the baseline of dense products on a GPU.
#include <seidel/drivers/bench/rivals/gemm.hpp>
#include <seidel/kernels/gemm/cublas.hpp>

namespace seidel::drivers {

namespace {

template <class Real>
Prepared product(const DenseTask<Real>& task, const Where& where) {
  return dense_product<Cuda>(task, where, [](const Cuda& on, const auto& A, const auto& B, const auto& C) {
    gemm_detail::product_by_cublas<Real>(on, 1, A, B, 0, C);
  });
}

}  // namespace

std::vector<Rival> cublas_rivals() {
  std::vector<Rival> all;
  with_each_real([&]<class Real>(Real*) {
    all.push_back({&gemm_kernel<Real>(), "dense", BackendName::cuda, "cublas", Role::baseline,
                   "cuBLAS, its default math mode (FP32 stays FP32)", product<Real>});
  });
  return all;
}

}  // namespace seidel::drivers
