// Steps of cg that go ahead of the host's decisions, as on a GPU, taken by vectors of the host: they change nothing.
#include "systems.hpp"

#include <limits>

#include <seidel/kernels/products/product.hpp>
#include <seidel/solvers/cg.hpp>

namespace own {

/// A vector for which cg goes ahead.
struct Ahead : seidel::Vector<double, seidel::OpenMP> {
  using Vector::Vector;
};
Ahead like(const Ahead& v) { return {v.on(), v.size()}; }

}  // namespace own

template <>
inline constexpr bool seidel::steps_ahead<own::Ahead> = true;

using namespace seidel;
using namespace seidel::tests;

namespace {

template <class V>
V vector_of(const std::vector<double>& values) {
  return {OpenMP{1}, Array<double>(values)};
}

struct Diagonal {
  own::Ahead D;
  void apply(const own::Ahead& r, own::Ahead& z) const { multiply(D, r, z); }
  bool is_symmetric() const { return true; }
  const own::Ahead* diagonal() const { return &D; }
};

/// A product that counts.
struct Counting {
  MatrixOperator<Product<double, std::int64_t, OpenMP>, OpenMP> A;
  std::int64_t& products;
  std::int64_t nrows() const { return A.nrows(); }
  std::int64_t ncols() const { return A.ncols(); }
  void apply(const own::Ahead& x, own::Ahead& y) const { ++products, A.apply(x, y); }
};

/// Solves A x = b with steps ahead and without, and returns the former's summary and how many products it took.
std::pair<Summary, std::int64_t> check(const Matrix& A, const std::vector<double>& b, const Criteria& criteria,
                                       std::vector<double> D = {}, std::atomic<bool>* stop = nullptr) {
  if (D.empty()) D = ones(A.nrows);
  std::int64_t products = 0;
  const Counting counting{{OpenMP{1}, Product<double, std::int64_t, OpenMP>(OpenMP{1}, A.view())}, products};
  const auto b_ahead = vector_of<own::Ahead>(b);
  auto x_ahead = like(b_ahead);
  Summary ahead = cg(counting, Diagonal{vector_of<own::Ahead>(D)}, b_ahead, x_ahead, criteria);

  if (stop) *stop = false;
  using Plain = Vector<double, OpenMP>;
  struct Preconditioner {
    Plain D;
    void apply(const Plain& r, Plain& z) const { multiply(D, r, z); }
    bool is_symmetric() const { return true; }
    const Plain* diagonal() const { return &D; }
  };
  const auto b_plain = vector_of<Plain>(b);
  auto x_plain = like(b_plain);
  const Summary plain =
      cg(MatrixOperator(OpenMP{1}, A.view()), Preconditioner{vector_of<Plain>(D)}, b_plain, x_plain, criteria);
  CHECK(ahead.status == plain.status);
  CHECK(ahead.breakdown == plain.breakdown);
  CHECK(ahead.reason == plain.reason);
  CHECK(ahead.iterations == plain.iterations);
  CHECK(ahead.returned_iteration == plain.returned_iteration);
  CHECK(ahead.history == plain.history);
  CHECK((ahead.curvature == plain.curvature || (std::isnan(ahead.curvature) && std::isnan(plain.curvature))));
  CHECK(ahead.error.has_value() == plain.error.has_value());
  if (ahead.error && plain.error) CHECK(ahead.error->change == plain.error->change);
  CHECK(std::equal(x_ahead.span().begin(), x_ahead.span().end(), x_plain.span().begin(),
                   [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }));
  return {std::move(ahead), products};
}

}  // namespace

TEST_CASE("steps that go ahead give the same x, history and verdict") {
  const Criteria exact{.relative_tolerance = 1e-15};
  const Criteria estimated{.error_tolerance = std::numeric_limits<double>::infinity()};
  Criteria tight = estimated;
  tight.error_tolerance = 1e-12;
  for (const Criteria& criteria : {Criteria{}, exact, estimated, tight})
    for (const auto& [name, A] :
         std::initializer_list<std::pair<const char*, Matrix>>{{"poisson", poisson(40)},
                                                               {"random", random_spd(7, 3000, 5)},
                                                               {"one unknown", poisson(1)},
                                                               {"hilbert", hilbert(12)},
                                                               {"at the limit", at_the_limit()},
                                                               {"indefinite", diagonal([] {
                                                                  std::vector<double> d(500, 1.0);
                                                                  for (std::size_t i = 0; i < d.size(); ++i)
                                                                    d[i] = double(i) - 3;
                                                                  return d;
                                                                }())}}) {
      CAPTURE(name);
      check(A, ramp(A.nrows), criteria);
      check(A, random_vector(3, A.nrows), criteria);
    }
}

TEST_CASE("steps that go ahead meet numbers at the ends of the range as others do") {
  const Matrix A = poisson(30);
  for (const double scale : {1e-300, 1e-160, 1e-150, 1e150, 1e160, 1e300}) {
    CAPTURE(scale);
    auto b = ramp(A.nrows);
    for (double& b_i : b) b_i *= scale;
    check(A, b, {});
    check(A, ramp(A.nrows), {}, std::vector<double>(A.nrows, scale));
  }
  auto D = ones(A.nrows);
  D[5] = -3;  // no preconditioner of cg
  check(A, ramp(A.nrows), {}, D);
}

TEST_CASE("steps that go ahead stop where they are told to") {
  const Matrix A = poisson(40);
  for (const int limit : {0, 1, 2, 10}) {
    CAPTURE(limit);
    const Criteria criteria{.max_iterations = limit};
    check(A, ramp(A.nrows), criteria);
    std::atomic<bool> stop = false;
    const Criteria asked{.stop = &stop,
                         .on_iteration = [&](const IterationReport& report) { stop = report.iteration == limit; }};
    if (limit > 0) CHECK(check(A, ramp(A.nrows), asked, {}, &stop).first.status == Status::interrupted);
  }
}

TEST_CASE("few products of steps that go ahead are in vain") {
  const auto [summary, products] = check(poisson(60), ones(3600), {});
  CHECK(summary.converged());
  CHECK(summary.iterations > 100);
  CHECK(products <= summary.iterations + summary.iterations / 10 + 10);
}
