// A CSR matrix of full blocks of b x b, as several unknowns per node give: a GPU reads one column per b * b entries.
#pragma once
#include <algorithm>
#include <limits>
#include <optional>

#include <seidel/formats/csr.hpp>
#include <seidel/kernels/sum.hpp>

namespace seidel::spmv_detail {

/// The pattern of the blocks of A; its values stay where they are. The `rows` rows of a node have the same columns, which come in
/// runs rows * j, ..., rows * j + rows - 1.
struct Nodes {
  int rows = 0;                      // per node: 2, 3, 4 or 6
  Array<Index, Device> first_block;  // of each node, and their number: as many as A has rows / b, and one
  Array<Index, Device> columns;      // j of each block, node after node: as many as A has entries / (b * b)
  Index longest = 0;                 // entries of the longest row

  Index count() const { return Index(first_block.size() - 1); }
  std::int64_t bytes() const { return (first_block.size() + columns.size()) * std::int64_t(sizeof(Index)); }
  /// Long rows of 6 are faster as nodes of 3: a lane holds the sums of three rows and more of their entries.
  static bool may_be(int rows, std::int64_t nrows, std::int64_t nnz) {
    return nrows % rows == 0 && nnz % (rows * rows) == 0 && nnz / (rows * rows) <= std::numeric_limits<Index>::max() &&
           (rows <= 4 || nnz <= short_sum * nrows);
  }
  static std::int64_t max_bytes(std::int64_t nrows, std::int64_t nnz) {
    std::int64_t most = 0;
    for (const int rows : {2, 3})  // those of 4 and 6 hold less
      if (may_be(rows, nrows, nnz))
        most = std::max(most, (nrows / rows + 1 + nnz / (rows * rows)) * std::int64_t(sizeof(Index)));
    return most;
  }
};

/// The largest nodes of A, or none if not all of A are full blocks, or a row has more than 2048 entries.
/// Cost    reads the pattern once per size among 2, 3, 4 and 6 that fits, and one row per node; where a size does not fit, up to the
///         first rows that show it; waits once per size.
template <class Offset>
[[gnu::used]] std::optional<Nodes> find_nodes(const Cuda& on, Span<const Offset, Device> row_ptr,
                                              Span<const Index, Device> col_idx);

/// store(row, sum of the row's products with x) for each row, where `values` are those of A. Allocates nothing; waits for nothing.
template <class Real, class Store>
[[gnu::used]] void nodes_product(const Cuda& on, const Nodes& nodes, const Real* values, const Real* x,
                                 const Store& store);

}  // namespace seidel::spmv_detail
