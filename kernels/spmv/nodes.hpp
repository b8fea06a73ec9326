// A CSR matrix of full blocks of 3 x 3, as displacements in space give: a GPU reads one column per nine entries.
#pragma once
#include <optional>

#include <seidel/formats/csr.hpp>

namespace seidel::spmv_detail {

/// The columns of the blocks of A; its values stay where they are. The rows 3 i, 3 i + 1 and 3 i + 2 of a node have the same
/// columns, which come by threes 3 j, 3 j + 1, 3 j + 2.
struct Nodes {
  static constexpr int rows = 3;  // per node

  Array<Index, Device> columns;  // j of each block, node after node: as many as A has entries / 9
  Index longest = 0;             // entries of the longest row

  std::int64_t bytes() const { return columns.size() * std::int64_t(sizeof(Index)); }
  static bool may_be(std::int64_t nrows, std::int64_t nnz) { return nrows % rows == 0 && nnz % (rows * rows) == 0; }
  static std::int64_t max_bytes(std::int64_t nrows, std::int64_t nnz) {
    return may_be(nrows, nnz) ? nnz / (rows * rows) * std::int64_t(sizeof(Index)) : 0;
  }
};

/// The nodes of A, or none if not all of A are full blocks, or a row has more than 2048 entries.
/// Cost    reads the pattern once, up to the first rows that show otherwise; waits.
template <class Real, class Offset>
std::optional<Nodes> find_nodes(const Cuda& on, const CsrView<Real, Offset, Device>& A);

/// store(row, sum of the row's products with x) for each row. Allocates nothing; waits for nothing.
template <class Real, class Offset, class Store>
[[gnu::used]] void nodes_product(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Nodes& nodes,
                                 const Real* x, const Store& store);

}  // namespace seidel::spmv_detail
