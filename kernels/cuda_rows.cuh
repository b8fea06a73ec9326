// For each row of a sparse matrix: store(row, sum of its terms), in the one order. What spmv, spmm and the certificate
// share.
//
// `Rows` has size(), the number of rows, and operator()(p): the row in place p, a Row{terms, length, number}. Its terms
// have
//   entry(k)          value and column of entry k            \  three steps, so that a thread has the loads
//   factor(entry)     what the value is multiplied with        > of a whole batch under way before it
//   add(entry, f, s)  s + value * f, fused                   /  uses the first
#pragma once
#include <seidel/formats/bsr.hpp>
#include <seidel/formats/csr.hpp>
#include <seidel/formats/ell.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/sell.hpp>
#include <seidel/kernels/cuda_sum.cuh>

namespace seidel::cuda {

inline constexpr int row_threads = 256;
inline constexpr std::int64_t huge_row = 65536;  // terms from which a row gets a block instead of a warp

template <class Terms, class Number = Index>
struct Row {
  Terms terms;
  std::int64_t length;
  Number number;
};

template <class Real>
struct Entry {
  Real value;
  Index column;
};

/// Entries `stride` apart (a std::integral_constant where it is known) times elements of x.
/// Streamed: the entries of neighbouring threads are neighbours in memory, so each sector is read once, past the
/// caches.
template <class Real, class Stride, bool streamed>
struct RowTerms {
  static constexpr bool neighbours_are_streamed = streamed;
  const Index* col_idx;
  const Real* values;
  const Real* x;
  Stride stride;

  __device__ Entry<Real> entry(std::int64_t k) const {
    const std::int64_t at = k * stride;
    if constexpr (streamed)
      return {__ldcs(values + at), __ldcs(col_idx + at)};
    else
      return {__ldg(values + at), __ldg(col_idx + at)};
  }
  __device__ Real factor(Entry<Real> e) const { return __ldg(x + e.column); }
  __device__ static Real add(Entry<Real> e, Real factor, Real s) { return std::fma(e.value, factor, s); }
};

/// At most 64 terms on one thread, from left to right.
template <class Sum, int batch = 8, class Terms>
__device__ Sum thread_sum(const Terms& terms, int length) {
  Sum s{};
  for (int k = 0; k < length; k += batch) {
    decltype(terms.entry(0)) entries[batch];
    decltype(terms.factor(entries[0])) factors[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (k + j < length) entries[j] = terms.entry(k + j);
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (k + j < length) factors[j] = terms.factor(entries[j]);
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (k + j < length) s = terms.add(entries[j], factors[j], s);
  }
  return s;
}

/// Term k added to a sum, as the sums of long rows want it.
template <class Sum, class Terms>
struct Adder {
  Terms terms;
  __device__ Sum operator()(std::int64_t k, Sum s) const {
    const auto entry = terms.entry(k);
    return terms.add(entry, terms.factor(entry), s);
  }
};
template <class Sum, class Terms>
__device__ Adder<Sum, Terms> adder(const Terms& terms) {
  return {terms};
}

/// Of one block of n terms, the lanes lane, lane + width, lane + 2 width, ... in their tree; lane 0 and width 1 are all.
template <class Sum, int width, class Terms>
__device__ Sum tree_of_lanes(const Terms& terms, int lane, int n) {
  if constexpr (width < sum_lanes) {
    const Sum s = tree_of_lanes<Sum, 2 * width>(terms, lane, n);
    return s + tree_of_lanes<Sum, 2 * width>(terms, lane + width, n);
  } else {
    constexpr int batch = 3;
    Sum s{};
    for (int k = lane; k < n; k += batch * sum_lanes) {
      decltype(terms.entry(0)) entries[batch];
      decltype(terms.factor(entries[0])) factors[batch];
#pragma unroll
      for (int j = 0; j < batch; ++j)
        if (k + j * sum_lanes < n) entries[j] = terms.entry(k + j * sum_lanes);
#pragma unroll
      for (int j = 0; j < batch; ++j)
        if (k + j * sum_lanes < n) factors[j] = terms.factor(entries[j]);
#pragma unroll
      for (int j = 0; j < batch; ++j)
        if (k + j * sum_lanes < n) s = terms.add(entries[j], factors[j], s);
    }
    return s;
  }
}

// Long rows are a call away, so that they cost short ones no registers.

/// More than 64 terms, at most a block of them, on one thread. For formats in which neighbouring threads read
/// neighbouring entries: there a warp that took one row would use 8 of each 256 bytes. elasticity3d:64 in SELL-32, one
/// warp per row: 2.01 ms.
template <class Sum, class Terms>
__device__ __noinline__ Sum thread_sum_of_block(const Terms& terms, int length) {
  return tree_of_lanes<Sum, 1>(terms, 0, length);
}

/// The rows first + l of a warp for each bit l of `left`, one after another.
template <class Sum, class Rows, class Store>
__device__ __noinline__ void sum_by_warp(const Rows& rows, const Store& store, std::int64_t first, unsigned left) {
  for (; left; left &= left - 1) {
    const auto row = rows(first + (__ffs(left) - 1));
    const Sum s = warp_sum_of_long<Sum>(row.length, adder<Sum>(row.terms));
    if (threadIdx.x % warp_size == 0) store(row.number, s);
  }
}

/// The rows first + t of a block for each thread t that says `huge`, one after another.
template <class Sum, class Rows, class Store>
__device__ __noinline__ void sum_by_block(const Rows& rows, const Store& store, std::int64_t first, bool huge) {
  constexpr int warps = row_threads / warp_size;
  __shared__ Sum sums[row_threads], shared[warp_size];
  __shared__ unsigned marked[warps];
  const unsigned mine = __ballot_sync(whole_warp, huge);
  if (threadIdx.x % warp_size == 0) marked[threadIdx.x / warp_size] = mine;
  __syncthreads();
  for (int w = 0; w < warps; ++w)
    for (unsigned left = marked[w]; left; left &= left - 1) {
      const auto row = rows(first + w * warp_size + (__ffs(left) - 1));
      const Sum s = block_sum_of_long<row_threads>(row.length, adder<Sum>(row.terms), sums, shared);
      if (threadIdx.x == 0) store(row.number, s);
    }
}

/// A thread takes a row; a row of more than 64 terms (2048 where neighbours are streamed) its warp; one of more than 65536
/// its block.
template <class Sum, class Rows, class Store>
__global__ void __launch_bounds__(row_threads)
    sum_rows(const __grid_constant__ Rows rows, const __grid_constant__ Store store) {
  const std::int64_t first = std::int64_t(blockIdx.x) * row_threads, p = first + threadIdx.x;
  std::int64_t length = 0;
  if (p < rows.size()) {
    const auto row = rows(p);
    length = row.length;
    if (length <= short_sum) {
      store(row.number, thread_sum<Sum>(row.terms, int(length)));
    } else if constexpr (requires { requires decltype(row.terms)::neighbours_are_streamed; }) {
      if (length <= sum_block) {
        store(row.number, thread_sum_of_block<Sum>(row.terms, int(length)));
        length = 0;  // done
      }
    }
  }
  const unsigned of_warp = __ballot_sync(whole_warp, length > short_sum && length <= huge_row);
  if (of_warp) sum_by_warp<Sum>(rows, store, p - threadIdx.x % warp_size, of_warp);
  const bool huge = length > huge_row;
  if (__syncthreads_or(huge)) sum_by_block<Sum>(rows, store, first, huge);
}

/// Launches sum_rows; nothing for no rows.
template <class Sum, class Rows, class Store>
void launch_rows(CUstream_st* stream, const Rows& rows, const Store& store, const char* what) {
  if (rows.size() == 0) return;
  sum_rows<Sum><<<blocks_for(rows.size(), row_threads), row_threads, 0, stream>>>(rows, store);
  check_launch(what);
}

/// Rows of A as the kernels take them.
template <class Matrix>
struct RowsOf;
template <class Matrix>
RowsOf<Matrix> rows_of(const Matrix& A, const typename Matrix::Real* x) {
  return {A, x};
}

template <class Real, class Offset>
struct RowsOf<CsrView<Real, Offset, Device>> {
  CsrView<Real, Offset, Device> A;
  const Real* x;

  SEIDEL_HD std::int64_t size() const { return A.nrows; }
  __device__ auto operator()(std::int64_t p) const {
    using One = std::integral_constant<int, 1>;
    const Offset first = __ldg(A.row_ptr.data() + p), last = __ldg(A.row_ptr.data() + p + 1);
    return Row<RowTerms<Real, One, false>>{
        {A.col_idx.data() + first, A.values.data() + first, x, {}}, std::int64_t(last - first), Index(p)};
  }
};

template <class Real>
struct RowsOf<EllView<Real, Device>> {
  EllView<Real, Device> A;
  const Real* x;

  SEIDEL_HD std::int64_t size() const { return A.nrows; }
  __device__ auto operator()(std::int64_t p) const {
    return Row<RowTerms<Real, std::int64_t, true>>{
        {A.col_idx.data() + p, A.values.data() + p, x, A.nrows}, __ldg(A.row_length.data() + p), Index(p)};
  }
};

/// `Height` is Index, or a std::integral_constant for the height that matters: no division, and the warp is the slice.
template <class Real, class Height>
struct SellRows {
  SellView<Real, Device> A;
  const Real* x;
  Height height;

  SEIDEL_HD std::int64_t size() const { return A.nrows; }
  __device__ auto operator()(std::int64_t p) const {
    const auto place = unsigned(p), c = unsigned(height);
    const std::int64_t at = __ldg(A.slice_ptr.data() + place / c) + place % c;
    return Row<RowTerms<Real, Height, true>>{{A.col_idx.data() + at, A.values.data() + at, x, height},
                                             __ldg(A.row_length.data() + p),
                                             A.permutation.empty() ? Index(p) : __ldg(A.permutation.data() + p)};
  }
};

/// Entries of a row of BSR: `block` of them share a column of blocks.
template <class Real, int block>
struct BlockTerms {
  const Index* col_idx;
  const Real* values;
  const Real* x;

  __device__ Entry<Real> entry(std::int64_t k) const {
    const auto place = unsigned(k);
    return {__ldg(values + k), __ldg(col_idx + place / block) * block + Index(place % block)};
  }
  __device__ Real factor(Entry<Real> e) const { return __ldg(x + e.column); }
  __device__ static Real add(Entry<Real> e, Real factor, Real s) { return std::fma(e.value, factor, s); }
};

template <class Real, int block>
struct RowsOf<BsrView<Real, block, Device>> {
  BsrView<Real, block, Device> A;
  const Real* x;

  SEIDEL_HD std::int64_t size() const { return A.nrows; }
  __device__ auto operator()(std::int64_t p) const {
    const unsigned I = unsigned(p) / block;
    const std::int64_t first = __ldg(A.row_ptr.data() + I), blocks = __ldg(A.row_ptr.data() + I + 1) - first;
    return Row<BlockTerms<Real, block>>{
        {A.col_idx.data() + first, A.values.data() + (first * block + (p - std::int64_t(I) * block) * blocks) * block,
         x},
        blocks * block,
        Index(p)};
  }
};

}  // namespace seidel::cuda
