// Eigen, the reference of the host: products, transposition, triangular solves as a symmetric Gauss-Seidel pair.
#include <malloc.h>

#include <climits>

#include <seidel/drivers/bench/rivals/eigen_sparse.hpp>
#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/solvers/preconditioners/diagonal.hpp>

namespace seidel::drivers {

namespace {

using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;
template <int Major>
using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Major>;

struct Kept {
  CsrView<double, std::int32_t, Host> A;
  int threads;
  std::int64_t k;
};

Prepared prepare(MatrixOperand& of, const Array<double>& input, std::int64_t k, const Where& where, auto run) {
  auto operands = std::make_shared<Operands<OpenMP, Kept>>(input, where, of.A.nrows * k,
                                                           Kept{csr_of(OpenMP{1}, of), where.openmp.threads, k});
  return prepared(operands, 0, 0, [run](auto& o) {
    Eigen::setNbThreads(o.kept.threads);
    run(o);
  });
}

Prepared spmv(const ProductTask& task, const Where& where) {
  return prepare(task.of, task.x, 1, where, [](auto& o) {
    Vector(o.y.data(), o.y.size()).noalias() = eigen_map(o.kept.A) * ConstVector(o.x.data(), o.x.size());
  });
}

Prepared spmm(const ProductTask& task, const Where& where) {
  const auto product = [](auto major) {
    return [](auto& o) {
      constexpr int order = decltype(major)::value;
      const Kept& kept = o.kept;
      Eigen::Map<Dense<order>>(o.y.data(), kept.A.nrows, kept.k).noalias() =
          eigen_map(kept.A) * Eigen::Map<const Dense<order>>(o.x.data(), kept.A.ncols, kept.k);
    };
  };
  // A dense matrix of one column must be column-major for Eigen; both layouts are then the same memory.
  return task.layout == Layout::row_major && task.k > 1
             ? prepare(task.of, task.x, task.k, where, product(std::integral_constant<int, Eigen::RowMajor>{}))
             : prepare(task.of, task.x, task.k, where, product(std::integral_constant<int, Eigen::ColMajor>{}));
}

/// (D + L) y = b, then (D + U) x = D y.
Prepared symgs(const SweepTask& task, const Where& where) {
  require_one_column(task);
  const auto D = std::make_shared<const Array<double>>(diagonal(OpenMP{1}, task.of.A.view()));
  return prepare(task.of, task.b, 1, where, [D](auto& o) {
    Vector x(o.y.data(), o.y.size());
    const auto A = eigen_map(o.kept.A);
    x = ConstVector(o.x.data(), o.x.size());
    A.template triangularView<Eigen::Lower>().solveInPlace(x);
    x = x.cwiseProduct(ConstVector(D->data(), x.size()));
    A.template triangularView<Eigen::Upper>().solveInPlace(x);
  });
}

/// Eigen's assignment allocates the result each time. Meanwhile what is given back stays with the process, so that a
/// trial takes the memory of the trial before and no page of it is new: allocation is not what is timed.
class KeptMemory {
 public:
  KeptMemory() {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
  }
  ~KeptMemory() {
    mallopt(M_MMAP_MAX, 65536);  // as the C library begins
    mallopt(M_TRIM_THRESHOLD, 128 * 1024);
    malloc_trim(0);
  }
  KeptMemory(const KeptMemory&) = delete;
};

Prepared transposition(const TransposeTask& task, const Where&) {
  return allocating<EigenSparse>([kept = std::make_shared<KeptMemory>(),
                                  A = csr_of(OpenMP{1}, task.of)](auto& T) { T = eigen_map(A).transpose(); },
                                 eigen_answer);
}

Prepared spgemm(const SparseProductTask& task, const Where&) {
  return allocating<EigenSparse>([left = csr_of(OpenMP{1}, *task.of.A), right = csr_of(OpenMP{1}, task.of.B())](
                                     auto& C) { C = eigen_map(left) * eigen_map(right); },
                                 eigen_answer);
}

}  // namespace

std::vector<Rival> eigen_rivals() {
  constexpr auto serial = BackendName::serial, openmp = BackendName::openmp;
  return {baseline(kernels::spmv, "csr", serial, "eigen", "Eigen's row-major product", spmv),
          baseline(kernels::spmv, "csr", openmp, "eigen", "Eigen's row-major product, its own threads", spmv),
          baseline(kernels::spmm, "csr", serial, "eigen", "Eigen's product with a dense matrix", spmm),
          baseline(kernels::spmm, "csr", openmp, "eigen", "Eigen's product with a dense matrix, its own threads", spmm),
          baseline(kernels::symgs, "csr", serial, "eigen", "Eigen's two triangular solves", symgs),
          baseline(kernels::transpose, "csr", serial, "eigen", "Eigen's transpose()", transposition),
          baseline(kernels::spgemm, "csr", serial, "eigen", "Eigen's product; allocates the result each time", spgemm)};
}

}  // namespace seidel::drivers
