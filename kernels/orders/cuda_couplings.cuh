// Whom each row waits for where an analysis goes through the rows in natural order: those before it that A or A'
// couples it to. And what a warp takes there.
#pragma once
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/search.hpp>

namespace seidel::orders_detail {

/// A's pattern, in device memory.
template <class Offset>
struct Pattern {
  Index nrows;
  const Offset* row_ptr;
  const Index* col_idx;

  /// A row's first entry whose column is not below `column`, or its end.
  __device__ Offset lower_bound(Index row, Index column) const {
    return partition_point(row_ptr[row], row_ptr[row + 1], [&](Offset k) { return __ldg(col_idx + k) < column; });
  }
};

/// What each node is coupled to: the entries of its first row in A and, where these do not tell all, a list of the
/// nodes whose upper entries lead to it.
template <class Offset>
struct Couplings {
  Pattern<Offset> A;
  const Index* lower = nullptr;  // entries left of the diagonal, for those who ask
  int node = 1;
  const std::int64_t* list_end = nullptr;  // null: no lists; list j ends here and begins where the one before it ends
  const Index* lists = nullptr;

  __device__ std::int64_t list_begin(std::int64_t j) const { return list_end && j ? list_end[j - 1] : 0; }
  __device__ std::int64_t list_length(std::int64_t j) const { return list_end ? list_end[j] - list_begin(j) : 0; }
};

/// Counts the upper entries that lead to each node (lists null), or lists where they come from; `end` moves on by each.
template <class Offset>
__global__ void list_upper_entries(Couplings<Offset> C, Index nodes, std::int64_t* end, Index* lists) {
  const Index j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= nodes) return;
  const Index row = j * C.node;
  for (Offset k = C.A.lower_bound(row, row + C.node); k < C.A.row_ptr[row + 1]; ++k) {
    const auto at = atomicAdd(reinterpret_cast<unsigned long long*>(end + C.A.col_idx[k] / C.node), 1ull);
    if (lists) lists[at] = j;
  }
}

struct Lists {
  Array<std::int64_t, Device> end;
  Array<Index, Device> lists;
};
/// Gives the couplings their lists, whose memory is returned.
template <class Offset>
Lists transpose_upper(const Cuda& on, Couplings<Offset>& C) {
  const Index nodes = C.A.nrows / C.node;
  Lists found{Array<std::int64_t, Device>(on, std::int64_t(nodes) + 1), {}};
  std::int64_t* const end = found.end.data();
  cuda::set_bytes(on, found.end.span(), 0);
  cuda::launch_over(on, nodes, list_upper_entries<Offset>, "counting upper entries", C, nodes, end, nullptr);
  cuda::exclusive_sum(on, found.end.span());
  found.lists = Array<Index, Device>(on, value_of(on, end + nodes));
  cuda::launch_over(on, nodes, list_upper_entries<Offset>, "listing upper entries", C, nodes, end, found.lists.data());
  C.list_end = end;
  C.lists = found.lists.data();
  return found;
}

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
