// Symmetric Gauss-Seidel as a part for a program with a solver of its own: it takes the program's CSR arrays and plain
// pointers.
//
// The arrays are viewed, not copied, with row pointers of 32 or of 64 bits. On a GPU everything below is the same with
// seidel::Cuda instead of seidel::OpenMP and seidel::Device instead of seidel::Host: the arrays and vectors then lie in
// the GPU's memory, for example from cudaMalloc, and symmetric_from_zero goes to the stream of the Cuda object.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <seidel/kernels/symgs/symgs.hpp>

namespace {

/// A program's own matrix.
struct MyMatrix {
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> col_idx;
  std::vector<double> values;
  std::int32_t n() const { return std::int32_t(row_ptr.size()) - 1; }
};

/// -u'' in two dimensions on m x m points.
MyMatrix laplacian(std::int32_t m) {
  MyMatrix A;
  const auto entry = [&](std::int32_t col, double value) { A.col_idx.push_back(col), A.values.push_back(value); };
  for (std::int32_t i = 0; i < m * m; ++i) {
    if (i >= m) entry(i - m, -1);
    if (i % m > 0) entry(i - 1, -1);
    entry(i, 4);
    if (i % m + 1 < m) entry(i + 1, -1);
    if (i + m < m * m) entry(i + m, -1);
    A.row_ptr.push_back(std::int64_t(A.values.size()));
  }
  return A;
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// The program's own conjugate gradients; `precondition` does z = M^-1 r. Returns the iterations.
template <class Precondition>
int solve(const MyMatrix& A, const std::vector<double>& b, std::vector<double>& x, const Precondition& precondition) {
  const std::size_t n = b.size();
  std::vector<double> r = b, z(n), p(n, 0.0), Ap(n);
  double rz = 1;
  int iteration = 0;
  for (; iteration < 1000 && dot(r, r) > 1e-16 * dot(b, b); ++iteration) {
    precondition(r, z);
    const double rz_old = rz;
    rz = dot(r, z);
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + rz / rz_old * p[i];
    for (std::size_t i = 0; i < n; ++i) {
      Ap[i] = 0;
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) Ap[i] += A.values[k] * p[A.col_idx[k]];
    }
    const double alpha = rz / dot(p, Ap);
    for (std::size_t i = 0; i < n; ++i) x[i] += alpha * p[i], r[i] -= alpha * Ap[i];
  }
  return iteration;
}

}  // namespace

int main() {
  using namespace seidel;
  const MyMatrix A = laplacian(100);
  const std::int64_t n = A.n(), nnz = std::int64_t(A.values.size());
  const CsrView<double, std::int64_t, Host> view{
      A.n(), A.n(), {A.row_ptr.data(), n + 1}, {A.col_idx.data(), nnz}, {A.values.data(), nnz}};

  const GaussSeidel<double, std::int64_t, OpenMP> sweeps(OpenMP{}, view);  // the analysis, once

  const std::vector<double> b(n, 1.0);
  std::vector<double> x(n, 0.0), y(n, 0.0);
  const int with = solve(A, b, x, [&](const std::vector<double>& r, std::vector<double>& z) {
    sweeps.symmetric_from_zero({r.data(), n}, {z.data(), n});
  });
  const int without = solve(A, b, y, [](const std::vector<double>& r, std::vector<double>& z) { z = r; });

  double apart = 0;
  for (std::int64_t i = 0; i < n; ++i) apart = std::max(apart, std::abs(x[i] - y[i]) / std::abs(y[i]));
  std::printf("%d iterations with symmetric Gauss-Seidel, %d without; the answers differ by %.1e\n", with, without,
              apart);
  return 5 * with < 3 * without && apart < 1e-5 ? 0 : 1;
}
