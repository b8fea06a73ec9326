// Eigen's row-major sparse matrices on our arrays, and as answers.
#pragma once
#include <Eigen/SparseCore>

#include <seidel/drivers/bench/kernels/tasks.hpp>

namespace seidel::drivers {

using EigenSparse = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;

inline Eigen::Map<const EigenSparse> eigen_map(const CsrView<double, std::int32_t, Host>& A) {
  return {A.nrows, A.ncols, A.nnz(), A.row_ptr.data(), A.col_idx.data(), A.values.data()};
}

inline Answer eigen_answer(const EigenSparse& A) {
  const CsrView<double, std::int32_t, Host> view{Index(A.rows()),
                                                 Index(A.cols()),
                                                 {A.outerIndexPtr(), A.outerSize() + 1},
                                                 {A.innerIndexPtr(), A.nonZeros()},
                                                 {A.valuePtr(), A.nonZeros()}};
  return answer_of(OpenMP{1}, view);
}

}  // namespace seidel::drivers
