// What a warp takes where an analysis goes through the nodes in natural order and each waits for those before it.
#pragma once
#include <seidel/kernels/orders/cuda_couplings.cuh>

namespace seidel::orders_detail {

/// A chain is a range of nodes each of which is coupled to the one before it: a line of a lattice. A warp takes at most
/// max_piece nodes, all of one chain. If it had the end of one and the beginning of the next, the next would wait for
/// that end, and all lines of a lattice would be one chain.
inline constexpr int max_piece = 128;

/// Where the pieces of all chains begin, and the number of nodes. Waits once.
template <class Offset>
Array<Index, Device> find_pieces(const Cuda& on, const Couplings<Offset>& C, std::int64_t nodes) {
  Array<Index, Device> start(on, nodes);  // of the chain that each node is in
  cuda::for_each(on, nodes, "finding chains", [C, p = start.data()] __device__(std::int64_t j) {
    const Index row = Index(j) * C.node;
    const Offset diagonal = C.lower ? C.A.row_ptr[row] + C.lower[row] : C.A.lower_bound(row, row);
    const bool coupled = diagonal > C.A.row_ptr[row] && C.A.col_idx[diagonal - 1] / C.node == j - 1;
    p[j] = coupled ? 0 : Index(j);
  });
  cuda::inclusive_max(on, start.span());
  const auto begins = [p = start.data()] __device__(std::int64_t j) { return (j - p[j]) % max_piece == 0; };
  Array<Index, Device> number(on, nodes + 1);
  cuda::for_each(on, nodes + 1, "counting pieces of chains",
                 [=, p = number.data()] __device__(std::int64_t j) { p[j] = j < nodes && begins(j); });
  cuda::exclusive_sum(on, number.span());
  Array<Index, Device> pieces(on, value_of(on, number.data() + nodes) + 1);
  cuda::for_each(on, nodes + 1, "cutting chains", [=, n = number.data(), p = pieces.data()] __device__(std::int64_t j) {
    if (j == nodes || begins(j)) p[n[j]] = Index(j);
  });
  return pieces;
}

}  // namespace seidel::orders_detail
