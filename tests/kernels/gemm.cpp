// Products of dense matrices: the chain of fma, element by element, on every back end, for every layout and size.
#include <seidel/kernels/gemm/gemm.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "../backends.hpp"
#include "../matrices.hpp"

#include <seidel/kernels/gemm/host_tiles.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// A matrix with more memory around it than it needs, all of it random.
template <class Real>
struct Sample {
  std::vector<Real> all;
  DenseView<Real, Host> view;  // of `all`; its data is set anew for a copy

  Sample(std::int64_t nrows, std::int64_t ncols, Layout layout, std::int64_t extra, std::int64_t offset,
         std::uint64_t seed) {
    const bool rows = layout == Layout::row_major;
    const std::int64_t leading = (rows ? ncols : nrows) + extra;
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<Real> number(-1, 1);
    all.resize(std::size_t((rows ? nrows : ncols) * leading + offset + 3));
    for (Real& x : all) x = number(random);
    view = {nrows, ncols, leading, layout, all.data() + offset};
  }
  std::int64_t offset() const { return view.data - all.data(); }
};

/// The matrix of `sample` in a copy of its memory.
template <class Space, class Real, class T>
DenseView<T, Space> there(const Sample<Real>& sample, T* data) {
  const auto& view = sample.view;
  return {view.nrows, view.ncols, view.leading_dimension, view.layout, data + sample.offset()};
}

/// The formula of gemm.hpp.
template <class Real>
Real chain(Real alpha, const DenseView<Real, Host>& A, const DenseView<Real, Host>& B, Real beta,
           const DenseView<Real, Host>& C, std::int64_t i, std::int64_t j) {
  Real c = beta == 0 ? 0 : beta * C(i, j);
  if (alpha == 0) return c;
  for (std::int64_t k = 0; k < A.ncols; ++k) c = std::fma(A(i, k), alpha * B(k, j), c);
  return c;
}

template <class Real>
struct Case {
  std::int64_t m, n, k;
  Real alpha = 1, beta = 0;
  Layout of_a = Layout::column_major, of_b = Layout::column_major, of_c = Layout::column_major;
  std::int64_t extra = 0, offset = 0;  // of the leading dimensions; of the first element
};

template <class Real>
void check(const Case<Real>& c, std::uint64_t seed) {
  CAPTURE(c.m);
  CAPTURE(c.n);
  CAPTURE(c.k);
  CAPTURE(c.alpha);
  CAPTURE(c.beta);
  CAPTURE(int(c.of_a));
  CAPTURE(int(c.of_b));
  CAPTURE(int(c.of_c));
  CAPTURE(c.extra);
  Sample<Real> A(c.m, c.k, c.of_a, c.extra, c.offset, seed), B(c.k, c.n, c.of_b, c.extra, c.offset, seed + 1),
      C(c.m, c.n, c.of_c, c.extra, c.offset, seed + 2);
  if (c.beta == 0)
    for (std::int64_t j = 0; j < c.n; ++j)
      for (std::int64_t i = 0; i < c.m; ++i) C.view(i, j) = std::numeric_limits<Real>::quiet_NaN();
  auto expected = C.all;
  const DenseView<Real, Host> result{c.m, c.n, C.view.leading_dimension, c.of_c, expected.data() + C.offset()};
  for (std::int64_t j = 0; j < c.n; ++j)
    for (std::int64_t i = 0; i < c.m; ++i) result(i, j) = chain(c.alpha, A.view, B.view, c.beta, C.view, i, j);
  on_every_backend([&](const auto& on) {
    using Space = typename std::decay_t<decltype(on)>::Space;
    const auto a = moved_to(on, A.all), b = moved_to(on, B.all);
    auto got = moved_to(on, C.all);
    gemm(on, c.alpha, there<Space>(A, a.data()), there<Space>(B, b.data()), c.beta, there<Space>(C, got.data()),
         TermOrder::ascending);
    const auto back = moved_back(on, got);
    CHECK(back.size() == expected.size());
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < back.size(); ++i) wrong += !(back[i] == expected[i]);
    CHECK(wrong == 0);  // what lies between the rows or columns of C is as it was
  });
}

constexpr Layout both[] = {Layout::row_major, Layout::column_major};

}  // namespace

TEST_CASE_TEMPLATE("gemm is one chain of fma per element, for sizes at every seam and all layouts", Real, double,
                   float) {
  std::mt19937 random(fresh_seed());
  const std::int64_t sizes[] = {1, 2, 3, 5, 7, 8, 12, 13, 16, 17, 24, 25, 31, 48, 49, 63, 64, 65, 97, 128, 131, 257};
  const auto any = [&] { return sizes[random() % std::size(sizes)]; };
  for (const Layout of_a : both)
    for (const Layout of_b : both)
      for (const Layout of_c : both)
        for (const std::int64_t extra : {0, 1, 3, 4})
          for (int repeat = 0; repeat < 6; ++repeat) {
            const Real alpha = repeat % 3 == 0 ? Real(1) : Real(-0.7), beta = repeat % 2 == 0 ? Real(0) : Real(1.3);
            check<Real>({any(), any(), any(), alpha, beta, of_a, of_b, of_c, extra, std::int64_t(random() % 4)},
                        random());
          }
}

TEST_CASE_TEMPLATE("gemm is right across blocks of k, of rows and of columns", Real, double, float) {
  const unsigned seed = fresh_seed();
  for (const Layout layout : both) {
    check<Real>({150, 70, 1031, Real(0.3), Real(-1), layout, layout, layout, 0, 0}, seed);
    check<Real>({1, 1, 20011, 1, 0, layout, layout, layout, 0, 0}, seed + 1);
    check<Real>({401, 1, 5, 1, 1, layout, layout, layout, 0, 0}, seed + 2);
    check<Real>({3, 4111, 9, 1, 1, layout, layout, layout, 0, 0}, seed + 3);
    check<Real>({4111, 3, 40, 1, 0, layout, layout, layout, 1, 1}, seed + 4);
    check<Real>({512, 512, 32, 1, 0, layout, layout, layout, 0, 0}, seed + 5);
  }
}

TEST_CASE_TEMPLATE("products of many tiles have the bits of one core on a GPU, in all layouts, at all edges", Real,
                   double, float) {
  if constexpr (!built_with_cuda) return skipped_cuda();
  if (!have_gpu()) return skipped_cuda();
  const unsigned seed = fresh_seed();
  const Cuda on;
  struct Shape {
    std::int64_t m, n, k, extra, offset = 0;
  };
  const std::int64_t many =
      std::int64_t(on.multiprocessors()) * 8 * 128 * 64;  // elements of 8 tiles per multiprocessor
  for (const Shape s : {Shape{2 * many / 1024, 1024, 32, 0}, Shape{many / 1090 + 131, 1090, 1, 2},
                        Shape{2 * many / 1090 + 67, 1090, 70, 2}, Shape{100, 2 * many / 128 + 77, 160, 1},
                        Shape{2 * many / 2048 + 1, 2111, 37, 4}, Shape{many / 1024, 1024, 161, 0},
                        Shape{many / 1024 - 5, 1021, 161, 3}, Shape{2001, 2003, 37, 0, 1}, Shape{2005, 2002, 64, 0, 2},
                        Shape{2011, 1999, 33, 1, 3}, Shape{701, 5003, 20, 0, 1}, Shape{1001, 779, 333, 0},
                        Shape{1001, 778, 334, 2}, Shape{129, 131, 1030, 0}, Shape{33, 257, 1030, 2}})
    for (const Layout of_a : both)
      for (const Layout of_b : both)
        for (const Real beta : {Real(0), Real(-0.5)}) {
          CAPTURE(s.m);
          CAPTURE(int(of_a));
          CAPTURE(int(of_b));
          CAPTURE(beta);
          const Sample<Real> A(s.m, s.k, of_a, s.extra, s.offset, seed), B(s.k, s.n, of_b, s.extra, s.offset, seed + 1);
          Sample<Real> C(s.m, s.n, Layout::row_major, s.extra, s.offset, seed + 2);
          auto c = moved_to(on, C.all);
          const auto a = moved_to(on, A.all), b = moved_to(on, B.all);
          gemm(on, Real(1), there<Device>(A, a.data()), there<Device>(B, b.data()), beta, there<Device>(C, c.data()),
               TermOrder::ascending);
          gemm(OpenMP{}, Real(1), A.view, B.view, beta, C.view);
          CHECK(moved_back(on, c) == C.all);
        }
}

TEST_CASE("FP64 products of few terms and many rows have the bits of one core on a GPU, scaled and in all layouts") {
  if constexpr (!built_with_cuda) return skipped_cuda();
  if (!have_gpu()) return skipped_cuda();
  const unsigned seed = fresh_seed();
  CAPTURE(seed);
  const Cuda on;
  struct Shape {
    std::int64_t m, n, k, extra_a, extra;
  };
  const std::int64_t rows = std::int64_t(on.multiprocessors()) * 128;
  int number = 0;
  for (const Shape s :
       {// Blocks that have equal shares, so that some go on to other columns.
        Shape{rows - 11, 1034, 156, 2, 2}, Shape{3 * rows - 70, 1100, 61, 1, 2},
        // Blocks that keep their columns.
        Shape{rows, 1028, 150, 2, 4}, Shape{rows - 32, 1030, 17, 1, 2}, Shape{rows - 97, 1152, 64, 0, 0},
        Shape{rows - 1, 1026, 43, 1, 6}, Shape{330, 4 * rows - 10, 31, 1, 2},
        // Of at most 32 terms, with so many elements that blocks compute a few tiles each: tall, wide, even.
        Shape{rows - 45, 1290, 17, 1, 2}, Shape{330, 4 * rows - 2, 32, 0, 2}, Shape{rows + 3, 1344, 24, 0, 0}})
    for (const Layout of_c : both) {
      const Layout of_a = both[number / 2 % 2], of_b = both[number / 4 % 2];
      const double alpha = number % 3 == 0 ? -0.75 : 1, beta = number % 7 == 3 ? -0.5 : 0;
      ++number;
      const bool turned = of_c == Layout::column_major;  // C' = B' A'
      const std::int64_t m = turned ? s.n : s.m, n = turned ? s.m : s.n;
      INFO(m, " x ", n, " x ", s.k, ", alpha ", alpha, ", beta ", beta, ", layouts ", int(of_a), int(of_b), int(of_c));
      const Sample<double> A(m, s.k, of_a, turned ? s.extra : s.extra_a, 0, seed),
          B(s.k, n, of_b, turned ? s.extra_a : s.extra, 0, seed + 1);
      Sample<double> C(m, n, of_c, s.extra, 0, seed + 2);
      if (beta == 0)
        for (std::int64_t place = 0; place < m * n; ++place)
          C.view(place / n, place % n) = std::numeric_limits<double>::quiet_NaN();
      auto c = moved_to(on, C.all);
      const auto a = moved_to(on, A.all), b = moved_to(on, B.all);
      gemm(on, alpha, there<Device>(A, a.data()), there<Device>(B, b.data()), beta, there<Device>(C, c.data()));
      gemm(OpenMP{}, alpha, A.view, B.view, beta, C.view);
      CHECK(moved_back(on, c) == C.all);
    }
}

TEST_CASE_TEMPLATE("products whose terms may be added in any order are within the bound, and repeat", Real, double,
                   float) {
  if constexpr (!built_with_cuda) return skipped_cuda();
  if (!have_gpu()) return skipped_cuda();
  const unsigned seed = fresh_seed();
  const Cuda on;
  struct Shape {
    std::int64_t m, n, k, extra;
  };
  for (const Shape s : {Shape{1040, 1024, 1032, 0}, Shape{301, 77, 5003, 1}, Shape{1031, 1033, 150, 3},
                        Shape{96, 40, 32, 0}, Shape{2011, 2003, 100, 1}})
    for (const Layout of_a : both)
      for (const Layout of_c : both)
        for (const Real beta : {Real(0), Real(-0.5)}) {
          CAPTURE(s.k);
          CAPTURE(int(of_a));
          CAPTURE(int(of_c));
          CAPTURE(beta);
          const Layout of_b = of_a == of_c ? Layout::row_major : Layout::column_major;
          const Real alpha = Real(0.75);
          const Sample<Real> A(s.m, s.k, of_a, s.extra, 0, seed), B(s.k, s.n, of_b, s.extra, 0, seed + 1);
          Sample<Real> C(s.m, s.n, of_c, s.extra, 0, seed + 2);
          if (beta == 0)
            for (std::int64_t place = 0; place < s.m * s.n; ++place)
              C.view(place / s.n, place % s.n) = std::numeric_limits<Real>::quiet_NaN();
          const auto a = moved_to(on, A.all), b = moved_to(on, B.all);
          const auto product = [&] {
            auto c = moved_to(on, C.all);
            gemm(on, alpha, there<Device>(A, a.data()), there<Device>(B, b.data()), beta, there<Device>(C, c.data()));
            return moved_back(on, c);
          };
          const auto got = product();
          CHECK(got == product());
          std::mt19937 random(seed + 3);
          for (int element = 0; element < 200; ++element) {
            const std::int64_t i = random() % s.m, j = random() % s.n;
            const long double old = beta == 0 ? 0 : C.view(i, j);
            long double sum = beta * old, scale = std::fabs(beta * old);
            for (std::int64_t k = s.k; k-- > 0;) {
              const long double term = static_cast<long double>(A.view(i, k)) * B.view(k, j) * alpha;
              sum += term, scale += std::fabs(term);
            }
            const auto place = std::size_t(C.view.at(i, j));
            CHECK(std::fabs(got[place] - sum) <= (s.k + 3) * std::numeric_limits<Real>::epsilon() * scale);
          }
          // What lies between the lines of C is as it was.
          auto all = got;
          for (std::int64_t place = 0; place < s.m * s.n; ++place) {
            const auto at = std::size_t(C.view.at(place / s.n, place % s.n));
            all[at] = C.all[at] = 0;
          }
          CHECK(all == C.all);
        }
}

TEST_CASE_TEMPLATE("products by BF16 tensor cores are as exact as FP32, and repeat", Real, float) {
  if constexpr (!built_with_cuda) return skipped_cuda();
  if (!have_gpu()) return skipped_cuda();
  const Cuda on;
  if (!gemm_detail::have_bf16(on)) return skipped("a GPU of compute capability 9.0");
  const unsigned seed = fresh_seed();
  std::mt19937 random(seed);
  const auto one_of = [&](const auto& list) { return list[random() % std::size(list)]; };
  constexpr std::int64_t sides[] = {1, 3, 8, 16, 127, 128, 129, 200, 256, 300},
                         many_terms[] = {17, 31, 32, 33, 48, 144, 145, 160, 700};
  enum class Values { ordinary, of_all_sizes, tiny, with_infinities, all_infinite };
  struct Shape {
    std::int64_t m, n, k, max_scratch = std::int64_t(1) << 29;
  };
  std::vector<Shape> shapes = {{33000, 130, 20}, {40, 32900, 17}, {130, 140, 3000, 1}, {150, 2000, 2049, 1}};
  for (int i = 0; i < 60; ++i) shapes.push_back({one_of(sides), one_of(sides), one_of(many_terms)});
  int number = 0;
  for (const Shape s : shapes) {
    const auto values = Values(number++ % 5);
    const Layout of_a = one_of(both), of_b = one_of(both), of_c = one_of(both);
    const std::int64_t extra = std::int64_t(random() % 5);
    const float alpha = random() % 2 ? 1 : -0.75f, beta = random() % 2 ? 0 : 0.5f;
    CAPTURE(s.m);
    CAPTURE(s.n);
    CAPTURE(s.k);
    CAPTURE(int(values));
    CAPTURE(int(of_a));
    CAPTURE(int(of_b));
    CAPTURE(int(of_c));
    CAPTURE(beta);
    Sample<Real> A(s.m, s.k, of_a, extra, extra % 2, seed), B(s.k, s.n, of_b, extra, 0, seed + 1);
    const Sample<Real> C(s.m, s.n, of_c, extra, extra % 3, seed + 2);
    const auto place_of = [&](std::int64_t i, std::int64_t j) { return std::size_t(C.offset() + C.view.at(i, j)); };
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    if (values == Values::of_all_sizes) {  // lines whose products are numbers again
      for (std::int64_t i = 0; i < s.m; ++i)
        for (std::int64_t k = 0; k < s.k; ++k) A.view(i, k) = std::ldexp(A.view(i, k), int(i % 7 * 32) - 96);
      for (std::int64_t k = 0; k < s.k; ++k)
        for (std::int64_t j = 0; j < s.n; ++j) B.view(k, j) = std::ldexp(B.view(k, j), int(j % 5 * 9) - 18);
    } else if (values == Values::tiny) {
      for (float& a : A.all) a = std::ldexp(a, -130);
      for (float& b : B.all) b = std::ldexp(b, 120);
    } else if (values == Values::with_infinities) {
      for (const float odd : {inf, -inf, nan, 3e38f}) {
        A.view(std::int64_t(random()) % s.m, std::int64_t(random()) % s.k) = odd;
        B.view(std::int64_t(random()) % s.k, std::int64_t(random()) % s.n) = odd;
      }
    } else if (values == Values::all_infinite && s.m * s.n * s.k < 1000000) {
      for (float& a : A.all) a = inf;
    }
    const auto a = moved_to(on, A.all), b = moved_to(on, B.all);
    const auto product = [&] {
      auto c = C.all;
      if (beta == 0)
        for (std::int64_t place = 0; place < s.m * s.n; ++place) c[place_of(place / s.n, place % s.n)] = nan;
      auto there_c = moved_to(on, c);
      gemm_detail::product_by_bf16(on, alpha, there<Device>(A, static_cast<const Real*>(a.data())),
                                   there<Device>(B, static_cast<const Real*>(b.data())), beta,
                                   there<Device>(C, there_c.data()), s.max_scratch);
      return moved_back(on, there_c);
    };
    auto got = product();
    const auto again = product();
    CHECK(std::memcmp(got.data(), again.data(), got.size() * sizeof(float)) == 0);
    std::int64_t wrong = 0;
    const std::int64_t step = std::max<std::int64_t>(s.m * s.n / 20000, 1);
    for (std::int64_t place = 0; place < s.m * s.n; place += step) {
      const std::int64_t i = place / s.n, j = place % s.n;
      const long double old = beta == 0 ? 0 : C.view(i, j);
      long double sum = beta * old, scale = std::fabs(beta * old);
      float chained = float(beta * old);
      for (std::int64_t k = s.k; k-- > 0;) {
        const long double term = static_cast<long double>(A.view(i, k)) * B.view(k, j) * alpha;
        sum += term, scale += std::fabs(term);
      }
      for (std::int64_t k = 0; k < s.k; ++k) chained = std::fma(A.view(i, k), alpha * B.view(k, j), chained);
      const float found = got[place_of(i, j)];
      const long double bound =
          (s.k + 3) * std::numeric_limits<float>::epsilon() * scale + s.k * std::numeric_limits<float>::denorm_min();
      wrong += std::isfinite(chained) ? !(std::fabs(found - sum) <= bound)
                                      : !(found == chained || (std::isnan(found) && std::isnan(chained)));
    }
    CHECK(wrong == 0);
    // What lies between the lines of C is as it was.
    auto all = C.all;
    for (std::int64_t place = 0; place < s.m * s.n; ++place) {
      const std::size_t at = place_of(place / s.n, place % s.n);
      all[at] = got[at] = 0;
    }
    CHECK(got == all);
  }
}

TEST_CASE_TEMPLATE("a gemm of nothing scales C, and where alpha or K is 0 it reads neither A nor B", Real, double,
                   float) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  for (const Real beta : {Real(0), Real(1), Real(-2)})
    for (const Layout layout : both) {
      check<Real>({3, 4, 0, 1, beta, layout, layout, layout, 0, 0}, 1);
      check<Real>({0, 4, 3, 1, beta, layout, layout, layout, 0, 0}, 2);
      check<Real>({4, 0, 3, 1, beta, layout, layout, layout, 0, 0}, 3);
      check<Real>({0, 0, 0, 1, beta, layout, layout, layout, 0, 0}, 4);
      check<Real>({70, 33, 40, 0, beta, layout, layout, layout, 2, 1}, 5);
    }
  on_every_backend([&](const auto& on) {
    using Space = typename std::decay_t<decltype(on)>::Space;
    const auto A = moved_to(on, std::vector<Real>(6, nan));
    auto C = moved_to(on, std::vector<Real>(4, 3));
    gemm(on, 0, DenseView<const Real, Space>{2, 3, 3, Layout::row_major, A.data()},
         DenseView<const Real, Space>{3, 2, 2, Layout::row_major, A.data()}, Real(2),
         DenseView<Real, Space>{2, 2, 2, Layout::row_major, C.data()});
    CHECK(moved_back(on, C) == std::vector<Real>(4, 6));
  });
}

TEST_CASE("gemm keeps signs of zeros, subnormal numbers, infinities and NaN where they arise") {
  const double tiny = std::numeric_limits<double>::denorm_min(), inf = std::numeric_limits<double>::infinity();
  // Row 0: products that vanish below zero; row 1: subnormal ones; row 2: inf; row 3: inf - inf.
  const std::vector<double> a = {-tiny, 0, 0, 1e-300, 1e-10, 3, inf, 1, 0, inf, inf, 0};
  const std::vector<double> b = {0.25, 1e-10, 0.5, 0.25, -1, 0.5};
  on_every_backend([&](const auto& on) {
    using Space = typename std::decay_t<decltype(on)>::Space;
    const auto A = moved_to(on, a), B = moved_to(on, b);
    for (const double alpha : {1.0, -1.0}) {
      auto C = moved_to(on, std::vector<double>(8, -0.0));
      gemm(on, alpha, DenseView<const double, Space>{4, 3, 3, Layout::row_major, A.data()},
           DenseView<const double, Space>{3, 2, 2, Layout::row_major, B.data()}, 1.0,
           DenseView<double, Space>{4, 2, 2, Layout::row_major, C.data()});
      const auto got = moved_back(on, C);
      for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t j = 0; j < 2; ++j) {
          double c = -0.0;
          for (std::int64_t k = 0; k < 3; ++k)
            c = std::fma(a[std::size_t(i * 3 + k)], alpha * b[std::size_t(k * 2 + j)], c);
          const double found = got[std::size_t(i * 2 + j)];
          CHECK((found == c || (found != found && c != c)));
          CHECK((c != c || std::signbit(found) == std::signbit(c)));
        }
    }
  });
}

TEST_CASE_TEMPLATE("every instruction set of this processor gives the same bits", Real, double, float) {
  const unsigned seed = fresh_seed();
  std::vector<InstructionSet> sets = {InstructionSet::baseline};
  if (best_instruction_set() != InstructionSet::baseline) sets.push_back(InstructionSet::avx2);
  if (best_instruction_set() == InstructionSet::avx512) sets.push_back(InstructionSet::avx512);
  for (const Layout layout : both)
    for (const std::int64_t m : {1, 23, 50, 97}) {
      const Sample<Real> A(m, 500, layout, 1, 0, seed), B(500, 41, layout, 0, 0, seed + 1);
      std::vector<std::vector<Real>> results;
      for (const InstructionSet set : sets) {
        Sample<Real> C(m, 41, layout, 2, 0, seed + 2);
        gemm_detail::product_by<Real>(gemm_detail::host_tile<Real>(set), OpenMP{2}, Real(0.9), A.view, B.view,
                                      Real(1.1), C.view);
        results.push_back(C.all);
        CHECK(C.view(m - 1, 40) == chain<Real>(Real(0.9), A.view, B.view, Real(1.1),
                                               Sample<Real>(m, 41, layout, 2, 0, seed + 2).view, m - 1, 40));
        CHECK(results.back() == results.front());
      }
    }
}

TEST_CASE("gemm refuses operands that do not fit, and a result that overlaps them") {
  Array<double> memory(100, 1.0);
  const auto view = [&](std::int64_t offset, std::int64_t m, std::int64_t n, std::int64_t leading) {
    return DenseView<double, Host>{m, n, leading, Layout::row_major, memory.data() + offset};
  };
  const auto product = [](auto A, auto B, auto C) { gemm(OpenMP{1}, 1.0, A, B, 0.0, C); };
  CHECK_NOTHROW(product(view(0, 2, 3, 3), view(10, 3, 4, 4), view(30, 2, 4, 4)));
  CHECK_THROWS_WITH_AS(
      product(view(0, 2, 3, 3), view(10, 2, 4, 4), view(30, 2, 4, 4)),
      "gemm: B is 2 x 4 with leading dimension 4, the matrix needs 3 x 4 with leading dimension 4 or more", ShapeError);
  CHECK_THROWS_AS(product(view(0, 1, 3, 3), view(10, 3, 4, 4), view(30, 2, 4, 4)), ShapeError);
  CHECK_THROWS_AS(product(view(0, 2, 3, 3), view(10, 3, 4, 4), view(30, 2, 4, 3)), ShapeError);
  CHECK_THROWS_AS(product(view(0, 2, 3, 3), view(10, 3, 4, 4), view(5, 2, 4, 4)), InputError);
  CHECK_THROWS_AS(product(view(0, 2, 3, 3), view(10, 3, 4, 4), view(21, 2, 4, 4)), InputError);
  // Blocks of one 10 x 10 matrix, as an update of a factorization takes them.
  CHECK_NOTHROW(product(view(50, 5, 5, 10), view(5, 5, 5, 10), view(55, 5, 5, 10)));
  CHECK_THROWS_AS(product(view(50, 5, 5, 10), view(5, 5, 5, 10), view(54, 5, 5, 10)), InputError);
}

TEST_CASE("two blocks of a matrix overlap where they share an element, and only there") {
  const std::int64_t n = 7;
  std::vector<double> memory(n * n + n);
  for (const Layout layout : both) {
    std::vector<DenseView<double, Host>> blocks;
    const DenseView<double, Host> whole{n, n, n, layout, memory.data()};
    for (std::int64_t row = 0; row < n; row += 2)
      for (std::int64_t column = 0; column < n; column += 3)
        for (std::int64_t nrows = 0; row + nrows <= n; nrows += 2)
          for (std::int64_t ncols = 0; column + ncols <= n; ncols += 2)
            blocks.push_back(block(whole, row, column, nrows, ncols));
    // A vector whose leading dimension says nothing, and one line that runs over the ends of those of the matrix.
    blocks.push_back({layout == Layout::row_major ? 1 : 5, layout == Layout::row_major ? 5 : 1, 5, layout, &memory[9]});
    blocks.push_back(
        {layout == Layout::row_major ? 1 : 11, layout == Layout::row_major ? 11 : 1, 11, layout, &memory[9]});
    std::int64_t wrong = 0;
    for (const auto& A : blocks)
      for (const auto& C : blocks) {
        std::vector<bool> in_a(memory.size());
        for (std::int64_t i = 0; i < A.nrows; ++i)
          for (std::int64_t j = 0; j < A.ncols; ++j) in_a[std::size_t(&A(i, j) - memory.data())] = true;
        bool shared = false;
        for (std::int64_t i = 0; i < C.nrows; ++i)
          for (std::int64_t j = 0; j < C.ncols; ++j) shared = shared || in_a[std::size_t(&C(i, j) - memory.data())];
        wrong += shared != overlap(A, C);
      }
    CHECK(wrong == 0);
  }
}
