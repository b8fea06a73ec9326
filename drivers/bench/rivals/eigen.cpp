// Eigen, the reference of the host: products, and its triangular solves as a symmetric Gauss-Seidel pair.
#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <seidel/drivers/bench/rivals/lists.hpp>
#include <seidel/drivers/bench/rivals/products.hpp>
#include <seidel/drivers/bench/rivals/transposed.hpp>

namespace seidel::drivers {

namespace {

using SparseMap = Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>>;
using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;
template <int Major>
using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Major>;

struct Kept {
  CsrView<double, std::int32_t, Host> A;
  int threads;
  std::int64_t k;
  SparseMap map() const {
    return SparseMap(A.nrows, A.ncols, A.nnz(), A.row_ptr.data(), A.col_idx.data(), A.values.data());
  }
};

template <class B, class Run>
Prepared prepare(const Task& task, const Where& where, std::int64_t output_size, Run run) {
  auto operands = std::make_shared<Operands<B, Kept>>(task, where, output_size,
                                                      Kept{csr_of<Host>(task), back_end<B>(where).threads, task.k});
  return prepared(operands, 0, 0, [run](auto& o) {
    Eigen::setNbThreads(o.kept.threads);
    run(o);
  });
}

template <class B>
Prepared spmv(const Task& task, const Where& where) {
  return prepare<B>(task, where, task.A.nrows, [](auto& o) {
    Vector(o.y.data(), o.y.size()).noalias() = o.kept.map() * ConstVector(o.x.data(), o.x.size());
  });
}

template <class B>
Prepared spmm(const Task& task, const Where& where) {
  const auto product = [](auto major) {
    return [](auto& o) {
      constexpr int order = decltype(major)::value;
      const Kept& kept = o.kept;
      Eigen::Map<Dense<order>>(o.y.data(), kept.A.nrows, kept.k).noalias() =
          kept.map() * Eigen::Map<const Dense<order>>(o.x.data(), kept.A.ncols, kept.k);
    };
  };
  // A dense matrix of one column must be column-major for Eigen; both layouts are then the same memory.
  return task.layout == Layout::row_major && task.k > 1
             ? prepare<B>(task, where, task.A.nrows * task.k, product(std::integral_constant<int, Eigen::RowMajor>{}))
             : prepare<B>(task, where, task.A.nrows * task.k, product(std::integral_constant<int, Eigen::ColMajor>{}));
}

/// (D + L) y = b, then (D + U) x = D y.
Prepared symgs(const Task& task, const Where& where) {
  require_one_column(task);
  return prepare<Serial>(task, where, task.A.nrows, [diagonal = diagonal_of(task.A)](auto& o) {
    Vector x(o.y.data(), o.y.size());
    const SparseMap A = o.kept.map();
    x = ConstVector(o.x.data(), o.x.size());
    A.template triangularView<Eigen::Lower>().solveInPlace(x);
    x = x.cwiseProduct(ConstVector(diagonal.data(), x.size()));
    A.template triangularView<Eigen::Upper>().solveInPlace(x);
  });
}

/// A copy of the transposed expression; its arrays become ours by another copy, which is not timed.
Prepared transposition(const Task& task, const Where&) {
  using Owned = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;
  struct Both {
    CsrView<double, std::int32_t, Host> A;
    Owned T;
  };
  const auto both = std::make_shared<Both>(Both{csr_of<Host>(task), {}});
  return {
      .run =
          [both] {
            const auto& A = both->A;
            both->T =
                SparseMap(A.nrows, A.ncols, A.nnz(), A.row_ptr.data(), A.col_idx.data(), A.values.data()).transpose();
          },
      .poison = [both] { both->T = Owned(); },
      .output =
          [both](std::vector<double>& to) {
            const Owned& T = both->T;
            to.assign(T.valuePtr(), T.valuePtr() + T.nonZeros());
            to.insert(to.end(), T.innerIndexPtr(), T.innerIndexPtr() + T.nonZeros());
            to.insert(to.end(), T.outerIndexPtr(), T.outerIndexPtr() + T.outerSize() + 1);
          }};
}

}  // namespace

std::vector<Rival> eigen_rivals() {
  return {
      {"spmv", "csr", BackendName::serial, "eigen", false, "Eigen's row-major product", spmv<Serial>},
      {"spmv", "csr", BackendName::openmp, "eigen", false, "Eigen's row-major product, its own threads", spmv<OpenMP>},
      {"spmm", "csr", BackendName::serial, "eigen", false, "Eigen's product with a dense matrix", spmm<Serial>},
      {"spmm", "csr", BackendName::openmp, "eigen", false, "Eigen's product with a dense matrix, its own threads",
       spmm<OpenMP>},
      {"symgs", "csr", BackendName::serial, "eigen", false, "Eigen's two triangular solves", symgs},
      {"transpose", "csr", BackendName::serial, "eigen", false, "Eigen's transpose(), copied", transposition}};
}

}  // namespace seidel::drivers
