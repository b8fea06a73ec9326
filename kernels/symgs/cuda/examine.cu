// Analysis, first step: where each row's diagonal is, which rows have one pattern, and what the pattern is like.
#include <seidel/kernels/symgs/cuda/analysis.cuh>
#include <seidel/kernels/symgs/cuda/device.cuh>

namespace seidel::symgs_detail::device {

namespace {

template <class Offset>
__device__ bool same_pattern(const Pattern<Offset>& A, Index i, Index j) {
  const Offset a = A.row_ptr[i], b = A.row_ptr[j], length = A.row_ptr[i + 1] - a;
  if (A.row_ptr[j + 1] - b != length) return false;
  for (Offset k = 0; k < length; ++k)
    if (A.col_idx[a + k] != A.col_idx[b + k]) return false;
  return true;
}

template <class Offset>
__device__ bool has_entry(const Pattern<Offset>& A, Index row, Index column) {
  const Offset at = A.lower_bound(row, column);
  return at < A.row_ptr[row + 1] && A.col_idx[at] == column;
}

template <class Offset>
__global__ void examine(Pattern<Offset> A, Index* lower, Findings* found) {
  const Index i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= A.nrows) return;
  const Offset first = A.row_ptr[i], last = A.row_ptr[i + 1], diagonal = A.lower_bound(i, i);
  if (diagonal == last || A.col_idx[diagonal] != i) {
    atomicMin(&found->bad_row, i);
    lower[i] = 0;
    return;
  }
  const Index left = Index(diagonal - first), right = Index(last - diagonal - 1), longest = left > right ? left : right;
  lower[i] = left;
  if (i % examined_every == 1) {
    for (Offset k = diagonal + 1; k < last; ++k)
      if (!has_entry(A, A.col_idx[k], i)) found->lopsided = 1;
  }
  if (longest > peek(&found->longest_part)) atomicMax(&found->longest_part, longest);
  const unsigned alive = *(volatile unsigned*)&found->nodes;
  unsigned broken = 0;  // node sizes of which row i is no first row
  for (int s = 2; s <= largest_node; ++s)
    if (i % s != 0) broken |= 1u << s;
  if ((alive & broken) && !same_pattern(A, i, i - 1)) atomicAnd(&found->nodes, ~broken);
}

}  // namespace

template <class Offset>
Array<Index, Device> lower_lengths(const Cuda& on, const Pattern<Offset>& A, Findings* findings) {
  Array<Index, Device> lower(on, A.nrows);
  launch_over(on, A.nrows, examine<Offset>, "looking for diagonals", A, lower.data(), findings);
  return lower;
}

template Array<Index, Device> lower_lengths(const Cuda&, const Pattern<std::int32_t>&, Findings*);
template Array<Index, Device> lower_lengths(const Cuda&, const Pattern<std::int64_t>&, Findings*);

}  // namespace seidel::symgs_detail::device
