// Systems, and the solvers as tests call them, compiled once.
#include "systems.hpp"

namespace seidel::tests {

std::string name_of(const How& how) {
  return std::string(to_string(how.method)) + " " + std::string(to_string(how.preconditioner)) + " " +
         std::string(to_string(how.order)) + " " + std::string(to_string(how.form));
}

std::vector<How> all_ways() {
  std::vector<How> ways;
  for (const Method& method : methods)
    for (const PreconditionerKind& kind : preconditioners)
      for (const Order order : kind.orders)
        if (method.takes(kind.name) && (method.needs <= Needs::square || kind.keeps_symmetry))
          ways.push_back({method, kind, order});
  ways.push_back({.method = Method::cg, .preconditioner = PreconditionerKind::symgs, .form = Form::eisenstat});
  for (const Method& method : {Method::cg, Method::gmres})
    ways.push_back({.method = method, .preconditioner = PreconditionerKind::symgs, .form = Form::flexible});
  return ways;
}

MethodChoice choice_of(const How& how) {
  return {.method = how.method,
          .preconditioner = how.preconditioner,
          .order = how.order,
          .restart = how.restart,
          .fallbacks = how.fallbacks,
          .may_try_gmres = how.may_try_gmres,
          .form = how.form,
          .may_drop_preconditioner = how.may_drop_preconditioner,
          .symmetric = how.symmetric};
}

std::vector<double> times(const Matrix& A, const std::vector<double>& x) {
  std::vector<double> y(A.nrows);
  for (Index i = 0; i < A.nrows; ++i) {
    long double sum = 0;
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) sum += (long double)A.values[k] * x[A.col_idx[k]];
    y[i] = double(sum);
  }
  return y;
}

std::vector<double> random_vector(unsigned seed, std::int64_t n) {
  std::mt19937_64 random(seed);
  std::vector<double> v(n);
  for (auto& value : v) value = random_value(random);
  return v;
}

double true_residual(const Matrix& A, const std::vector<double>& x, const std::vector<double>& b) {
  long double rr = 0, bb = 0;
  for (Index i = 0; i < A.nrows; ++i) {
    long double r = b[i];
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) r -= (long double)A.values[k] * x[A.col_idx[k]];
    rr += r * r;
    bb += (long double)b[i] * b[i];
  }
  return double(bb > 0 ? std::sqrt(rr / bb) : std::sqrt(rr));
}

double relative_difference(const std::vector<double>& x, const std::vector<double>& y) {
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    most = std::max(most, std::abs(x[i] - y[i])), largest = std::max(largest, std::abs(x[i]));
  return most / largest;
}

Matrix poisson(Index k) { return csr_of<double, std::int64_t>(poisson(k, k)); }

Matrix random_spd(unsigned seed, Index n, Index mean) {
  const Matrix R = random_matrix(seed, n, n, mean);
  std::vector<Row> rows(n);
  for (Index i = 0; i < n; ++i)
    for (std::int64_t k = R.row_ptr[i]; k < R.row_ptr[i + 1]; ++k)
      if (const Index j = R.col_idx[k]; j < i) rows[i].emplace(j, R.values[k]), rows[j].emplace(i, R.values[k]);
  return with_dominant_diagonal(matrix_of(n, rows));
}

Matrix diagonal(const std::vector<double>& values) {
  std::vector<Row> rows;
  for (double v : values) rows.push_back({{Index(rows.size()), v}});
  return matrix_of(Index(values.size()), rows);
}

Matrix hilbert(Index n) {
  std::vector<Row> rows(n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) rows[i].emplace(j, 1.0 / (i + j + 1));
  return matrix_of(n, rows);
}

Matrix at_the_limit() {
  std::vector<Row> rows(60);
  for (Index i = 0; i < 60; ++i) {
    const double before = i == 0 ? 0 : i % 7 == 3 ? 1e2 : 1e8, after = i == 59 ? 0 : (i + 1) % 7 == 3 ? 1e2 : 1e8;
    if (i > 0) rows[i].emplace(i - 1, -before);
    rows[i].emplace(i, before + after + 1);
    if (i < 59) rows[i].emplace(i + 1, -after);
  }
  return matrix_of(60, rows);
}

template <class B>
Outcome solve_on(const B& on, const How& how, const Matrix& A, const std::vector<double>& b, const Criteria& criteria,
                 std::vector<double> x0) {
  using V = Vector<double, B>;
  const auto there = moved_to(on, A.view());
  const MatrixOperator with_A(on, there.view());
  const AnyOperator<V> op =
      how.method.needs == Needs::nothing
          ? AnyOperator<V>(TransposableMatrix(with_A, MatrixOperator(on, transpose(on, there.view()))))
          : AnyOperator<V>(with_A);
  const V rhs(on, moved_to(on, b));
  x0.resize(A.ncols);
  V x(on, moved_to(on, x0));
  Outcome outcome;
  const MethodChoice choice = choice_of(how);
  const HereAndThere<B, std::int64_t> both{A.view(), there.view()};
  outcome.summary = solve(op, make_preconditioner(on, both, choice).M, choice, rhs, x, criteria);
  on.synchronize();
  outcome.x.resize(A.ncols);
  copy_bytes(on, Host{}, outcome.x.data(), SpaceOf<B>{}, x.span().data(), x.size() * std::int64_t(sizeof(double)));
  return outcome;
}

namespace systems_detail {

/// Never called: names every instance, so that its code is emitted here.
template <class B>
[[gnu::used]] void instances(const B& on) {
  solve_on(on, {}, Matrix{}, {});
}
template void instances(const OpenMP&);
/// B = Cuda where there is CUDA; otherwise nothing.
template <bool cuda>
[[gnu::used]] void instances_if(const std::conditional_t<cuda, Cuda, OpenMP>& on) {
  if constexpr (cuda) instances(on);
}
template void instances_if<built_with_cuda>(const std::conditional_t<built_with_cuda, Cuda, OpenMP>&);

}  // namespace systems_detail

}  // namespace seidel::tests
