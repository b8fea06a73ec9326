// cuBLAS, the baseline of dense products on a GPU. Its shared library is opened when a rival first asks.
#include <cublas_v2.h>
#include <dlfcn.h>

#include <seidel/drivers/bench/rivals/gemm.hpp>
#include <seidel/drivers/report/format.hpp>

namespace seidel::drivers {

namespace {

void* library() {
  static void* const opened = [] {
    const std::string name = formatted("libcublas.so.{}", CUBLAS_VER_MAJOR);
    void* const found = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    return found ? found : dlopen(("/usr/local/cuda/lib64/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  return opened;
}

template <class Function>
Function* found(const char* name) {
  void* const function = library() ? dlsym(library(), name) : nullptr;
  if (!function)
    throw ResourceError(formatted(
        "cuBLAS: libcublas.so.{} with {} was not found: install the CUDA Toolkit's library cublas, or put it on "
        "LD_LIBRARY_PATH",
        CUBLAS_VER_MAJOR, name));
  return reinterpret_cast<Function*>(function);
}

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw BackendError(formatted("cuBLAS: status {}", int(status)));
}

using Handle = std::shared_ptr<std::remove_pointer_t<cublasHandle_t>>;
Handle handle_on(const Cuda& on) {
  cublasHandle_t raw;
  check(found<decltype(cublasCreate_v2)>("cublasCreate_v2")(&raw));
  const Handle handle(raw, found<decltype(cublasDestroy_v2)>("cublasDestroy_v2"));
  check(found<decltype(cublasSetStream_v2)>("cublasSetStream_v2")(raw, on.stream()));
  return handle;
}

template <class Real>
Prepared product(const DenseTask<Real>& task, const Where& where) {
  using Gemm =
      std::conditional_t<std::is_same_v<Real, double>, decltype(cublasDgemm_v2_64), decltype(cublasSgemm_v2_64)>;
  Gemm* const multiply = found<Gemm>(std::is_same_v<Real, double> ? "cublasDgemm_v2_64" : "cublasSgemm_v2_64");
  return dense_product<Cuda>(
      task, where,
      [multiply, handle = handle_on(*where.cuda)](const Cuda&, const auto& A, const auto& B, const auto& C) {
        const Real one = 1, zero = 0;
        if (C.nrows == 0 || C.ncols == 0) return;
        check(multiply(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, C.nrows, C.ncols, A.ncols, &one, A.data, C.nrows, B.data,
                       std::max<std::int64_t>(A.ncols, 1), &zero, C.data, C.nrows));
      });
}

}  // namespace

std::vector<Rival> cublas_rivals() {
  std::vector<Rival> all;
  for_each_real([&]<class Real>(const Real*) {
    all.push_back({&gemm_kernel<Real>(), "dense", BackendName::cuda, "cublas", Role::baseline,
                   "cuBLAS, its default math mode (FP32 stays FP32)", product<Real>});
  });
  return all;
}

}  // namespace seidel::drivers
