// The one file of the program that compiles Eigen.
#include <Eigen/SparseCore>

#include <seidel/drivers/baselines/eigen.hpp>

namespace seidel::drivers::eigen {

namespace {

using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t>;
using View = Eigen::Map<const Sparse>;
using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;

/// Eigen wants one integer type for rows and columns, so column indices are copied.
Sparse copied(const CsrView<double, std::int64_t, Host>& A) {
  const std::vector<std::int64_t> columns(A.col_idx.begin(), A.col_idx.end());
  return View(A.nrows, A.ncols, A.nnz(), A.row_ptr.data(), columns.data(), A.values.data());
}

}  // namespace

void spmv(const CsrView<double, std::int64_t, Host>& A, HostSpan<const double> x, HostSpan<double> y) {
  Vector(y.data(), y.size()).noalias() = copied(A) * ConstVector(x.data(), x.size());
}

void spmm(const CsrView<double, std::int64_t, Host>& A, const double* X, double* Y, std::int64_t k) {
  Eigen::Map<Eigen::MatrixXd>(Y, A.nrows, k).noalias() = copied(A) * Eigen::Map<const Eigen::MatrixXd>(X, A.ncols, k);
}

Csr<double, std::int64_t> transpose(const CsrView<double, std::int64_t, Host>& A) {
  Sparse T = copied(A).transpose();
  T.makeCompressed();
  Csr<double, std::int64_t> result{A.ncols, A.nrows, Array<std::int64_t>(std::int64_t(A.ncols) + 1),
                                   Array<Index>(A.nnz()), Array<double>(A.nnz())};
  std::copy_n(T.outerIndexPtr(), std::int64_t(A.ncols) + 1, result.row_ptr.begin());
  std::copy_n(T.innerIndexPtr(), A.nnz(), result.col_idx.begin());
  std::copy_n(T.valuePtr(), A.nnz(), result.values.begin());
  return result;
}

void symmetric_gauss_seidel(const CsrView<double, std::int64_t, Host>& A, HostSpan<const double> b_,
                            HostSpan<double> x_) {
  const Sparse E = copied(A);
  const ConstVector b(b_.data(), b_.size());
  Vector x(x_.data(), x_.size());
  x = E.triangularView<Eigen::Lower>().solve(b - E.triangularView<Eigen::StrictlyUpper>() * x).eval();
  x = E.triangularView<Eigen::Upper>().solve(b - E.triangularView<Eigen::StrictlyLower>() * x).eval();
}

}  // namespace seidel::drivers::eigen
