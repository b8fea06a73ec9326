// Solvers and preconditioners where several processes share the rows.
#include "../backends.hpp"
#include "../kernels/matrices.hpp"
#include "../processes.hpp"

#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>

#include <seidel/formats/generators/generate.hpp>
#include <seidel/kernels/distributed/rows.hpp>
#include <seidel/solvers/bicgstab.hpp>
#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/gmres.hpp>
#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/multigrid/distributed.hpp>
#include <seidel/solvers/preconditioners/jacobi.hpp>
#include <seidel/solvers/preconditioners/per_process.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

using Shared = Distributed<OpenMP>;
using V = Vector<double, Shared>;
using SharedMatrix = DistributedMatrix<std::int64_t, OpenMP>;

/// One system, as a process sees it: its rows, and b.
struct Part {
  Shared on;
  SharedMatrix A;
  V b;
  Part(const Processes& all, const Csr<double, std::int64_t>& whole, const std::vector<double>& of_all_rows,
       int nodes = 1)
      : on(OpenMP{1}, std::make_shared<SharedRows>(all, RowShares(whole.nrows, all.size(), nodes))),
        A(on, rows_between(OpenMP{1}, whole.view(), on.rows().first(), on.rows().rows())),
        b(on, moved_to(OpenMP{1}, std::vector<double>(of_all_rows.begin() + on.rows().first(),
                                                      of_all_rows.begin() + on.rows().first() + on.rows().rows()))) {}
  /// The whole of x, on every process.
  std::vector<double> whole(const V& x) const {
    return moved_back(OpenMP{1}, of_all(on.rows().all, copied_to<Host>(OpenMP{1}, x.span())));
  }
};

struct Found {
  Summary summary;
  std::vector<double> x;
};

/// What solver(A, M, b, x) finds with so many processes; make(part) makes M.
template <class Make, class Solver>
Found found_by(int count, const Csr<double, std::int64_t>& A, const std::vector<double>& b, const Make& make,
               const Solver& solver, int nodes = 1) {
  Found found;
  std::mutex lock;
  on_processes(count, [&](const Processes& all) {
    const Part part(all, A, b, nodes);
    V x = part.A.domain();
    const auto M = make(part);
    Summary summary = solver(part.A, M, part.b, x);
    auto whole = part.whole(x);
    if (all.rank() > 0) return;
    const std::scoped_lock held(lock);
    found = {std::move(summary), std::move(whole)};
  });
  return found;
}

constexpr auto jacobi_of = [](const Part& part) {
  const auto block = own_block(OpenMP{1}, part.A.halo(), part.A.rows());
  return JacobiPreconditioner<double, Shared>(V(part.on, inverse_diagonal(OpenMP{1}, block.view())));
};
auto amg_of(AmgOptions options = {}) {
  if (options.coarsening.unknowns_per_node == 0) options.coarsening.unknowns_per_node = 1;
  return [options](const Part& part) { return DistributedAmg<std::int64_t, OpenMP>(part.A, options, {}); };
}
constexpr auto by_cg = [](const auto& A, const auto& M, const V& b, V& x) { return cg(A, M, b, x); };
constexpr auto by_bicgstab = [](const auto& A, const auto& M, const V& b, V& x) { return bicgstab(A, M, b, x); };
constexpr auto by_gmres = [](const auto& A, const auto& M, const V& b, V& x) { return gmres(A, M, b, x); };

}  // namespace

TEST_CASE("cg, bicgstab and gmres with jacobi: the iterates of one process, to the bit, on any number of them") {
  const auto A = generate(OpenMP{2}, "poisson3d:22"), wind = generate(OpenMP{2}, "convdiff:24x24x18");
  const auto b = random_values<double>(A.nrows, 1), c = random_values<double>(wind.nrows, 2);
  const auto same_as_one = [](const auto& matrix, const auto& rhs, const auto& solver) {
    const Found one = found_by(1, matrix, rhs, jacobi_of, solver);
    CHECK(one.summary.converged());
    for (const int count : {2, 3, 6}) {
      CAPTURE(count);
      const Found many = found_by(count, matrix, rhs, jacobi_of, solver);
      CHECK(many.x == one.x);
      CHECK(many.summary.history == one.summary.history);
      CHECK(many.summary.relative_residual == one.summary.relative_residual);
    }
    return one;
  };
  const Found one = same_as_one(A, b, by_cg);
  same_as_one(wind, c, by_bicgstab);
  same_as_one(wind, c, by_gmres);

  const OpenMP on{2};  // and those of vectors that nobody shares
  Vector<double, OpenMP> x(on, A.nrows);
  const Summary alone = cg(MatrixOperator(on, A.view()), JacobiPreconditioner(on, A.view()),
                           Vector<double, OpenMP>(on, moved_to(on, b)), x);
  CHECK(alone.history == one.summary.history);
  CHECK(moved_back(on, copied_to<Host>(on, x.span())) == one.x);
}

TEST_CASE("amg of several processes takes about the iterations of one") {
  struct Case {
    const char* spec;
    int nodes;
  };
  for (const auto& [spec, nodes] :
       {Case{"poisson3d:30", 1}, {"poisson2d:150", 1}, {"aniso3d:28:0.01", 1}, {"elasticity3d:16", 3}}) {
    CAPTURE(spec);
    const auto A = generate(OpenMP{2}, spec);
    const auto b = random_values<double>(A.nrows, 1);
    AmgOptions options;
    options.coarsening.unknowns_per_node = nodes;
    const OpenMP on{2};
    Vector<double, OpenMP> x(on, A.nrows);
    const Summary one = cg(MatrixOperator(on, A.view()), AmgPreconditioner<std::int64_t, OpenMP>(on, A.view(), options),
                           Vector<double, OpenMP>(on, moved_to(on, b)), x);
    REQUIRE(one.converged());
    for (const int count : {2, 3, 5}) {
      CAPTURE(count);
      const Found many = found_by(count, A, b, amg_of(options), by_cg, nodes),
                  again = found_by(count, A, b, amg_of(options), by_cg, nodes);
      CHECK(many.summary.converged());
      CHECK(double(many.summary.iterations) <= 1.15 * double(one.iterations) + 1);
      CHECK(many.x == again.x);
      CHECK(many.summary.history == again.summary.history);
    }
  }
}

TEST_CASE("amg of several processes is symmetric and positive, and of a small matrix that of one process") {
  const auto A = generate(OpenMP{2}, "poisson2d:100");
  const auto u = random_values<double>(A.nrows, 1), v = random_values<double>(A.nrows, 2);
  std::atomic<int> wrong = 0;
  on_processes(4, [&](const Processes& all) {
    const Part of_u(all, A, u), of_v(all, A, v);
    const auto M = amg_of()(of_u);
    wrong += M.levels().size() < 3 || !M.is_symmetric();
    V Mu = of_u.A.range(), Mv = of_u.A.range();
    M.apply(of_u.b, Mu);
    M.apply(of_v.b, Mv);
    const double vMu = dot(of_v.b, Mu), uMv = dot(of_u.b, Mv), uMu = dot(of_u.b, Mu), vMv = dot(of_v.b, Mv);
    wrong += !(uMu > 0 && vMv > 0 && std::abs(vMu - uMv) <= 1e-6 * std::sqrt(uMu * vMv));
  });
  CHECK(wrong == 0);

  const auto small = generate(OpenMP{2}, "poisson2d:60");
  const auto b = random_values<double>(small.nrows, 3);
  const Found one = found_by(1, small, b, amg_of(), by_cg);
  const OpenMP on{1};
  Vector<double, OpenMP> x(on, small.nrows);
  const Summary alone = cg(MatrixOperator(on, small.view()), AmgPreconditioner<std::int64_t, OpenMP>(on, small.view()),
                           Vector<double, OpenMP>(on, moved_to(on, b)), x);
  CHECK(found_by(4, small, b, amg_of(), by_cg).summary.history == alone.history);
  CHECK(one.summary.converged());
}

TEST_CASE("amg of several processes for flows, and for matrices that cannot be coarsened") {
  const auto flow = generate(OpenMP{2}, "convdiff:24x24x24");
  const auto b = random_values<double>(flow.nrows, 1);
  AmgOptions options;
  options.coarsening.symmetric = false;
  const Found found = found_by(3, flow, b, amg_of(options), by_gmres);
  CHECK(found.summary.converged());
  CHECK(found.summary.iterations <= 25);

  Csr<double, std::int64_t> diagonal{9000, 9000, Array<std::int64_t>(9001), Array<Index>(9000),
                                     Array<double>(9000, 2.0)};
  std::iota(diagonal.row_ptr.begin(), diagonal.row_ptr.end(), 0);
  std::iota(diagonal.col_idx.begin(), diagonal.col_idx.end(), 0);
  const Found alone = found_by(3, diagonal, random_values<double>(9000, 2), amg_of(), by_cg);
  CHECK(alone.summary.converged());
  std::atomic<int> wrong = 0;
  on_processes(3, [&](const Processes& all) {
    const auto M = amg_of()(Part(all, diagonal, random_values<double>(9000, 2)));
    wrong += M.levels().size() != 1 || M.bytes() <= 0 || M.describe().find("1 level") == std::string::npos;
  });
  CHECK(wrong == 0);
}

TEST_CASE("amg of several processes refuses what only one has, and names a row that it cannot use") {
  const auto A = generate(OpenMP{1}, "poisson2d:80");
  const auto b = random_values<double>(A.nrows, 1);
  AmgOptions w;
  w.cycle = AmgCycle::w;
  CHECK(refusal<UsageError>([&] { found_by(2, A, b, amg_of(w), by_cg); }).find("W or K cycle") != std::string::npos);
  auto broken = generate(OpenMP{1}, "poisson2d:80");
  for (auto k = broken.row_ptr[5000]; k < broken.row_ptr[5001]; ++k)
    if (broken.col_idx[k] == 5000) broken.values[k] = 0;
  CHECK(refusal<InputError>([&] { found_by(3, broken, b, amg_of(), by_cg); }).find("row 5001") != std::string::npos);
}

TEST_CASE("preconditioners of the rows of each process solve, and repeat") {
  const auto A = generate(OpenMP{2}, "poisson3d:22");
  const auto b = random_values<double>(A.nrows, 1);
  MethodChoice choice{.method = Method::cg};
  for (const PreconditionerKind& kind : preconditioners) {
    CAPTURE(kind.name);
    choice.preconditioner = kind;
    const auto make = [&](const Part& part) {
      const NearNullVectors near_null{.unknowns_per_node = 1};
      return make_distributed(part.A, near_null, choice).M;
    };
    const auto solved_by = [&](int count) {
      return kind.keeps_symmetry ? found_by(count, A, b, make, by_cg) : found_by(count, A, b, make, by_gmres);
    };
    const Found three = solved_by(3), again = solved_by(3);
    CHECK(three.summary.converged());
    CHECK(three.x == again.x);
    CHECK(solved_by(7).summary.converged());  // some have no rows
  }
}
