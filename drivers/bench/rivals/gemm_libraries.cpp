// Eigen, and the BLAS of the system, the baselines of dense products on the host.
#include <dlfcn.h>

#include <seidel/drivers/bench/rivals/eigen_product.hpp>
#include <seidel/drivers/bench/rivals/gemm.hpp>

namespace seidel::drivers {

namespace {

template <class B, class Real>
Prepared eigen(const DenseTask<Real>& task, const Where& where) {
  return dense_product<B>(task, where, [](const auto& on, const auto& A, const auto& B_, const auto& C) {
    eigen_product(on.threads, C.nrows, C.ncols, A.ncols, A.data, B_.data, C.data);
  });
}

/// OpenBLAS if there is one, else what the system has under the name of the reference.
void* blas() {
  static void* const opened = [] {
    for (const char* name : {"libopenblas.so.0", "libblas.so.3"})
      if (void* const found = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
    return static_cast<void*>(nullptr);
  }();
  return opened;
}

template <class Real>
using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const Real*, const Real*,
                      const int*, const Real*, const int*, const Real*, Real*, const int*);

using SetThreads = void (*)(int);
SetThreads blas_threads() {
  return blas() ? reinterpret_cast<SetThreads>(dlsym(blas(), "openblas_set_num_threads")) : nullptr;
}

template <class B, class Real>
Prepared system_blas(const DenseTask<Real>& task, const Where& where) {
  const auto multiply = reinterpret_cast<Gemm<Real>>(dlsym(blas(), std::is_same_v<Real, double> ? "dgemm_" : "sgemm_"));
  if (!multiply) throw ResourceError("the BLAS of the system has no product: install libopenblas0 or libblas3");
  return dense_product<B>(task, where, [multiply](const auto& on, const auto& A, const auto& B_, const auto& C) {
    if (const auto set = blas_threads()) set(on.threads);
    const int m = int(C.nrows), n = int(C.ncols), k = int(A.ncols);
    const int leading_a = std::max(m, 1), leading_b = std::max(k, 1);
    const Real one = 1, zero = 0;
    multiply("N", "N", &m, &n, &k, &one, A.data, &leading_a, B_.data, &leading_b, &zero, C.data, &leading_a);
  });
}

}  // namespace

std::vector<Rival> gemm_libraries_rivals() {
  std::vector<Rival> all;
  with_each_real([&]<class Real>(Real*) {
    const auto add = [&](BackendName backend, std::string_view variant, std::string_view what, Prepare prepare) {
      all.push_back(baseline(gemm_kernel<Real>(), "dense", backend, variant, what, std::move(prepare)));
    };
    if (best_instruction_set() != InstructionSet::baseline) {
      add(BackendName::serial, "eigen", "Eigen's product, compiled for AVX2", eigen<OpenMP, Real>);
      add(BackendName::openmp, "eigen", "Eigen's product, compiled for AVX2, its own threads", eigen<OpenMP, Real>);
    }
    if (blas()) add(BackendName::serial, "blas", "the BLAS of the system", system_blas<OpenMP, Real>);
    if (blas_threads()) add(BackendName::openmp, "blas", "OpenBLAS, its own threads", system_blas<OpenMP, Real>);
  });
  return all;
}

}  // namespace seidel::drivers
