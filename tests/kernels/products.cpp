// Prepared products: the bits of spmv and spmm, again and again, with new values.
#include <seidel/formats/generators/generate.hpp>
#include <seidel/kernels/products/product.hpp>
#include <seidel/kernels/spmv/shares.hpp>
#include <seidel/kernels/vector.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../backends.hpp"
#include "matrices.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Row i is of kind i modulo `kinds`: up to 9 columns relative to i, where they exist, and values of its own. At the ends
/// rows are cut, which makes a few kinds more.
Plain rows_of_kinds(std::int64_t n, int kinds, unsigned seed) {
  Plain plain{n, std::vector<Row>(n)};
  for (std::int64_t i = 0; i < n; ++i) {
    std::mt19937_64 random(seed + i % kinds);
    for (int k = -4; k <= 4; ++k) {
      const double value = random() % 7 ? double(random() % 1000) / 8 - 60 : -0.0;
      if (random() % 3 && i + k >= 0 && i + k < n) plain.rows[i][Index(i + k)] = value;
    }
  }
  return plain;
}

/// Rows of 248 kinds with 8 entries each, as many as are taken.
Plain rows_of_long_kinds(std::int64_t n, unsigned seed) {
  Plain plain{n, std::vector<Row>(n)};
  for (std::int64_t i = 0; i < n; ++i) {
    std::mt19937_64 random(seed + i % 124);
    for (int k = 0; k < 8; ++k) plain.rows[i][Index(i < n / 2 ? i + k : i - k)] = double(random() % 1000) / 8 - 60;
  }
  return plain;
}

/// Runs of 1 ... 7 rows of 60 ... 260 entries that have the same columns; but one row in ten has another column in their
/// middle.
Plain rows_with_equal_columns(std::int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  Plain plain{2000, {}};
  while (std::int64_t(plain.rows.size()) < n) {
    const auto length = 60 + random() % 201, run = 1 + random() % 7;
    const Index first = Index(random() % 1000);
    for (std::size_t r = 0; r < run; ++r) {
      Row row;
      for (std::size_t k = 0; k < length; ++k) row[first + Index(2 * k)] = double(random() % 1000) / 8 - 60;
      if (random() % 10 == 0) {
        row.erase(first + Index(length / 2 * 2));
        row[first + Index(length / 2 * 2) + 1] = 1;
      }
      plain.rows.push_back(row);
    }
  }
  return plain;
}

/// Nodes of b rows with the same columns, which come in runs of b: as many blocks per node as `blocks` says, from none to a row of
/// more than 2048 entries.
Plain matrix_of_blocks(int b, std::int64_t nodes, const auto& blocks, unsigned seed) {
  std::mt19937_64 random(seed);
  Plain plain{b * 1500, std::vector<Row>(b * nodes)};
  for (std::int64_t node = 0; node < nodes; ++node)
    for (auto left = blocks(random); left > 0;) {
      const Index column = Index(b * (random() % 1500));
      if (plain.rows[b * node].contains(column)) continue;
      for (int entry = 0; entry < b * b; ++entry)
        plain.rows[b * node + entry / b][column + Index(entry % b)] = double(random() % 1000) / 8 - 60;
      --left;
    }
  return plain;
}
std::vector<std::pair<std::string, Plain>> matrices_of_blocks(unsigned seed) {
  std::vector<std::pair<std::string, Plain>> all;
  for (const int b : {2, 3, 4, 6}) {
    const unsigned short_blocks = short_sum / b, blocks_of_256 = 256 / b, most = 2048 / b;
    const auto add = [&](const char* name, std::int64_t nrows, const auto& blocks) {
      all.emplace_back(std::string(name) + ", " + std::to_string(b), matrix_of_blocks(b, nrows / b, blocks, seed));
    };
    add("one block", b, [](auto&) { return 1u; });
    add("short rows of blocks", 990, [&](auto& r) { return r() % (short_blocks + 1); });
    add("rows of 27 blocks", 300, [](auto&) { return 27u; });
    add("blocks around 64 entries", 600, [&](auto& r) { return short_blocks - 3 + r() % 8; });
    add("few longer rows of blocks", 600,
        [&](auto& r) { return r() % 20 ? r() % (short_blocks / 2) : short_blocks + r() % short_blocks; });
    add("most rows of blocks long, none above 256 entries", 480, [&](auto& r) {
      return r() % 8 ? short_blocks + 1 + r() % (blocks_of_256 - short_blocks) : r() % short_blocks;
    });
    add("blocks up to 2048 entries", 36, [&](auto& r) { return most - r() % 53; });
    add("a row of more than 2048 entries in blocks", 12, [&](auto& r) { return most + r() % 2; });
  }
  return all;
}

/// Short rows, rows around 64 and 2048 entries, thousands of them in one row, in places that chance decides.
std::vector<std::pair<std::string, Plain>> matrices(unsigned seed) {
  std::mt19937_64 random(seed);
  const auto of_lengths = [&](std::int64_t n, auto length) {
    std::vector<std::int64_t> lengths(n);
    for (auto& l : lengths) l = length();
    return rows_of_lengths(lengths, 5000, seed);
  };
  std::vector<std::pair<std::string, Plain>> all;
  all.emplace_back("rows of every length", rows_of_lengths(awkward_lengths(), 100003, seed));
  all.emplace_back("short rows", of_lengths(3001, [&] { return random() % 9; }));
  all.emplace_back("rows up to 64", of_lengths(1501, [&] { return random() % 65; }));
  all.emplace_back("rows of 14 to 23", of_lengths(700, [&] { return 14 + random() % 10; }));
  all.emplace_back("rows of 24 to 31, few longer",
                   of_lengths(700, [&] { return random() % 90 ? 24 + random() % 8 : 100; }));
  all.emplace_back("rows of 81", of_lengths(301, [&] { return 81; }));
  all.emplace_back("rows up to 500", of_lengths(301, [&] { return random() % 4 ? random() % 100 : random() % 500; }));
  all.emplace_back("all kinds", of_lengths(501, [&]() -> std::int64_t {
                     const auto chance = random() % 16;
                     return chance == 0 ? 2049 + random() % 2500 : chance < 4 ? 60 + random() % 200 : random() % 12;
                   }));
  all.emplace_back("rows with equal columns", rows_with_equal_columns(400, seed));
  all.emplace_back("a lattice", poisson(17, 13, 11));
  all.emplace_back("a thin lattice", poisson(53, 1 + random() % 3, 9));
  all.emplace_back("a flat lattice", poisson(40, 35, 1));
  all.emplace_back("kinds of rows", rows_of_kinds(random() % 2 ? 1000 : 33, 7, seed));
  all.emplace_back("many kinds of rows", rows_of_kinds(2000, 240, seed));
  all.emplace_back("kinds of rows with as many entries as are taken", rows_of_long_kinds(5000, seed));
  all.emplace_back("more kinds of rows than are taken", rows_of_kinds(3000, 256, seed));
  for (auto& matrix : matrices_of_blocks(seed)) all.push_back(std::move(matrix));
  all.emplace_back("empty rows only", rows_of_lengths({0, 0, 0}, 7, seed));
  all.emplace_back("no rows", Plain{5, {}});
  return all;
}

/// Tiles, with and without hubs, and shares, twice; and the list of long rows, which is made for one product, beforehand or by it, and has room for more
/// than there are.
template <class Real, class Offset>
void check_unprepared(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Array<Real>& expected,
                      const Real* x) {
  using spmv_detail::Listing;
  if constexpr (built_with_cuda) {
    const auto tiles = spmv_detail::Tiles::of(on, A.row_ptr, A.nnz());
    for (const std::int64_t room : {1, 57, 12'288}) {
      const auto hubs = spmv_detail::find_hubs<Real>(on, A.ncols, A.col_idx, room, 0);
      CHECK(hubs.has_value() == (A.nnz() > 0));
      if (!hubs) continue;
      CHECK(hubs->hubs.size() <= room);
      for (int again = 0; again < 2; ++again) {
        auto y = moved_to(on, poisoned<Real>(A.nrows));
        spmv_detail::hubs_product(on, A, *hubs, tiles.view, x, StoreProduct<Real>{y.data()});
        on.synchronize();
        CHECK(differing(moved_back(on, y), moved_back(OpenMP{1}, expected)) == 0);
      }
    }
    for (int again = 0; again < 2; ++again) {
      auto y = moved_to(on, poisoned<Real>(A.nrows));
      spmv_detail::tiles_product(on, A, tiles.view, x, StoreProduct<Real>{y.data()});
      auto y_of_shares = moved_to(on, poisoned<Real>(A.nrows));
      spmv_detail::shares_product(on, A, x, StoreProduct<Real>{y_of_shares.data()});
      on.synchronize();
      CHECK(differing(moved_back(on, y), moved_back(OpenMP{1}, expected)) == 0);
      CHECK(differing(moved_back(on, y_of_shares), moved_back(OpenMP{1}, expected)) == 0);
    }
    Array<bool, Device> irregular(on, 1);
    for (const int shortest : {spmv_detail::longest_unlisted_row(A.nrows, A.nnz()), short_sum})
      for (const auto listing : {Listing::done, Listing::by_product}) {
        auto y = moved_to(on, poisoned<Real>(A.nrows));
        Scratch scratch(on);
        const auto list = spmv_detail::listed_in(scratch, on, A, shortest);
        if (listing == Listing::by_product) spmv_detail::look_at_rows(on, A, list, irregular.data());
        spmv_detail::csr_product(on, A, list, listing, x, StoreProduct<Real>{y.data()});
        on.synchronize();
        CHECK(differing(moved_back(on, y), moved_back(OpenMP{1}, expected)) == 0);
      }
    for (const bool judged : {false, true}) {  // of both products the GPU does one
      auto y = moved_to(on, poisoned<Real>(A.nrows));
      Scratch scratch(on);
      const auto list = spmv_detail::room_in(scratch, A, short_sum);
      spmv_detail::look_at_rows(on, A, list, irregular.data());
      const StoreProduct<Real> store{y.data()};
      spmv_detail::shares_product(on, A, x, store, {.irregular = irregular.data(), .wanted = judged});
      on.synchronize();
      const bool is_irregular = A.nrows > 0 && copied_to<Host>(on, irregular)[0];
      if (is_irregular == judged)
        CHECK(differing(moved_back(on, y), moved_back(OpenMP{1}, expected)) == 0);
      else
        CHECK(std::ranges::all_of(moved_back(on, y), [](Real value) { return std::isnan(value); }));
      spmv_detail::csr_product(on, A, list, Listing::by_product, x, store,
                               {.irregular = irregular.data(), .wanted = !judged});
      on.synchronize();
      CHECK(differing(moved_back(on, y), moved_back(OpenMP{1}, expected)) == 0);
    }
  }
}

/// The same with the entries one place further in memory, where they do not begin at multiples of 16 bytes.
template <class Real, class Offset>
void check_out_of_line(const Cuda& on, const Csr<Real, Offset>& A, const Array<Real>& expected, const Real* x) {
  std::vector<Index> col_idx(1);
  std::vector<Real> values(1);
  col_idx.insert(col_idx.end(), A.col_idx.begin(), A.col_idx.end());
  values.insert(values.end(), A.values.begin(), A.values.end());
  const auto row_ptr = copied_to<Device>(on, A.row_ptr.span());
  const auto col_idx_on = moved_to(on, col_idx);
  const auto values_on = moved_to(on, values);
  check_unprepared(on,
                   CsrView<Real, Offset, Device>{A.nrows, A.ncols, row_ptr, col_idx_on.span().subspan(1, A.nnz()),
                                                 values_on.span().subspan(1, A.nnz())},
                   expected, x);
}

template <class Real, class Offset, class On>
void check_vectors(const On& on, const Csr<Real, Offset>& A, unsigned seed) {
  using B = On;
  const auto there = copied_to<SpaceOf<B>>(on, A.view());
  const auto x = random_values<Real>(A.ncols, seed), b = random_values<Real>(A.nrows, seed + 1);
  Array<Real> y(A.nrows), r(A.nrows), y_new(A.nrows);
  spmv(OpenMP{1}, A.view(), Array<Real>(x), y);
  residual(OpenMP{1}, A.view(), Array<Real>(x), Array<Real>(b), r);
  CsrView<Real, Offset, Host> changed = A.view();
  const Array<Real> new_values(random_values<Real>(A.nnz(), seed + 2));
  changed.values = new_values.span();
  spmv(OpenMP{1}, changed, Array<Real>(x), y_new);

  Product product(on, there.view());
  CHECK(product.bytes() <= decltype(product)::max_bytes(A.nrows, A.nnz(), true));
  const auto x_on = moved_to(on, x);
  const auto check = [&](const Array<Real>& expected, const auto& run) {
    auto out = moved_to(on, poisoned<Real>(A.nrows));
    run(out.span());
    on.synchronize();
    CHECK(differing(moved_back(on, out), moved_back(OpenMP{1}, expected)) == 0);
  };
  if constexpr (!HostBackend<B>) {
    check_unprepared(on, there.view(), y, x_on.data());
    check_out_of_line(on, A, y, x_on.data());
  }
  for (int again = 0; again < 3; ++again) check(y, [&](auto out) { product.apply(x_on.span(), out); });
  const auto b_on = moved_to(on, b);
  check(r, [&](auto out) { product.residual(x_on.span(), b_on.span(), out); });
  const auto values = copied_to<SpaceOf<B>>(on, new_values.span());
  product.update_values(values.span());
  check(y_new, [&](auto out) { product.apply(x_on.span(), out); });
  if (A.nnz() > 0) CHECK_THROWS_AS(product.update_values(values.span().subspan(0, A.nnz() / 2)), ShapeError);
}

template <class Real, class On>
void check_columns(const On& on, const Csr<Real, std::int32_t>& A, std::int64_t k, std::int64_t extra, Layout layout,
                   unsigned seed) {
  using Space = SpaceOf<On>;
  CAPTURE(k);
  const auto there = copied_to<Space>(on, A.view());
  const Product product(on, there.view());
  const std::int64_t of_x = layout == Layout::row_major ? k : A.ncols, of_y = layout == Layout::row_major ? k : A.nrows;
  MultiVector<Real> X(A.ncols, k, layout, of_x + extra), Y(A.nrows, k, layout, of_y + extra);
  std::ranges::copy(random_values<Real>(X.elements().size(), seed), X.elements().begin());
  std::ranges::fill(Y.elements(), Real(12345));
  MultiVector<Real, Space> X_on(on, A.ncols, k, layout, of_x + extra), Y_on(on, A.nrows, k, layout, of_y + extra);
  copy(on, std::as_const(X).elements().span(), X_on.elements().span());
  copy(on, std::as_const(Y).elements().span(), Y_on.elements().span());
  spmm(OpenMP{1}, A.view(), X.view(), Y.view());
  for (int again = 0; again < 2; ++again) product.apply(MultiVectorView<const Real, Space>(X_on.view()), Y_on.view());
  on.synchronize();
  CHECK(differing(moved_back(on, Y_on.elements()), moved_back(OpenMP{1}, Y.elements())) == 0);
  if constexpr (built_with_cuda && !HostBackend<On>) {
    // Without preparation, as spmm of larger matrices; Y in either layout.
    Scratch scratch(on);
    const auto list = spmv_detail::listed_in(scratch, on, there.view(), short_sum);
    spmm_detail::join_rows(on, there.view(), list);
    for (const Layout of_y_now : {Layout::row_major, Layout::column_major}) {
      MultiVector<Real> expected(A.nrows, k, of_y_now, (of_y_now == Layout::row_major ? k : A.nrows) + extra);
      std::ranges::fill(expected.elements(), Real(12345));
      const auto there_too = copied_to<Space>(on, std::as_const(expected).elements().span());
      spmm(OpenMP{1}, A.view(), X.view(), expected.view());
      MultiVector<Real, Space> got(on, A.nrows, k, of_y_now, expected.view().leading_dimension);
      copy(on, there_too.span(), got.elements().span());
      spmm_detail::csr_product<Real, std::int32_t>(on, there.view(), list, X_on.view(), got.view());
      on.synchronize();
      CHECK(differing(moved_back(on, got.elements()), moved_back(OpenMP{1}, expected.elements())) == 0);
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("a prepared product has the bits of spmv, also again and with new values", Real, double, float) {
  const unsigned seed = fresh_seed();
  for (const auto& [name, plain] : matrices(seed)) {
    CAPTURE(name);
    on_every_backend([&](auto on) {
      check_vectors(on, csr_of<Real, std::int32_t>(plain), seed);
      check_vectors(on, csr_of<Real, std::int64_t>(plain), seed);
    });
  }
}

TEST_CASE_TEMPLATE("a prepared product with several vectors has the bits of spmm", Real, double, float) {
  const unsigned seed = fresh_seed();
  for (const auto& [name, plain] : matrices(seed)) {
    CAPTURE(name);
    const auto A = csr_of<Real>(plain);
    on_every_backend([&](auto on) {
      for (const std::int64_t k : {0, 1, 2, 3, 4, 6, 8, 11, 12, 16, 20, 32, 33, 38, 64})
        check_columns(on, A, k, 0, Layout::row_major, seed);
      check_columns(on, A, 8, 3, Layout::row_major, seed);
      check_columns(on, A, 8, 2, Layout::row_major, seed);
      for (const std::int64_t k : {0, 1, 2, 5, 9, 16, 40}) check_columns(on, A, k, 1, Layout::column_major, seed);
    });
  }
}

TEST_CASE_TEMPLATE("uneven rows, so many that a warp of a GPU takes 32, have the bits of spmm", Real, double, float) {
  const unsigned seed = fresh_seed();
  on_every_backend([&](auto on) {
    if constexpr (!HostBackend<decltype(on)>) {
      std::mt19937_64 random(seed);
      std::vector<std::int64_t> lengths(200'011);
      for (auto& length : lengths) length = random() % 40 ? random() % 9 : random() % 90;
      const auto A = csr_of<Real>(rows_of_lengths(lengths, 1003, seed));
      for (const std::int64_t k : {4, 6, 11, 16, 33, 64}) check_columns(on, A, k, 0, Layout::row_major, seed);
    }
  });
}

TEST_CASE("a prepared product on a GPU keeps elements of x in shared memory for the hubs of a large graph") {
  on_every_backend([&](auto on) {
    if constexpr (!HostBackend<decltype(on)>) {
      const auto A = generate(OpenMP{}, "rmat:20", fresh_seed());
      check_vectors(on, A, 1);
      const auto there = copied_to<Device>(on, A.view());
      const Product product(on, there.view());
      CAPTURE(product.describe());
      CHECK(product.describe().ends_with(" columns with many entries in shared memory"));
      CHECK(product.bytes() > A.nnz() * std::int64_t(sizeof(Index)));
    }
  });
}

TEST_CASE("a large product from CSR that is not prepared has the bits of the host, be its rows regular or not") {
  on_every_backend([&](auto on) {
    if constexpr (!HostBackend<decltype(on)>) {
      for (const char* spec : {"hpcg:70", "random:300000x300000:9000000", "rmat:18:45"}) {
        CAPTURE(spec);
        const auto A = generate(OpenMP{}, spec, fresh_seed());
        REQUIRE(spmv_detail::unprepared_way(A.nrows, A.nnz()) == spmv_detail::UnpreparedWay::staged_if_regular);
        const Array<double> x(random_values<double>(A.ncols, 1));
        Array<double> y(A.nrows);
        spmv(OpenMP{}, A.view(), x, y);
        const auto A_on = copied_to<Device>(on, A.view());
        const auto x_on = copied_to<Device>(on, x.span());
        auto y_on = moved_to(on, poisoned<double>(A.nrows));
        spmv(on, A_on.view(), x_on, y_on);
        on.synchronize();
        CHECK(differing(moved_back(on, y_on), moved_back(OpenMP{1}, y)) == 0);
      }
    }
  });
}

TEST_CASE_TEMPLATE("a prepared product finds kinds of rows on a GPU, and again with new values", Real, double, float) {
  const unsigned seed = fresh_seed();
  on_every_backend([&](auto on) {
    if constexpr (!HostBackend<decltype(on)>) {
      const auto A = csr_of<Real>(rows_of_kinds(1000, 7, seed));
      const auto there = copied_to<Device>(on, A.view());
      Product product(on, there.view());
      const std::string found = product.describe();
      CHECK(found.ends_with("kinds of rows"));
      CHECK(product.bytes_per_nonzero() < 4);
      Array<Real> twice(A.nnz()), all_different(random_values<Real>(A.nnz(), seed));
      for (std::int64_t k = 0; k < A.nnz(); ++k) twice[k] = 2 * A.values[k];
      const auto scaled = copied_to<Device>(on, std::as_const(twice).span());
      const auto different = copied_to<Device>(on, std::as_const(all_different).span());
      product.update_values(scaled.span());
      CHECK(product.describe() == found);
      product.update_values(different.span());
      CHECK(product.describe().starts_with("CSR"));
      const auto many = copied_to<Device>(on, csr_of<Real>(rows_of_kinds(3000, 256, seed)).view());
      CHECK(Product(on, many.view()).describe().starts_with("CSR"));
    }
  });
}

TEST_CASE_TEMPLATE("one row that differs from the rows above it is of another kind, wherever it stands", Real, double,
                   float) {
  const unsigned seed = fresh_seed();
  Plain alike{700, std::vector<Row>(700)};
  for (Index i = 0; i < 700; ++i)
    for (Index k = -3; k <= 3; ++k)
      if (i + k >= 0 && i + k < 700) alike.rows[std::size_t(i)][i + k] = k;
  on_every_backend([&](auto on) {
    if constexpr (!HostBackend<decltype(on)>) {
      const auto kinds = [&](const Plain& plain) {
        const auto A = csr_of<Real>(plain);
        check_vectors(on, A, seed);
        const auto there = copied_to<Device>(on, A.view());
        return Product(on, there.view()).describe();
      };
      CHECK(kinds(alike) == "7 kinds of rows");
      for (const std::size_t row : {10, 31, 32, 33, 63, 64, 127, 128, 129, 255, 256, 690}) {
        CAPTURE(row);
        Plain other_value = alike, other_column = alike;
        other_value.rows[row][Index(row)] = -0.0;  // was 0
        other_column.rows[row].erase(Index(row + 3));
        other_column.rows[row][Index(row + 4)] = 3;
        CHECK(kinds(other_value) == "8 kinds of rows");
        CHECK(kinds(other_column) == "8 kinds of rows");
      }
    }
  });
}

TEST_CASE_TEMPLATE("a prepared product on a GPU sees nodes of several unknowns, if all of A consists of them", Real,
                   double, float) {
  const unsigned seed = fresh_seed();
  std::mt19937_64 random(seed);
  on_every_backend([&](auto on) {
    if constexpr (!HostBackend<decltype(on)>) {
      const auto form_of = [&](const Plain& plain) {
        const auto A = csr_of<Real>(plain);
        const auto there = copied_to<Device>(on, A.view());
        check_vectors(on, A, seed);
        return Product(on, there.view()).describe();
      };
      const auto nodes_of = [](std::int64_t nodes, int b) {
        const std::string of = std::to_string(b);
        return std::to_string(nodes) + " nodes in blocks of " + of + " x " + of;
      };
      for (const int b : {2, 3, 4, 6}) {
        CAPTURE(b);
        const Plain whole = matrix_of_blocks(
            b, 150, [](auto& r) { return 5 + r() % 6; }, seed);  // too many rows for kinds of rows
        CHECK(form_of(whole) == nodes_of(150, b));
        const auto differs = [&](const auto& change, const std::string& form) {
          Plain plain = whole;
          change(plain.rows, random() % plain.rows.size());
          CHECK(form_of(plain).starts_with(form));
        };
        differs([](auto& rows, std::size_t i) { rows[i].erase(rows[i].begin()); }, "CSR");
        differs([](auto& rows, std::size_t i) { rows[i].erase(std::prev(rows[i].end())); }, "CSR");
        differs([](auto& rows, std::size_t) { rows.pop_back(); }, "CSR");
        const auto insert_node = [&](std::vector<Index> columns) {
          differs(
              [&](auto& rows, std::size_t) {
                Row row;
                for (const Index column : columns) row[column] = 1;
                rows.insert(rows.begin(), b, row);
              },
              "CSR");
        };
        std::vector<Index> with_gap(b), moved(b);
        for (int c = 0; c < b; ++c) with_gap[c] = c < b - 1 ? c : b + c, moved[c] = c + 1;
        insert_node(with_gap);
        insert_node(moved);
        differs(
            [&](auto& rows, std::size_t i) {  // another column in one row of a node
              for (int c = 0; c < b; ++c) rows[i].erase(std::prev(rows[i].end()));
              for (Index column = 0;; column += b)
                if (!rows[i].contains(column)) {
                  for (Index c = 0; c < b; ++c) rows[i][column + c] = 1;
                  break;
                }
            },
            "CSR");
        const Plain long_rows = matrix_of_blocks(
            b, 2, [&](auto&) { return 2048 / b + 1; }, seed);
        CHECK(form_of(long_rows).starts_with("CSR"));
      }
      // In one part of one node a run of columns is another.
      const auto with_one_divided = [&](int b, int parts) {
        Plain plain = matrix_of_blocks(
            b, 60, [](auto& r) { return 5 + r() % 6; }, seed);
        const int of_part = b / parts;
        const std::int64_t first_row = b * std::int64_t(random() % 60);
        Index column = 0;
        while (plain.rows[first_row].contains(column)) column += b;
        for (int r = 0; r < of_part; ++r) {
          Row& row = plain.rows[first_row + r];
          for (int c = 0; c < of_part; ++c) row.erase(std::prev(row.end())), row[column + c] = 1;
        }
        return plain;
      };
      CHECK(form_of(with_one_divided(6, 2)) == nodes_of(120, 3));
      CHECK(form_of(with_one_divided(6, 3)) == nodes_of(180, 2));
      CHECK(form_of(with_one_divided(4, 2)) == nodes_of(120, 2));
      const Plain long_rows_of_six = matrix_of_blocks(
          6, 60, [](auto& r) { return 15 + r() % 10; }, seed);
      CHECK(form_of(long_rows_of_six) == nodes_of(120, 3));
    }
  });
}

TEST_CASE_TEMPLATE("a row in hundreds of pieces has the bits of spmv, wherever it stands", Real, double, float) {
  const unsigned seed = fresh_seed();
  constexpr Index ncols = 600'000;
  for (const Index nrows : {1, 3000})
    for (const Index place : {Index(0), nrows / 2, nrows - 1}) {
      CAPTURE(nrows);
      CAPTURE(place);
      Csr<Real, std::int32_t> A{nrows, ncols, Array<std::int32_t>(nrows + std::int64_t(1)), {}, {}};
      A.row_ptr[0] = 0;
      for (Index i = 0; i < nrows; ++i) A.row_ptr[i + 1] = A.row_ptr[i] + (i == place ? ncols - 7 : i % 5 ? 0 : 2100);
      A.col_idx = Array<Index>(A.row_ptr[nrows]);
      A.values = Array<Real>(random_values<Real>(A.row_ptr[nrows], seed));
      for (Index i = 0; i < nrows; ++i)
        for (std::int32_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) A.col_idx[k] = k - A.row_ptr[i];
      on_every_backend([&](auto on) { check_vectors(on, A, seed); });
    }
}

TEST_CASE_TEMPLATE("long rows that the warps of a block add together have the bits of spmv", Real, double, float) {
  const unsigned seed = fresh_seed();
  on_every_backend([&](auto on) {
    if constexpr (!HostBackend<decltype(on)>) {
      std::mt19937_64 random(seed);
      constexpr Index ncols = 5000;
      // Rows that are just cut, whose last piece is an entry or two, beside rows that are just listed; up to where tiles are taken.
      constexpr std::int64_t of_rows[] = {2049, 2050, 4097, 2048, 257, 257, 258, 256};
      const std::int64_t largest = 3000 * std::int64_t(on.multiprocessors()) * 8;
      for (const std::int64_t entries : {largest / 50, largest / 5, largest, largest + largest / 4})
        for (const bool has_short_rows : {false, true}) {
          CAPTURE(entries);
          std::vector<std::int32_t> row_ptr{0};
          while (row_ptr.back() < entries)
            row_ptr.push_back(std::int32_t(row_ptr.back() +
                                           (has_short_rows && random() % 4 ? random() % 70 : of_rows[random() % 8])));
          Csr<Real, std::int32_t> A{Index(row_ptr.size() - 1), ncols, Array<std::int32_t>(row_ptr), {}, {}};
          A.col_idx = Array<Index>(std::int64_t(row_ptr.back()));
          A.values = Array<Real>(random_values<Real>(row_ptr.back(), seed));
          for (Index i = 0; i < A.nrows; ++i)
            for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) A.col_idx[k] = k - row_ptr[i] + i % 500;
          check_vectors(on, A, seed);
        }
      const auto form_of = [&](std::int64_t nrows, std::int64_t length) {
        const auto A = copied_to<Device>(
            on, csr_of<Real>(rows_of_lengths(std::vector<std::int64_t>(nrows, length), 3000, seed)).view());
        return Product(on, A.view()).describe();
      };
      CHECK(form_of(500, 100).ends_with("in equal shares"));
      CHECK(form_of(500, 60) == "CSR, in equal shares");
      CHECK(form_of(500, 20) == "CSR");
    }
  });
}

TEST_CASE("a lattice is seen in the columns of an inner row") {
  const auto seen = [](std::vector<Index> offsets, Index nrows) {
    const auto [line, lines] = product_detail::lattice_of(offsets, nrows);
    return std::pair(line, lines);
  };
  using Lines = std::pair<Index, Index>;
  const auto box = [](Index line, Index plane) {  // 27 neighbours
    std::vector<Index> offsets;
    for (Index z = -1; z <= 1; ++z)
      for (Index y = -1; y <= 1; ++y)
        for (Index x = -1; x <= 1; ++x) offsets.push_back(x + y * line + z * plane);
    return offsets;
  };
  CHECK(seen({-600, -20, -1, 0, 1, 20, 600}, 6000) == Lines(20, 30));
  CHECK(seen(box(20, 600), 6000) == Lines(20, 30));
  CHECK(seen({-20, -1, 0, 1, 20}, 401) == Lines(20, 21));
  CHECK(seen({-20, -1, 20}, 401) == Lines(20, 21));
  for (const auto& none : {std::vector<Index>{}, {-1, 0, 1}, {0, 2, 4}, {-3, -2, -1}, {0, 500}})
    CHECK(seen(none, 400) == Lines(400, 1));
}

TEST_CASE("a prepared product refuses vectors that do not fit") {
  const auto A = csr_of<double>(rows_of_lengths({1, 2}, 3, 1));
  const Product product(OpenMP{1}, A.view());
  Array<double> two(2, 0.0), three(3, 0.0);
  const auto in = [](const Array<double>& x) { return x.span(); };
  CHECK_THROWS_AS(product.apply(in(two), two.span()), ShapeError);
  CHECK_THROWS_AS(product.apply(in(three), three.span()), ShapeError);
  CHECK_THROWS_AS(product.residual(in(three), in(three), two.span()), ShapeError);
}

namespace {

/// Three entries per row around the diagonal: of three kinds, or each with a value of its own.
template <class Real>
Csr<Real, std::int64_t> line(std::int64_t n, bool of_kinds) {
  std::vector<std::int64_t> row_ptr{0};
  std::vector<Index> col_idx;
  std::vector<Real> values;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j < std::min(i + 2, n); ++j) {
      values.push_back(of_kinds ? Real(j - i) - Real(0.3) : Real(values.size() % 1009) / 7);
      col_idx.push_back(Index(j));
    }
    row_ptr.push_back(std::int64_t(values.size()));
  }
  return {Index(n), Index(n), Array<std::int64_t>(row_ptr), Array<Index>(col_idx), Array<Real>(values)};
}

}  // namespace

TEST_CASE_TEMPLATE("a product together with x'y has the bits of both, whatever its form", Real, double, float) {
  for (const std::int64_t n : {1, 2, 33, 64, 65, 2047, 2048, 2049, 5000, 16384, 16385, 70001, 70003, 1300001}) {
    CAPTURE(n);
    for (const bool of_kinds : {true, false}) {
      const auto A =
          n == 70003 && of_kinds ? csr_of<Real, std::int64_t>(rows_of_long_kinds(n, 1)) : line<Real>(n, of_kinds);
      const auto values = random_values<Real>(n, unsigned(n));
      on_every_backend([&](auto on) {
        using B = decltype(on);
        const auto there = copied_to<SpaceOf<B>>(on, A.view());
        const Product product(on, there.view());
        CHECK((product.has_kinds() || !of_kinds || n < 33));  // with a few rows kinds would be more bytes than CSR
        const Vector<Real, B> x(on, moved_to(on, values));
        Vector<Real, B> y(on, moved_to(on, poisoned<Real>(n))), expected(on, n);
        product.apply(x.span(), expected.span());
        const Real sum = brought(x, [&](Real* to) { product.apply_dot(x.span(), y.span(), to); });
        CHECK(sum == dot(x, expected));
        const auto values_of = [&](const Vector<Real, B>& v) {
          return moved_back(OpenMP{1}, copied_to<Host>(on, v.span()));
        };
        CHECK(differing(values_of(y), values_of(expected)) == 0);
        Vector<Real, B> longer(on, n + 1);
        Real unused;
        CHECK_THROWS_AS(product.apply_dot(x.span(), longer.span(), &unused), ShapeError);
      });
    }
  }
}
