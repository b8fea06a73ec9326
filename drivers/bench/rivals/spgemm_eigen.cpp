// Eigen's product of sparse matrices, apart from eigen.cpp, which takes long enough to compile.
#include <seidel/drivers/bench/kernels/spgemm.hpp>
#include <seidel/drivers/bench/rivals/eigen_sparse.hpp>
#include <seidel/drivers/bench/rivals/operands.hpp>

namespace seidel::drivers {

namespace {

Prepared product(const SparseProductTask& task, const Where&) {
  return allocating<EigenSparse>([left = csr_of(OpenMP{1}, *task.of.A), right = csr_of(OpenMP{1}, task.of.B())](
                                     auto& C) { C = eigen_map(left) * eigen_map(right); },
                                 eigen_answer);
}

}  // namespace

std::vector<Rival> spgemm_eigen_rivals() {
  return {{&kernels::spgemm, "csr", BackendName::serial, "eigen", Role::baseline,
           "Eigen's product; allocates the result each time", product}};
}

}  // namespace seidel::drivers
