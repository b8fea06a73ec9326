// Eigen's iterative solvers as contestants.
#include <Eigen/IterativeLinearSolvers>

#include <seidel/drivers/bench/contest.hpp>
#include <seidel/drivers/bench/rivals/eigen_sparse.hpp>
#include <seidel/drivers/bench/sample.hpp>

namespace seidel::drivers {

namespace {

using ConstVector = Eigen::Map<const Eigen::VectorXd>;

std::int64_t factor_bytes(const Eigen::DiagonalPreconditioner<double>&, Index n) { return 8 * std::int64_t(n); }
template <class Ordering>
std::int64_t factor_bytes(const Eigen::IncompleteCholesky<double, Eigen::Lower, Ordering>& M, Index n) {
  return 12 * M.matrixL().nonZeros() + 24 * std::int64_t(n);
}

/// With its default drop tolerance, 1e-12, a factorisation takes half a minute where others solve in 0.1 s.
struct Lut : Eigen::IncompleteLUT<double, std::int32_t> {
  Lut() { setDroptol(1e-3), setFillfactor(5); }
  std::int64_t entries() const { return m_lu.nonZeros(); }
};
std::int64_t factor_bytes(const Lut& M, Index n) { return 12 * M.entries() + 24 * std::int64_t(n); }

template <class Solver>
Solution solve(const Contest& contest, int threads) {
  Eigen::setNbThreads(threads);
  const auto A = contest.A.view();
  const EigenSparse matrix = eigen_map(A);
  Solution solution;
  Solver solver;
  solver.setTolerance(contest.criteria.relative_tolerance);
  solver.setMaxIterations(contest.criteria.max_iterations);
  solution.setup_seconds = seconds_of([&] { solver.compute(matrix); });
  if (solver.info() != Eigen::Success) {
    solution.status = "setup failed", solution.x = Array<double>(A.ncols, 0.0);
    return solution;
  }
  Eigen::VectorXd x;
  solution.solve_seconds = seconds_of([&] { x = solver.solve(ConstVector(contest.b.data(), contest.b.size())); });
  solution.claimed = solver.info() == Eigen::Success;
  solution.status = solution.claimed                        ? "converged"
                    : solver.info() == Eigen::NoConvergence ? "iteration_limit"
                                                            : "breakdown";
  solution.iterations = solver.iterations();
  solution.memory_bytes = factor_bytes(solver.preconditioner(), A.nrows) + 5 * 8 * std::int64_t(A.nrows);
  solution.x = Array<double>(std::int64_t(x.size()));
  std::copy_n(x.data(), x.size(), solution.x.data());
  return solution;
}

template <class Preconditioner>
using Cg = Eigen::ConjugateGradient<EigenSparse, Eigen::Lower | Eigen::Upper, Preconditioner>;
template <class Preconditioner>
using Bicgstab = Eigen::BiCGSTAB<EigenSparse, Preconditioner>;

bool positive(const MatrixProperties& p) {
  return p.symmetric && p.diagonal_missing + p.diagonal_zero + p.diagonal_negative == 0;
}
bool any(const MatrixProperties&) { return true; }

}  // namespace

std::vector<Contestant> eigen_contestants() {
  using Diagonal = Eigen::DiagonalPreconditioner<double>;
  using Cholesky = Eigen::IncompleteCholesky<double, Eigen::Lower, Eigen::AMDOrdering<std::int32_t>>;
  const auto cg = solve<Cg<Diagonal>>, bicgstab = solve<Bicgstab<Diagonal>>;
  return {{"cg.diagonal.serial.eigen", BackendName::serial, "Eigen's ConjugateGradient", true, positive, cg},
          {"cg.diagonal.openmp.eigen", BackendName::openmp, "Eigen's ConjugateGradient, its own threads", true,
           positive, cg},
          {"cg.incomplete-cholesky.serial.eigen", BackendName::serial,
           "Eigen's ConjugateGradient and IncompleteCholesky", true, positive, solve<Cg<Cholesky>>},
          {"bicgstab.diagonal.serial.eigen", BackendName::serial, "Eigen's BiCGSTAB", true, any, bicgstab},
          {"bicgstab.ilut.serial.eigen", BackendName::serial,
           "Eigen's BiCGSTAB and IncompleteLUT, drop tolerance 1e-3, fill factor 5", true, any, solve<Bicgstab<Lut>>}};
}

}  // namespace seidel::drivers
