// Solves A x = b on a GPU with arrays that are there already and on the caller's stream: nothing is copied.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/preconditioners/symgs.hpp>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// What the program has on the device, by whatever means: cudaMalloc here, CuPy or PyTorch elsewhere.
template <class T>
T* on_device(const std::vector<T>& from) {
  T* to = nullptr;
  check(cudaMalloc(&to, from.size() * sizeof(T)));
  check(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  return to;
}

}  // namespace

int main() {
  if (const std::string missing = seidel::cuda_unavailable_because(); !missing.empty()) {
    std::printf("%s\n", missing.c_str());
    return 77;  // the tests count this as skipped
  }
  const int n = 100;
  std::vector<std::int32_t> row_ptr = {0}, col_idx;
  std::vector<double> values;
  for (int i = 0; i < n; ++i) {  // -x_(i-1) + 2 x_i - x_(i+1) = 1
    for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
      col_idx.push_back(j), values.push_back(j == i ? 2 : -1);
    row_ptr.push_back(std::int32_t(col_idx.size()));
  }
  const std::int64_t nnz = row_ptr.back();
  std::int32_t *const rows = on_device(row_ptr), *const columns = on_device(col_idx);
  double *const entries = on_device(values), *const right = on_device(std::vector<double>(n, 1)),
                *const solution = on_device(std::vector<double>(n, 0));
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));

  const seidel::Cuda on(stream);
  const seidel::CsrView<double, std::int32_t, seidel::Device> A{n, n, {rows, n + 1}, {columns, nnz}, {entries, nnz}};
  const seidel::Vector<double, seidel::Cuda> b(on, {right, n});
  seidel::Vector<double, seidel::Cuda> x(on, {solution, n});
  const auto summary = cg(seidel::MatrixOperator(on, A), seidel::SymgsPreconditioner(on, A), b, x);

  std::vector<double> answer(n);
  check(cudaMemcpyAsync(answer.data(), solution, n * sizeof(double), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  double error = 0;  // against the exact solution x_i = (i + 1) (n - i) / 2
  for (int i = 0; i < n; ++i) error = std::max(error, std::fabs(answer[i] - 0.5 * (i + 1) * (n - i)));
  std::printf("%d iterations, largest error %g\n", int(summary.iterations), error);
  return summary.converged() && error < 1e-3 ? 0 : 1;  // the arrays are the program's: it frees them as it likes
}
