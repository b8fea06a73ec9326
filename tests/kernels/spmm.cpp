// Products with several vectors: column j has the bits of the product with column j.
#include "../backends.hpp"
#include "matrices.hpp"

#include <seidel/formats/convert.hpp>
#include <seidel/kernels/spmm/spmm.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

constexpr Layout layouts[] = {Layout::row_major, Layout::column_major};

template <class Real>
void check_columns(const Plain& plain, std::int64_t k, unsigned seed) {
  CAPTURE(k);
  const auto A = csr_of<Real>(plain);
  const std::int64_t m = plain.nrows(), n = plain.ncols;
  std::vector<std::vector<Real>> x(k), y(k);
  for (std::int64_t j = 0; j < k; ++j) {
    x[j] = random_values<Real>(n, seed + unsigned(j));
    Array<Real> column(x[j]), product(m);
    spmv(OpenMP{1}, A.view(), column, product);
    y[j] = moved_back(OpenMP{1}, product);
  }
  on_every_backend([&](auto on) {
    using B = decltype(on);
    using Space = SpaceOf<B>;
    const auto check = [&](const char* format, const auto& matrix) {
      CAPTURE(format);
      for (const Layout of_x : layouts)
        for (const Layout of_y : layouts)
          for (const std::int64_t extra : {0, 3}) {
            MultiVector<Real> X(n, k, of_x, (of_x == Layout::row_major ? k : n) + extra);
            MultiVector<Real, Space> X_on(on, n, k, of_x, (of_x == Layout::row_major ? k : n) + extra);
            MultiVector<Real, Space> Y_on(on, m, k, of_y, (of_y == Layout::row_major ? k : m) + extra);
            std::fill(X.elements().begin(), X.elements().end(), std::numeric_limits<Real>::quiet_NaN());
            for (std::int64_t j = 0; j < k; ++j)
              for (std::int64_t i = 0; i < n; ++i) X.view()(i, j) = x[j][i];
            copy(on, std::as_const(X).elements().span(), X_on.elements().span());
            const Real untouched = 12345;
            const Array<Real> marks(Y_on.elements().size(), untouched);
            copy(on, marks.span(), Y_on.elements().span());
            spmm(on, matrix, X_on.view(), Y_on.view());
            on.synchronize();

            auto got = moved_back(on, Y_on.elements());
            const MultiVectorView<Real, Host> Y{m, k, Y_on.view().leading_dimension, of_y, got.data()};
            std::int64_t wrong = 0;
            for (std::int64_t j = 0; j < k; ++j)
              for (std::int64_t i = 0; i < m; ++i) wrong += !(Y(i, j) == y[j][i]), Y(i, j) = untouched;
            for (const Real padding : got) wrong += padding != untouched;
            CHECK(wrong == 0);
          }
    };
    check("CSR, 32-bit offsets", copied_to<Space>(on, A.view()).view());
    check("CSR, 64-bit offsets", copied_to<Space>(on, csr_of<Real, std::int64_t>(plain).view()).view());
    std::size_t width = 0;
    for (const auto& row : plain.rows) width = std::max(width, row.size());
    if (width <= 5000) check("ELL", copied_to<Space>(on, ell_of(csr_of<Real>(plain)).view()).view());
    if (first_gap<3>(OpenMP{1}, A.view()) < 0)
      check("BSR 3x3", copied_to<Space>(on, to_bsr<3>(OpenMP{1}, A.view()).view()).view());
  });
}

}  // namespace

TEST_CASE_TEMPLATE("each column has the bits of spmv, for every number of columns, layout and leading dimension", Real,
                   double, float) {
  const unsigned seed = fresh_seed();
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 0; n <= 70; ++n) lengths.push_back(n);
  for (std::int64_t n : {2047, 2048, 2049, 4097}) lengths.push_back(n);
  const Plain A = rows_of_lengths(lengths, 4111, seed);
  for (std::int64_t k : {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 33}) check_columns<Real>(A, k, seed);
  check_columns<Real>(rows_of_lengths({100000, 3}, 100003, seed), 3, seed);
  check_columns<Real>(poisson(17, 13, 11), 5, seed);
  check_columns<Real>(Plain{4, {}}, 3, seed);
  Plain blocks{3000, {}};  // of 3 x 3, also more than 64 and more than 2048 entries in a row
  for (const Index in_row : {1, 0, 5, 21, 22, 27, 683, 1000})
    for (int r = 0; r < 3; ++r) {
      blocks.rows.emplace_back();
      for (Index c = 0; c < 3 * in_row; ++c) blocks.rows.back().emplace(3000 - 3 * in_row + c, 1.0 / (r + c + 1));
    }
  for (std::int64_t k : {1, 4, 5, 8}) check_columns<Real>(blocks, k, seed);
}

TEST_CASE("more long rows than the blocks of a GPU take in one turn have the bits of spmv") {
  const unsigned seed = fresh_seed();
  on_every_backend([&](auto on) {
    using B = decltype(on);
    if constexpr (!HostBackend<B>) {
      std::mt19937_64 random(seed);
      constexpr Index ncols = 5000;
      constexpr std::int64_t k = 16;
      std::vector<std::int64_t> row_ptr{0};
      std::vector<Index> col_idx;
      while (row_ptr.size() < 60'000) {
        // Some rows with the same columns.
        const auto kind = random() % 1000;
        const Index length = Index(kind == 0   ? 2049 + random() % 400
                                   : kind < 80 ? 257 + random() % 40
                                               : 65 + random() % 4),
                    first = Index(random() % 500), apart = 1 + (length < 2049);
        for (auto run = 1 + random() % 4; run > 0; --run) {
          for (Index j = 0; j < length; ++j) col_idx.push_back(first + apart * j);
          row_ptr.push_back(std::int64_t(col_idx.size()));
        }
      }
      const auto values = random_values<double>(std::int64_t(col_idx.size()), seed);
      const Index nrows = Index(row_ptr.size() - 1);
      const Csr<double, std::int64_t> A{nrows, ncols, Array<std::int64_t>(row_ptr), Array<Index>(col_idx),
                                        Array<double>(values)};
      const auto A_on = copied_to<Device>(on, A.view());
      const auto x = random_values<double>(ncols * k, seed + 1);
      const auto X_on = moved_to(on, x);
      auto Y_on = moved_to(on, poisoned<double>(nrows * k));
      spmm(on, A_on.view(), MultiVectorView<const double, Device>{ncols, k, k, Layout::row_major, X_on.data()},
           MultiVectorView<double, Device>{nrows, k, k, Layout::row_major, Y_on.data()});
      const auto Y = moved_back(on, Y_on);
      for (std::int64_t j = 0; j < k; ++j) {
        Array<double> column(ncols), product(nrows);
        for (Index i = 0; i < ncols; ++i) column[i] = x[i * k + j];
        spmv(OpenMP{1}, A.view(), column, product);
        std::int64_t wrong = 0;
        for (Index i = 0; i < nrows; ++i) wrong += !(Y[i * k + j] == product[i]);
        CHECK(wrong == 0);
      }
    }
  });
}

TEST_CASE("multivectors that do not fit the matrix are refused") {
  const auto A = csr_of<double>(rows_of_lengths({1, 2}, 3, 1));
  MultiVector<double> X(3, 4, Layout::row_major), Y(2, 4, Layout::column_major), narrow(2, 3, Layout::row_major);
  CHECK_NOTHROW(spmm(OpenMP{1}, A.view(), X.view(), Y.view()));
  CHECK_THROWS_AS(spmm(OpenMP{1}, A.view(), Y.view(), X.view()), ShapeError);
  CHECK_THROWS_AS(spmm(OpenMP{1}, A.view(), X.view(), narrow.view()), ShapeError);
  auto overlapping = X.view();
  overlapping.leading_dimension = 2;
  CHECK_THROWS_WITH_AS(
      spmm(OpenMP{1}, A.view(), overlapping, Y.view()),
      "spmm: X is 3 x 4 with leading dimension 2, the matrix needs 3 x 4 with leading dimension 4 or more", ShapeError);
}
