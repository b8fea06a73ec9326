// BSR: full blocks there and back, gaps refused; products with the bits of CSR.
#include <seidel/formats/bsr.hpp>

#include <seidel/formats/convert.hpp>
#include <seidel/kernels/products/formats.hpp>
#include <seidel/kernels/spmm/spmm.hpp>

#include "../backends.hpp"
#include "../kernels/matrices.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

/// A matrix of full blocks: a row of blocks per element of `lengths`, with that many blocks.
Plain full_blocks(int block, const std::vector<Index>& lengths, Index columns_of_blocks, unsigned seed) {
  std::mt19937_64 random(seed);
  Plain plain{columns_of_blocks * block, {}};
  for (const Index length : lengths) {
    const Row blocks = random_row(random, columns_of_blocks, length);
    for (int r = 0; r < block; ++r) {
      Row row;
      for (const auto& [column, value] : blocks)
        for (int c = 0; c < block; ++c) row.emplace(column * block + c, random_value(random));
      plain.rows.push_back(std::move(row));
    }
  }
  return plain;
}

/// Calls check(AsBsr<block>{}) for each size of blocks.
template <class Check>
void with_every_block(const Check& check) {
  check(product_formats::AsBsr<2>{});
  check(product_formats::AsBsr<3>{});
  check(product_formats::AsBsr<4>{});
  check(product_formats::AsBsr<6>{});
}
template <int block>
constexpr int size_of(product_formats::AsBsr<block>) {
  return block;
}

/// Rows of no, few, 64 or about as many, and thousands of entries.
std::vector<Index> awkward_block_rows(int block) {
  std::vector<Index> lengths = {0, 1, 2, 0, 7};
  for (const Index entries : {63, 64, 65, 81, 2047, 2048, 2049, 5000})
    lengths.push_back(entries / block), lengths.push_back(entries / block + 1);
  lengths.push_back(0);
  return lengths;
}

}  // namespace

TEST_CASE("a matrix of full blocks becomes BSR and comes back the same") {
  const unsigned seed = fresh_seed();
  with_every_block([&](auto format) {
    constexpr int block = size_of(decltype(format){});
    CAPTURE(block);
    const auto A = csr_of<double, std::int64_t>(full_blocks(block, awkward_block_rows(block), 2600, seed));
    const auto small = as<float, std::int32_t>(A);
    on_every_backend([&](auto on) {
      poison(on);
      const auto there = moved_to(on, A.view());
      CHECK(first_gap<block>(on, there.view()) == -1);
      const auto B = to_bsr<block>(on, there.view());
      CHECK(bytes_of(B) == bsr_bytes<double>(A.nrows, A.nnz(), block));
      CHECK(B.col_idx.size() * block * block == A.nnz());
      CHECK(same_matrix(copied_to<Host>(on, to_csr<std::int64_t>(on, B.view()).view()), A));
      const auto narrow = moved_to(on, small.view());
      const auto back = to_csr<std::int32_t>(on, to_bsr<block>(on, narrow.view()).view());
      CHECK(same_matrix(copied_to<Host>(on, back.view()), small));
    });
  });
}

TEST_CASE("blocks with gaps and sizes that blocks do not divide are refused, naming the rows") {
  const Plain full = full_blocks(3, {2, 0, 4, 1}, 9, 1);
  Plain with_gap = full, shifted = full;
  with_gap.rows[7].erase(std::next(with_gap.rows[7].begin(), 5));
  for (int r = 6; r < 9; ++r) {  // every row of three entries in a row, but one column further right
    Row& row = shifted.rows[r];
    row.clear();
    for (Index c : {1, 2, 3}) row.emplace(c, 1.0);
  }
  on_every_backend([&](auto on) {
    using Space = SpaceOf<decltype(on)>;
    const auto of = [&](const Plain& plain) { return copied_to<Space>(on, csr_of<double>(plain).view()); };
    for (const Plain& wrong : {with_gap, shifted})
      CHECK(refusal<ResourceError>([&] { to_bsr<3>(on, of(wrong).view()); }) ==
            "to_bsr: found a block with gaps in rows 7 to 9, expected full blocks of 3 x 3\n  keep CSR, or store the "
            "zeros "
            "of each block");
    CHECK(refusal<ResourceError>([&] { to_bsr<4>(on, of(full).view()); }) ==
          "to_bsr: found 12 x 27 entries, expected multiples of 4\n  keep CSR, or store the zeros of each block");
    CHECK(refusal<ResourceError>([&] { to_bsr<2>(on, of(poisson(4, 4)).view()); }).find("rows 1 to 2,") !=
          std::string::npos);
    const auto empty = csr_of<double>(Plain{0, {}});
    CHECK(to_bsr<6>(on, moved_to(on, empty.view()).view()).values.empty());
  });
}

TEST_CASE_TEMPLATE("products of blocks have the bits of CSR", Real, double, float) {
  const unsigned seed = fresh_seed();
  with_every_block([&](auto format) {
    using Format = decltype(format);
    constexpr int block = size_of(Format{});
    CAPTURE(block);
    const auto A = csr_of<Real>(full_blocks(block, awkward_block_rows(block), 2600, seed));
    auto x = random_values<Real>(A.ncols, seed);
    x[5] = std::numeric_limits<Real>::infinity();  // reaches the rows that hold column 5, as in CSR
    const auto b = random_values<Real>(A.nrows, seed + 1);
    Array<Real> y(A.nrows), r(A.nrows);
    spmv(OpenMP{1}, A.view(), Array<Real>(x), y);
    residual(OpenMP{1}, A.view(), Array<Real>(x), Array<Real>(b), r);
    const auto differ = [](const std::vector<Real>& found, const Array<Real>& expected) {
      std::int64_t count = 0;
      for (std::int64_t i = 0; i < expected.size(); ++i)
        count += !(found[i] == expected[i] || (found[i] != found[i] && expected[i] != expected[i]));
      return count;
    };
    on_every_backend([&](auto on) {
      using B = decltype(on);
      const auto made = Format::made(on, moved_to(on, A.view()).view());
      const auto x_on = moved_to(on, x), b_on = moved_to(on, b);
      auto y_on = moved_to(on, poisoned<Real>(A.nrows)), r_on = moved_to(on, poisoned<Real>(A.nrows));
      spmv<B>(on, made.view(), x_on, y_on);
      residual<B>(on, made.view(), x_on, b_on, r_on);
      on.synchronize();
      CHECK(differ(moved_back(on, y_on), y) == 0);
      CHECK(differ(moved_back(on, r_on), r) == 0);
    });
  });
}
