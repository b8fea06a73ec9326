// How often a solver waits for numbers: a vector type of the test's own counts its reductions. That the solvers take it, and
// give the bits that they give with Vector, shows as well that they ask for no more than concepts.hpp says, and that passes
// with names are the operations one by one.
#include "systems.hpp"

#include <seidel/solvers/bicgstab.hpp>
#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/eisenstat.hpp>
#include <seidel/solvers/gmres.hpp>
#include <seidel/solvers/idr.hpp>
#include <seidel/solvers/lsmr.hpp>
#include <seidel/solvers/minres.hpp>

using namespace seidel;

namespace own {

int waits = 0;

struct Counted {
  using Real = double;
  Vector<double, OpenMP> v;
  std::int64_t size() const { return v.size(); }
};

Counted like(const Counted& x) { return {like(x.v)}; }
void copy(const Counted& x, Counted& y) { copy(x.v, y.v); }
void fill(Counted& x, double a) { fill(x.v, a); }
void fill_hashed(Counted& x, std::uint64_t seed) { fill_hashed(x.v, seed); }
void axpy(double a, const Counted& x, Counted& y) { axpy(a, x.v, y.v); }
void axpby(double a, const Counted& x, double b, Counted& y) { axpby(a, x.v, b, y.v); }
void xpby(const Counted& x, double b, Counted& y) { xpby(x.v, b, y.v); }
void multiply(const Counted& d, const Counted& x, Counted& y) { multiply(d.v, x.v, y.v); }

struct Term {
  const Counted &x, &y;
  bool is_norm;
  double value() const { return is_norm ? norm2(x.v) : dot(x.v, y.v); }
};
Term dot_of(const Counted& x, const Counted& y) { return {x, y, false}; }
Term norm2_of(const Counted& x) { return {x, x, true}; }
template <std::same_as<Term>... Terms>
std::array<double, sizeof...(Terms)> sums(const Terms&... terms) {
  ++waits;
  return {terms.value()...};
}
double max_abs(const Counted& x) {
  ++waits;
  return max_abs(x.v);
}
double dot(const Counted& x, const Counted& y) { return sums(dot_of(x, y))[0]; }
double norm2(const Counted& x) { return sums(norm2_of(x))[0]; }

void move_and_turn(double a, Counted& x, const Counted& z, double b, Counted& p) {
  axpy(a, p, x);
  xpby(z, b, p);
}
void axpy_twice(double a, const Counted& x, double b, const Counted& z, Counted& y) {
  axpy(a, x, y);
  axpy(b, z, y);
}
void axpy_xpby(double c, const Counted& v, const Counted& r, double b, Counted& p) {
  axpy(c, v, p);
  xpby(r, b, p);
}
std::array<double, 2> axpy_norm2_dot(double a, const Counted& x, Counted& y, const Counted& u) {
  axpy(a, x, y);
  return sums(norm2_of(y), dot_of(u, y));
}
std::array<double, 2> axpy_multiply_norm2_dot(double a, const Counted& x, Counted& y, const Counted& d, Counted& z) {
  axpy(a, x, y);
  multiply(d, y, z);
  return sums(norm2_of(y), dot_of(y, z));
}
std::array<double, 2> axpys_multiply_norm2_dot(double a, const Counted& q, Counted& r, const Counted& w, Counted& y,
                                               const Counted& d, Counted& z) {
  axpy(a, q, r);
  axpy(a, w, y);
  multiply(d, y, z);
  return sums(norm2_of(r), dot_of(y, z));
}

struct Block {
  std::vector<Counted> v;
  Counted& operator[](std::size_t k) { return v[k]; }
};
Block block_like(const Counted& x, std::size_t count) {
  Block block;
  while (block.v.size() < count) block.v.push_back(like(x));
  return block;
}
double project(const Block& v, std::size_t k, const Counted& w, double* h) {
  ++waits;
  for (std::size_t i = 0; i < k; ++i) h[i] = dot(v.v[i].v, w.v);
  return norm2(w.v);
}
void add_combination(const Block& v, std::size_t k, const double* c, Counted& w) {
  for (std::size_t i = 0; i < k; ++i) axpy(c[i], v.v[i], w);
}
void subtract_combination(const Block& v, std::size_t k, const double* c, double scale, Counted& w) {
  for (std::size_t i = 0; i < k; ++i) axpy(-c[i], v.v[i], w);
  axpby(0, w, scale, w);
}

struct Operator {
  const seidel::tests::Matrix& A;
  std::int64_t nrows() const { return A.nrows; }
  std::int64_t ncols() const { return A.ncols; }
  void apply(const Counted& x, Counted& y) const { spmv<OpenMP>(OpenMP{1}, A.view(), x.v.span(), y.v.span()); }
  void apply_transposed(const Counted& x, Counted& y) const { apply(x, y); }  // A is symmetric here
};

/// Any preconditioner of Vector.
template <class M>
struct Wrapped {
  const M& m;
  Counted D;
  void apply(const Counted& r, Counted& z) const { m.apply(r.v, z.v); }
  bool is_symmetric() const { return true; }
  void solve_lower(const Counted& r, Counted& y) const { m.solve_lower(r.v, y.v); }
  const Counted& diagonal_of_A() const { return D; }
  void split_product(const Counted& u, Counted& p, Counted& Ap, Counted& w) const {
    m.split_product(u.v, p.v, Ap.v, w.v);
  }
};
struct Diagonal {
  Counted D;
  void apply(const Counted& r, Counted& z) const { multiply(D, r, z); }
  bool is_symmetric() const { return true; }
  const Counted* diagonal() const { return &D; }
};

}  // namespace own

using namespace seidel::tests;

namespace {

Vector<double, OpenMP> vector_of(const std::vector<double>& values) { return {OpenMP{1}, Array<double>(values)}; }

struct Counts {
  Summary summary;
  std::vector<int> per_iteration;  // from the second on

  /// Checks that iterations whose residual is above `goal` waited `allowed` times, and once more where that rose: x is
  /// copied then, if it is finite.
  void check(int allowed, double goal = 0) const {
    REQUIRE(per_iteration.size() > 10);
    for (std::size_t k = 0; k < per_iteration.size(); ++k) {
      const double before = summary.history[k + 1], after = summary.history[k + 2];
      CAPTURE(k);
      CHECK(per_iteration[k] <= allowed + (before > summary.history[k]) + (after > before) + (before <= goal));
    }
  }
};

/// Solves A x = 1 by solve(b, x, criteria) with vectors that count, and checks that plain ones give the same history.
template <class Solve, class SolvePlain>
Counts counted(const Matrix& A, const Solve& solve, const SolvePlain& plain) {
  Counts counts;
  Criteria criteria;
  int before = 0;
  criteria.on_iteration = [&](const IterationReport& report) {
    if (report.iteration > 1) counts.per_iteration.push_back(own::waits - before);
    before = own::waits;
  };
  const own::Counted b{vector_of(ones(A.nrows))};
  own::Counted x = like(b);
  counts.summary = solve(b, x, criteria);
  auto plain_x = like(b.v);
  const Summary reference = plain(b.v, plain_x);
  CHECK(counts.summary.converged());
  CHECK(counts.summary.history == reference.history);
  CHECK(std::equal(x.v.span().begin(), x.v.span().end(), plain_x.span().begin()));
  return counts;
}

}  // namespace

TEST_CASE("cg waits twice per iteration, and near its goal once more if that may save an application of M^-1") {
  const Matrix A = poisson(40);
  const own::Operator counting{A};
  const MatrixOperator op(OpenMP{1}, A.view());

  const JacobiPreconditioner jacobi(OpenMP{1}, A.view());
  own::Diagonal diagonal{like(*jacobi.diagonal())};
  copy(*jacobi.diagonal(), diagonal.D.v);
  const Counts one = counted(
      A, [&](auto& b, auto& x, auto& criteria) { return cg(counting, diagonal, b, x, criteria); },
      [&](auto& b, auto& x) { return cg(op, jacobi, b, x); });
  one.check(2);

  const SymgsPreconditioner symgs(OpenMP{1}, A.view());
  const own::Wrapped<decltype(symgs)> wrapped{symgs, {vector_of({})}};
  const Counts other = counted(
      A, [&](auto& b, auto& x, auto& criteria) { return cg(counting, wrapped, b, x, criteria); },
      [&](auto& b, auto& x) { return cg(op, symgs, b, x); });
  other.check(2, 1e-7);
}

TEST_CASE("cg in Eisenstat's form waits twice per iteration") {
  const Matrix A = poisson(40);
  const SplitSymgsPreconditioner<double, std::int64_t, OpenMP> split(OpenMP{1}, A.view());
  const own::Wrapped<decltype(split)> wrapped{split, {vector_of(std::vector<double>(A.nrows, 4.0))}};
  const Counts counts = counted(
      A, [&](auto& b, auto& x, auto& criteria) { return eisenstat_cg(own::Operator{A}, wrapped, b, x, criteria); },
      [&](auto& b, auto& x) { return eisenstat_cg(MatrixOperator(OpenMP{1}, A.view()), split, b, x); });
  counts.check(2);
}

TEST_CASE("bicgstab waits three times per iteration") {
  const Matrix A = poisson(40);
  const SymgsPreconditioner symgs(OpenMP{1}, A.view());
  const own::Wrapped<decltype(symgs)> wrapped{symgs, {vector_of({})}};
  const Counts counts = counted(
      A, [&](auto& b, auto& x, auto& criteria) { return bicgstab(own::Operator{A}, wrapped, b, x, criteria); },
      [&](auto& b, auto& x) { return bicgstab(MatrixOperator(OpenMP{1}, A.view()), symgs, b, x); });
  counts.check(3);
}

TEST_CASE("minres and idr wait twice per iteration") {
  const Matrix A = poisson(40);
  const SymgsPreconditioner symgs(OpenMP{1}, A.view());
  const own::Wrapped<decltype(symgs)> wrapped{symgs, {vector_of({})}};
  const own::Operator counting{A};
  const MatrixOperator op(OpenMP{1}, A.view());
  counted(
      A, [&](auto& b, auto& x, auto& criteria) { return minres(counting, wrapped, b, x, criteria); },
      [&](auto& b, auto& x) { return minres(op, symgs, b, x); })
      .check(2);
  counted(
      A, [&](auto& b, auto& x, auto& criteria) { return idr(counting, wrapped, b, x, criteria); },
      [&](auto& b, auto& x) { return idr(op, symgs, b, x); })
      .check(2);
}

TEST_CASE("gmres waits twice per iteration, whatever the number of directions") {
  const Matrix A = poisson(40);
  const SymgsPreconditioner symgs(OpenMP{1}, A.view());
  const own::Wrapped<decltype(symgs)> wrapped{symgs, {vector_of({})}};
  for (const int restart : {200, 20}) {
    const Counts counts = counted(
        A,
        [&](auto& b, auto& x, auto& criteria) { return gmres(own::Operator{A}, wrapped, b, x, criteria, {restart}); },
        [&](auto& b, auto& x) { return gmres(MatrixOperator(OpenMP{1}, A.view()), symgs, b, x, {}, {restart}); });
    for (std::size_t k = 0; k < counts.per_iteration.size(); ++k) {
      const bool restarted =
          (k + 1) % std::size_t(restart) == 0;  // then the true residual is asked for, and a copy made
      CHECK(counts.per_iteration[k] <= (restarted ? 5 : 2));
    }
  }
}

TEST_CASE("lsmr waits twice per iteration") {
  const Matrix A = poisson(40);
  const JacobiPreconditioner jacobi(OpenMP{1}, A.view());
  const own::Wrapped<decltype(jacobi)> wrapped{jacobi, {vector_of({})}};
  const TransposableMatrix op(MatrixOperator(OpenMP{1}, A.view()), MatrixOperator(OpenMP{1}, A.view()));
  counted(
      A, [&](auto& b, auto& x, auto& criteria) { return lsmr(own::Operator{A}, wrapped, b, x, criteria); },
      [&](auto& b, auto& x) { return lsmr(op, jacobi, b, x); })
      .check(2);
}
