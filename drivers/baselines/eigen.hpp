// Eigen as the CPU reference: its products, apart from all code of seidel.
#pragma once
#include <cstdint>

#include <seidel/formats/csr.hpp>

namespace seidel::drivers::eigen {

/// y = A x.
void spmv(const CsrView<double, std::int64_t, Host>& A, HostSpan<const double> x, HostSpan<double> y);
/// Y = A X, column-major, k columns.
void spmm(const CsrView<double, std::int64_t, Host>& A, const double* X, double* Y, std::int64_t k);
/// A'.
Csr<double, std::int64_t> transpose(const CsrView<double, std::int64_t, Host>& A);
/// x after one forward and one backward Gauss-Seidel sweep from x on A x = b, by triangular solves:
/// (D + L) x' = b - U x, then (D + U) x'' = b - L x'.
void symmetric_gauss_seidel(const CsrView<double, std::int64_t, Host>& A, HostSpan<const double> b, HostSpan<double> x);

}  // namespace seidel::drivers::eigen
