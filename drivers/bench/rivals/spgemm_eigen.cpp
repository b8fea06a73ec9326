// Eigen's product of sparse matrices, apart from eigen.cpp, which takes long enough to compile.
#include <Eigen/SparseCore>

#include <seidel/drivers/bench/kernels/spgemm.hpp>
#include <seidel/drivers/bench/rivals/operands.hpp>

namespace seidel::drivers {

namespace {

using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;

Eigen::Map<const Sparse> map_of(const CsrView<double, std::int32_t, Host>& A) {
  return {A.nrows, A.ncols, A.nnz(), A.row_ptr.data(), A.col_idx.data(), A.values.data()};
}

/// The result is allocated each time, as Eigen's assignment does it.
Prepared product(const SparseProductTask& task, const Where&) {
  const auto C = std::make_shared<Sparse>();
  return {.run = [C, left = csr_of(OpenMP{1}, *task.of.A),
                  right = csr_of(OpenMP{1}, task.of.B())] { *C = map_of(left) * map_of(right); },
          .poison = [C] { C->resize(0, 0); },  // no answer, which no judge takes
          .answer =
              [C] {
                Answer answer;
                answer.add(OpenMP{1}, HostSpan<const std::int32_t>(C->outerIndexPtr(), C->outerSize() + 1));
                answer.add(OpenMP{1}, HostSpan<const std::int32_t>(C->innerIndexPtr(), C->nonZeros()));
                answer.add(OpenMP{1}, HostSpan<const double>(C->valuePtr(), C->nonZeros()));
                return answer;
              }};
}

}  // namespace

std::vector<Rival> spgemm_eigen_rivals() {
  return {{&kernels::spgemm, "csr", BackendName::serial, "eigen", Role::baseline,
           "Eigen's product; allocates the result each time", product}};
}

}  // namespace seidel::drivers
