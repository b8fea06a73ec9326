// Finds cuBLAS, and hands products to it.
#include <cublas_v2.h>
#include <dlfcn.h>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/cuda_state.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/gemm/cublas.hpp>

namespace seidel::gemm_detail {

namespace {

void* library() {
  static void* const opened = [] {
    const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
    void* const found = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    return found ? found : dlopen(("/usr/local/cuda/lib64/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  return opened;
}

template <class Function>
Function* found(const char* name) {
  void* const function = have_cublas() ? dlsym(library(), name) : nullptr;
  if (!function)
    throw ResourceError("cuBLAS: libcublas.so." + std::to_string(CUBLAS_VER_MAJOR) + " with " + name +
                        " was not found: install the CUDA Toolkit's library cublas, or put it on LD_LIBRARY_PATH");
  return reinterpret_cast<Function*>(function);
}

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw BackendError("cuBLAS: a dense product failed with status " + std::to_string(int(status)));
}

/// One for each Cuda, on its stream.
cublasHandle_t handle_of(const Cuda& on) {
  std::shared_ptr<void>& kept = on.state()->dense_library;
  if (!kept) {
    cublasHandle_t raw;
    check(found<decltype(cublasCreate_v2)>("cublasCreate_v2")(&raw));
    kept = std::shared_ptr<void>(raw, [destroy = found<decltype(cublasDestroy_v2)>("cublasDestroy_v2")](void* handle) {
      destroy(static_cast<cublasHandle_t>(handle));
    });
    check(found<decltype(cublasSetStream_v2)>("cublasSetStream_v2")(raw, on.stream()));
  }
  return static_cast<cublasHandle_t>(kept.get());
}

template <class Real>
cublasOperation_t operation(const DenseView<const Real, Device>& A) {
  return A.layout == Layout::column_major ? CUBLAS_OP_N : CUBLAS_OP_T;
}

/// Whether lines begin and end at multiples of 16 bytes.
template <class T>
bool is_aligned(const DenseView<T, Device>& A) {
  const std::int64_t length = A.layout == Layout::row_major ? A.ncols : A.nrows;
  return reinterpret_cast<std::uintptr_t>(A.data) % 16 == 0 && A.leading_dimension * sizeof(T) % 16 == 0 &&
         length * sizeof(T) % 16 == 0;
}

/// Of few terms, in FP32, with lines that are not aligned: whether C is so small or so narrow that blocks have few tiles each.
/// cuBLAS gains most where the lines of both operands are those of C.
bool small_unaligned_pays(const auto& A, const auto& B, const auto& C) {
  constexpr double few_elements = 1 << 24, few_in_square = 1e7;
  constexpr std::int64_t min_terms = 64, min_terms_in_square = 96, min_side = 1024, narrow = 256;
  if (A.ncols < min_terms) return false;
  const std::int64_t side = std::min(C.nrows, C.ncols);
  const double elements = double(C.nrows) * double(C.ncols);
  if (A.layout == Layout::column_major && B.layout == Layout::row_major && elements < few_elements) return true;
  return side < narrow || (A.ncols >= min_terms_in_square && side >= min_side && elements < few_in_square);
}

}  // namespace

bool have_cublas() { return library() != nullptr; }

template <class Real>
void product_by_cublas(const Cuda& on, Real alpha, const DenseView<const Real, Device>& A,
                       const DenseView<const Real, Device>& B, Real beta, const DenseView<Real, Device>& C) {
  if (C.layout == Layout::row_major)  // C' = B' A'
    return product_by_cublas<Real>(on, alpha, transposed(B), transposed(A), beta, transposed(C));
  if (C.nrows == 0 || C.ncols == 0) return;
  using Gemm =
      std::conditional_t<std::is_same_v<Real, double>, decltype(cublasDgemm_v2_64), decltype(cublasSgemm_v2_64)>;
  static Gemm* const multiply = found<Gemm>(std::is_same_v<Real, double> ? "cublasDgemm_v2_64" : "cublasSgemm_v2_64");
  const auto leading = [](const auto& M) { return std::max<std::int64_t>(M.leading_dimension, 1); };
  check(multiply(handle_of(on), operation(A), operation(B), C.nrows, C.ncols, A.ncols, &alpha, A.data, leading(A),
                 B.data, leading(B), &beta, C.data, leading(C)));
}

template <class Real>
bool cublas_pays(const DenseView<const Real, Device>& A, const DenseView<const Real, Device>& B,
                 const DenseView<Real, Device>& C) {
  // Ours wins where few terms leave writing C as the work, where there are too few tiles for large ones, and in large FP64 products
  // whose lines are not aligned.
  constexpr std::int64_t few_terms = 160, long_sum = 4;
  constexpr double few_products = 1 << 30, few_unaligned = 1 << 28, many_unaligned = 7e9;
  const bool aligned = is_aligned(A) && is_aligned(B) && is_aligned(C), in_double = sizeof(Real) == sizeof(double);
  const std::int64_t m = C.nrows, n = C.ncols, k = A.ncols;
  const double products = double(m) * double(n) * double(k);
  if (!have_cublas()) return false;
  if (k <= few_terms) return !in_double && !aligned && small_unaligned_pays(A, B, C);
  if (k > long_sum * std::min(m, n)) return true;
  return products > (aligned ? few_products : few_unaligned) && (aligned || !in_double || products < many_unaligned);
}

/// Never called: names both functions, so that their code is emitted here.
void instances_by_cublas(const Cuda& on) {
  with_each_real(
      [&]<class Real>(Real*) { product_by_cublas<Real>(on, 0, {}, {}, 0, {}), cublas_pays<Real>({}, {}, {}); });
}

}  // namespace seidel::gemm_detail
