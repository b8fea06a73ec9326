// Rows of the product, put into classes by what they cost: each class has a kernel of its own.
#pragma once
#include <algorithm>
#include <limits>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/formats/runtime/search.hpp>

namespace seidel::spgemm_detail {

using cuda::warp_size;
using cuda::whole_warp;

/// A matrix without its values.
template <class Offset>
struct Pattern {
  Index nrows, ncols;
  const Offset* row_ptr;
  const Index* col_idx;

  template <class Real>
  explicit Pattern(const CsrView<Real, Offset, Device>& A)
      : nrows(A.nrows), ncols(A.ncols), row_ptr(A.row_ptr.data()), col_idx(A.col_idx.data()) {}
};

/// The rows of a class: those of a list, or 0 ... size - 1 where there is none.
struct RowList {
  const Index* rows;
  std::int64_t size;
  __device__ Index operator[](std::int64_t at) const { return rows ? rows[at] : Index(at); }
};

inline constexpr int max_classes = 12;
/// What the host learns of a sorting into classes.
struct Census {
  unsigned long long amount;  // the sum of what was asked for
  unsigned long long rows[max_classes];
};

struct Looked {
  int row_class;
  std::int64_t amount;
};
/// Counts the rows of each class, and adds up their amounts. look(row) says both.
template <class Look>
__global__ void __launch_bounds__(256) take_census(std::int64_t nrows, Look look, Census* census) {
  __shared__ unsigned rows[max_classes];
  __shared__ unsigned long long amount;
  if (threadIdx.x < max_classes) rows[threadIdx.x] = 0;
  if (threadIdx.x == 0) amount = 0;
  __syncthreads();
  const std::int64_t row = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const Looked mine = row < nrows ? look(row) : Looked{-1, 0};
  unsigned long long sum = mine.amount;
  for (int by = warp_size / 2; by; by /= 2) sum += __shfl_xor_sync(whole_warp, sum, by);
  if (threadIdx.x % warp_size == 0 && sum) atomicAdd(&amount, sum);
  for (int c = 0; c < max_classes; ++c) {
    const unsigned who = __ballot_sync(whole_warp, mine.row_class == c);
    if (threadIdx.x % warp_size == 0 && who) atomicAdd(&rows[c], __popc(who));
  }
  __syncthreads();
  if (threadIdx.x < max_classes && rows[threadIdx.x])
    atomicAdd(&census->rows[threadIdx.x], (unsigned long long)rows[threadIdx.x]);
  if (threadIdx.x == 0 && amount) atomicAdd(&census->amount, amount);
}

/// The rows of each class in a list of its own: list + next[c], which is where class c begins. Nearly in order, so that
/// neighbours stay together; which of them comes first changes no result.
template <class ClassOf>
__global__ void __launch_bounds__(256)
    list_classes(std::int64_t nrows, ClassOf class_of, unsigned long long* next, Index* list) {
  __shared__ unsigned taken[max_classes];
  __shared__ unsigned long long begin[max_classes];
  if (threadIdx.x < max_classes) taken[threadIdx.x] = 0;
  __syncthreads();
  const std::int64_t row = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const int mine = row < nrows ? class_of(row) : -1, lane = threadIdx.x % warp_size;
  unsigned place = 0;
  for (int c = 0; c < max_classes; ++c) {
    const unsigned who = __ballot_sync(whole_warp, mine == c);
    if (!who) continue;
    unsigned first = lane == 0 ? atomicAdd(&taken[c], __popc(who)) : 0;
    first = __shfl_sync(whole_warp, first, 0);
    if (mine == c) place = first + __popc(who & ((1u << lane) - 1));
  }
  __syncthreads();
  if (threadIdx.x < max_classes && taken[threadIdx.x])
    begin[threadIdx.x] = atomicAdd(&next[threadIdx.x], (unsigned long long)taken[threadIdx.x]);
  __syncthreads();
  if (mine >= 0) list[begin[mine] + place] = Index(row);
}

/// The largest of the values of all lanes of a warp, which are the same in groups of `group` lanes.
template <int group>
__device__ int warp_max(int value) {
  for (int by = warp_size / 2; by >= group; by /= 2) value = max(value, __shfl_xor_sync(whole_warp, value, by));
  return value;
}

/// The first place of first ... last - 1 whose column is at least `column`, or last.
template <class Offset>
__device__ Offset first_at_least(const Index* col_idx, Offset first, Offset last, Index column) {
  return partition_point(first, last, [&](Offset k) { return col_idx[k] < column; });
}

}  // namespace seidel::spgemm_detail
