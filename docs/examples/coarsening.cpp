// Multigrid with a coarsening and a smoother of your own: what you know of your problem, and the hierarchy does the rest.
//
// Here couplings along y are a hundredth of those along x, and only x is halved: linear interpolation from every second
// point of each line. (`seidel solve --precond gmg` finds this by itself; yours may know what no matrix tells.)
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <seidel/formats/generators/generate.hpp>
#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/preconditioners/amg.hpp>

namespace {

using seidel::Index;
using On = seidel::OpenMP;  // with seidel::Cuda the matrices below lie in the memory of the GPU
using Vector = seidel::Vector<double, On>;
using View = seidel::CsrView<double, std::int64_t, seidel::Host>;

/// P = coarsening(on, A): called with the matrix of each level, the finest first.
struct HalveLines {
  Index lines;  // each of nrows / lines points, numbered one after the other

  seidel::Csr<double, std::int64_t, seidel::Host> operator()(const On&, const View& A) const {
    const Index points = A.nrows / lines, coarse = (points + 1) / 2;
    if (points < 3) return {};  // A is the last level
    std::vector<std::int64_t> row_ptr{0};
    std::vector<Index> col_idx;
    std::vector<double> values;
    for (Index i = 0; i < A.nrows; ++i) {
      const Index left = i / points * coarse + i % points / 2;
      const bool between = i % points % 2 == 1;
      col_idx.push_back(left), values.push_back(between ? 0.5 : 1);
      if (between && i % points + 1 < points) col_idx.push_back(left + 1), values.push_back(0.5);
      row_ptr.push_back(std::int64_t(values.size()));
    }
    return {A.nrows, lines * coarse, seidel::Array<std::int64_t>(row_ptr), seidel::Array<Index>(col_idx),
            seidel::Array<double>(values)};
  }
};
static_assert(seidel::Coarsening<HalveLines, On, std::int64_t>);

/// A sweep of Richardson: x += w (b - A x). A smoother is any type with these two members.
struct Richardson {
  seidel::MatrixOperator<View, On> A;
  double w;
  mutable Vector r;

  Richardson(const On& on, const View& A) : A(on, A), r(on, A.nrows) {
    double most = 0;  // no eigenvalue is larger than the largest sum of magnitudes in a row
    for (Index i = 0; i < A.nrows; ++i) {
      double sum = 0;
      for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) sum += A.values[k] < 0 ? -A.values[k] : A.values[k];
      most = sum > most ? sum : most;
    }
    w = 1.6 / most;
  }
  void smooth(const Vector& b, Vector& x) const {
    A.residual(x, b, r);
    axpy(w, r, x);
  }
  void smooth_from_zero(const Vector& b, Vector& x) const {
    fill(x, 0.0);
    axpy(w, b, x);
  }
};
static_assert(seidel::Smoother<Richardson, Vector>);

}  // namespace

int main() {
  const On on{};
  const Index n = 128;
  const auto A = seidel::generate(on, "aniso2d:128:0.01");
  using Amg = seidel::AmgPreconditioner<std::int64_t, On>;
  const auto iterations = [&](const Amg& M) {
    Vector b(on, A.nrows), x(on, A.nrows);
    fill(b, 1.0);
    fill(x, 0.0);
    const seidel::Summary summary = cg(seidel::MatrixOperator(on, A.view()), M, b, x);
    return summary.converged() ? int(summary.iterations) : 1000;
  };
  const int plain = iterations(Amg(on, A.view())),
            halved = iterations(Amg(on, A.view(), {}, {}, {.coarsening = HalveLines{n}})),
            both = iterations(Amg(on, A.view(), {}, {},
                                  {.coarsening = HalveLines{n},
                                   .smoother = [](const On& on, const View& A) { return Richardson(on, A); }}));
  std::printf("%d iterations with amg, %d with lines halved, %d with Richardson as well\n", plain, halved, both);
  return halved <= plain && both < 100 ? 0 : 1;
}
