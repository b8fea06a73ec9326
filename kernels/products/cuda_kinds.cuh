// The product by kinds of rows on a GPU, for whatever is done with the sum of a row.
#pragma once
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/kernels/products/row_kinds.hpp>

namespace seidel::product_detail {

// Measured on an H200; docs/notes/products.md has the tables.
inline constexpr int product_threads = 256, rows_per_thread = 6, batch = 7;

/// The kinds of a matrix in shared memory.
template <class Real>
struct SharedKinds {
  const KindEntry<Real>* entry;
  const Index* start;  // of each kind in `entry`

  __device__ SharedKinds(double2* shared, Index kinds, Index entry_count, const Index* first,
                         const KindEntry<Real>* entries) {
    KindEntry<Real>* const to = reinterpret_cast<KindEntry<Real>*>(shared);
    Index* const starts = reinterpret_cast<Index*>(to + entry_count);
    for (Index i = threadIdx.x; i < entry_count; i += product_threads) to[i] = entries[i];
    for (Index i = threadIdx.x; i <= kinds; i += product_threads) starts[i] = first[i];
    __syncthreads();
    entry = to;
    start = starts;
  }
  static std::int64_t bytes(const RowKinds<Real>& A) {
    return A.entry_count * std::int64_t(sizeof(KindEntry<Real>)) + (A.kinds + 1) * std::int64_t(sizeof(Index));
  }

  /// So many rows per thread from `begin` on, as far as there are such, by a block.
  template <int rows_per_thread>
  __device__ void product(std::int64_t begin, Index nrows, const std::uint8_t* kind, const Real* x,
                          const auto& store) const {
    int mine[rows_per_thread];
#pragma unroll
    for (int u = 0; u < rows_per_thread; ++u) {
      const std::int64_t row = begin + u * product_threads + threadIdx.x;
      mine[u] = row < nrows ? __ldcs(kind + row) : -1;
    }
#pragma unroll
    for (int u = 0; u < rows_per_thread; ++u) {
      if (mine[u] < 0) break;
      const Index row = Index(begin) + u * product_threads + Index(threadIdx.x);
      Real s = 0;
      const int last = start[mine[u] + 1];
#pragma unroll 1
      for (int k = start[mine[u]]; k < last; k += batch) {
        Real factors[batch];
#pragma unroll
        for (int j = 0; j < batch; ++j)
          if (k + j < last) factors[j] = __ldg(x + (row + entry[k + j].offset));
#pragma unroll
        for (int j = 0; j < batch; ++j)
          if (k + j < last) s = std::fma(entry[k + j].value, factors[j], s);
      }
      store(row, s);
    }
  }
};

/// A block computes a few rows per thread and makes room for the next one: multiprocessors do not read and write equally fast, so
/// shares that are dealt out beforehand would wait for the slowest. Neighbours in the next line of a lattice are in the first cache.
template <class Real, class Store>
__global__ void __launch_bounds__(product_threads)
    product_of_kinds(Index nrows, Index kinds, Index entry_count, const std::uint8_t* kind, const Index* first,
                     const KindEntry<Real>* entries, const Real* x, const __grid_constant__ Store store) {
  extern __shared__ double2 shared[];
  const SharedKinds<Real> A(shared, kinds, entry_count, first, entries);
  A.template product<rows_per_thread>(std::int64_t(blockIdx.x) * product_threads * rows_per_thread, nrows, kind, x,
                                      store);
}

/// store(row, sum of the row's products with x) for each row.
template <class Real, class Store>
void launch_kinds(const Cuda& on, const RowKinds<Real>& A, const Real* x, const Store& store) {
  const unsigned blocks = blocks_for(A.nrows, product_threads * rows_per_thread);
  product_of_kinds<<<blocks, product_threads, SharedKinds<Real>::bytes(A), on.stream()>>>(
      A.nrows, A.kinds, A.entry_count, A.kind.data(), A.first.data(), A.entries.data(), x, store);
  check_launch("a product by kinds of rows");
}

}  // namespace seidel::product_detail
