// Sizes at which the GPU's kernels change hands: thread, warp, block, launch. Bits must not show it.
#include "../backends.hpp"
#include "matrices.hpp"

#include <algorithm>
#include <random>

#include <seidel/kernels/certificate/certificate.hpp>
#include <seidel/kernels/spmm/spmm.hpp>
#include <seidel/kernels/sum.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Rows of the given lengths: columns 0, 1, 2, ... with random values.
template <class Real, class Offset>
Csr<Real, Offset> rows_of(const std::vector<Index>& lengths, unsigned seed) {
  std::vector<Offset> row_ptr{0};
  std::vector<Index> col_idx;
  Index ncols = 1;
  for (Index length : lengths) {
    for (Index k = 0; k < length; ++k) col_idx.push_back(k);
    row_ptr.push_back(Offset(col_idx.size()));
    ncols = std::max(ncols, length);
  }
  const auto values = random_values<Real>(std::int64_t(col_idx.size()), seed);
  return {Index(lengths.size()), ncols, Array<Offset>(row_ptr), Array<Index>(col_idx), Array<Real>(values)};
}

const std::vector<Index> lengths = {0,    1,    1000003, 63,    64,    65,     0,      96, 2047,
                                    2048, 2049, 65535,   65536, 65537, 524288, 524289, 7,  70000};

/// y = A x on the GPU, from poisoned memory.
template <class Matrix>
auto product(const Cuda& on, const Matrix& A, const Array<typename Matrix::Real, Device>& x) {
  using Real = typename Matrix::Real;
  Array<Real, Device> y(on, std::vector<Real>(A.nrows, std::numeric_limits<Real>::quiet_NaN()));
  spmv(on, A, x.span(), y.span());
  on.synchronize();
  return moved_back(on, y);
}

}  // namespace

TEST_CASE_TEMPLATE("[cuda] rows from nothing to a million entries have the bits of the host", Real, double, float) {
  const Cuda on;
  auto many = lengths;
  for (Index i = 0; i < 1000; ++i) many.push_back(i % 67);
  many.insert(many.end(), lengths.begin(), lengths.end());
  const auto A = rows_of<Real, std::int32_t>(many, 1);
  const auto wide = rows_of<Real, std::int64_t>(many, 1);
  const auto x = random_values<Real>(A.ncols, 2);
  const Array<Real> x_here(x);
  const Array<Real, Device> x_there(on, x);
  Array<Real> y(A.nrows), r(A.nrows);
  spmv(OpenMP{1}, A.view(), Span<const Real, Host>(x_here), y.span());
  const auto expected = moved_back(on, y);
  CHECK(differing(product(on, copied_to<Device>(on, A.view()).view(), x_there), expected) == 0);
  CHECK(differing(product(on, copied_to<Device>(on, wide.view()).view(), x_there), expected) == 0);
  for (Index height : {32, 4, 48}) {
    CAPTURE(height);
    CHECK(differing(product(on, copied_to<Device>(on, sell_of(A, height).view()).view(), x_there), expected) == 0);
  }
  const auto A_there = copied_to<Device>(on, A.view());
  const auto b = random_values<Real>(A.nrows, 3);
  certified_residual(OpenMP{1}, A.view(), x_here, Array<Real>(b), r);
  Array<Real, Device> r_there(on, b);
  certified_residual(on, A_there.view(), x_there, r_there, r_there);
  on.synchronize();
  CHECK(differing(moved_back(on, r_there), moved_back(on, r)) == 0);
}

TEST_CASE("[cuda] ELL with huge rows has the bits of the host") {
  const Cuda on;
  const auto A = rows_of<double, std::int32_t>(lengths, 4);
  const auto E = ell_of(A);
  const auto x = random_values<double>(A.ncols, 5);
  Array<double> y(A.nrows);
  spmv(OpenMP{1}, E.view(), Span<const double, Host>(Array<double>(x)), y.span());
  CHECK(differing(product(on, copied_to<Device>(on, E.view()).view(), Array<double, Device>(on, x)),
                  moved_back(on, y)) == 0);
}

TEST_CASE_TEMPLATE("[cuda] products with several vectors keep the bits across widths, layouts and alignments", Real,
                   double, float) {
  const Cuda on;
  auto many = lengths;
  many[2] = 3000, many[14] = 5000, many[15] = 66000;
  for (Index i = 0; i < 700; ++i) many.push_back(i % 70);
  const auto A = rows_of<Real, std::int32_t>(many, 6);
  const auto A_there = copied_to<Device>(on, A.view());
  for (std::int64_t k : {1, 2, 3, 4, 5, 8, 9})
    for (Layout of_x : {Layout::row_major, Layout::column_major})
      for (Layout of_y : {Layout::row_major, Layout::column_major})
        for (std::int64_t offset : {0, 1}) {  // of the first element, in elements: pairs must be aligned
          CAPTURE(k);
          CAPTURE(int(of_x));
          CAPTURE(int(of_y));
          CAPTURE(offset);
          const std::int64_t ld_x = of_x == Layout::row_major ? (k + 1) / 2 * 2 : A.ncols + 1;
          const std::int64_t ld_y = of_y == Layout::row_major ? k + 3 : A.nrows + 2;
          const std::int64_t size_x = offset + ld_x * (of_x == Layout::row_major ? A.ncols : k);
          const std::int64_t size_y = ld_y * (of_y == Layout::row_major ? A.nrows : k);
          const auto X = random_values<Real>(size_x, unsigned(k));
          Array<Real> X_here(X), Y_here(size_y, Real(-7));
          Array<Real, Device> X_there(on, X), Y_there(on, std::vector<Real>(size_y, Real(-7)));
          spmm(OpenMP{1}, A.view(), {A.ncols, k, ld_x, of_x, X_here.data() + offset},
               {A.nrows, k, ld_y, of_y, Y_here.data()});
          spmm(on, A_there.view(), {A.ncols, k, ld_x, of_x, X_there.data() + offset},
               {A.nrows, k, ld_y, of_y, Y_there.data()});
          on.synchronize();
          CHECK(differing(moved_back(on, Y_there), moved_back(on, Y_here)) ==
                0);  // and what lies between rows is left alone
        }
}

TEST_CASE_TEMPLATE("[cuda] sums of more partial sums than a block has threads are the one sum", Real, double, float) {
  const Cuda on;
  for (std::int64_t n : {16384 * 1024, 16384 * 1024 + 1, 16384 * 1025 + 2049, 40000003}) {
    CAPTURE(n);
    const auto x = random_values<Real>(n, 7);
    const Array<Real, Device> there(on, x);
    const Array<Real> here(x);
    CHECK(dot<Cuda, Real>(on, there, there) == dot<OpenMP, Real>(OpenMP{1}, here, here));
    CHECK(max_abs<Cuda, Real>(on, there) == max_abs<OpenMP, Real>(OpenMP{1}, here));
  }
}

TEST_CASE_TEMPLATE(
    "[cuda] wavefronts around the size of a block, alone and after one another, have the bits of the host", Real,
    double, float) {
  const Cuda on;
  const std::vector<Index> sizes = {1, 1024, 1023, 1025, 1, 3, 1024, 5000, 2, 1024, 1024, 31, 32, 33, 257};
  std::vector<std::int64_t> row_ptr{0};
  std::vector<Index> col_idx;
  std::vector<Real> values;
  std::mt19937_64 random(8);
  std::uniform_real_distribution<Real> uniform(-1, 1);
  Index before = 0, first = 0;  // rows of a group are coupled to up to 300 of the group before, backwards too
  for (Index size : sizes) {
    for (Index i = first; i < first + size; ++i) {
      const Index coupled = std::min<Index>(first - before, i % 97 == 0 ? 300 : i % 5 + 1);
      for (Index j = 0; j < coupled; ++j) col_idx.push_back(before + j), values.push_back(uniform(random));
      col_idx.push_back(i), values.push_back(Real(3) + uniform(random));
      row_ptr.push_back(std::int64_t(col_idx.size()));
    }
    before = first, first += size;
  }
  Csr<Real, std::int64_t> L{first, first, Array<std::int64_t>(row_ptr), Array<Index>(col_idx), Array<Real>(values)};
  // U = the mirror image of L: row n-1-i has its columns n-1-j, descending turned ascending. So upper parts are long
  // too.
  std::vector<std::int64_t> mirrored_ptr{0};
  std::vector<Index> mirrored_col;
  std::vector<Real> mirrored;
  for (Index i = first - 1; i >= 0; --i) {
    for (std::int64_t k = row_ptr[i + 1] - 1; k >= row_ptr[i]; --k)
      mirrored_col.push_back(first - 1 - col_idx[k]), mirrored.push_back(values[k]);
    mirrored_ptr.push_back(std::int64_t(mirrored_col.size()));
  }
  Csr<Real, std::int64_t> U{first, first, Array<std::int64_t>(mirrored_ptr), Array<Index>(mirrored_col),
                            Array<Real>(mirrored)};
  for (const auto* A : {&L, &U}) {
    CAPTURE((A == &L));
    const auto there = copied_to<Device>(on, A->view());
    const GaussSeidel<Real, std::int64_t, OpenMP> on_host(OpenMP{1}, A->view());
    const GaussSeidel<Real, std::int64_t, Cuda> on_gpu(on, there.view());
    CHECK(on_gpu.wavefronts() == std::int64_t(sizes.size()));
    const auto b = random_values<Real>(first, 9), x = random_values<Real>(first, 10);
    const Array<Real> b_here(b);
    const Array<Real, Device> b_there(on, b);
    for (Real omega : {Real(1), Real(1.3)}) {
      CAPTURE(omega);
      const auto same = [&](const char* sweep, auto run) {
        CAPTURE(sweep);
        Array<Real> x_here(x);
        Array<Real, Device> x_there(on, x);
        run(on_host, b_here, x_here);
        run(on_gpu, b_there, x_there);
        on.synchronize();
        CHECK(differing(moved_back(on, x_there), moved_back(on, x_here)) == 0);
      };
      same("forward", [&](const auto& g, const auto& b_, auto& x_) { g.forward(b_, x_, omega); });
      same("backward", [&](const auto& g, const auto& b_, auto& x_) { g.backward(b_, x_, omega); });
      same("symmetric", [&](const auto& g, const auto& b_, auto& x_) { g.symmetric(b_, x_, omega); });
      same("symmetric_from_zero",
           [&](const auto& g, const auto& b_, auto& x_) { g.symmetric_from_zero(b_, x_, omega); });
    }
  }
}

TEST_CASE("[cuda] Gauss-Seidel refuses what the host refuses, in the same words") {
  const Cuda on;
  const double bad[] = {0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::denorm_min()};
  for (double value : bad) {
    auto A = rows_of<double, std::int32_t>({1, 2, 3, 4}, 11);
    A.ncols = 4;
    A.values[5] = A.values[9] = value;
    const auto there = copied_to<Device>(on, A.view());
    const auto host = refusal<InputError>([&] { GaussSeidel<double, std::int32_t, OpenMP>(OpenMP{1}, A.view()); });
    CHECK(host.find("row 3") != host.npos);
    CHECK(refusal<InputError>([&] { GaussSeidel<double, std::int32_t, Cuda>(on, there.view()); }) == host);
  }
}
