// Kinds of rows: found by a hash of each row, proven entry by entry; products from shared memory.
#include <algorithm>
#include <vector>

#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/blas1/cuda_sums.cuh>
#include <seidel/kernels/blas1/elements.hpp>
#include <seidel/kernels/blas1/lanczos.hpp>
#include <seidel/kernels/products/row_kinds.hpp>

namespace seidel::product_detail {

using namespace seidel::cuda;

namespace {

using Hash = unsigned long long;
constexpr int table_size = 1024;
constexpr int product_threads = 256, rows_per_thread = 4, batch = 8;

/// What rows have been met so far.
struct Table {
  Hash hash[table_size];  // 0: free
  Index row[table_size];  // the first row with that hash
  Index kinds, unfit;     // how many there are; whether A cannot be told by kinds
};

__device__ Hash mixed(Hash h, Hash with) {  // as splitmix64 (Steele, Lea, Flood 2014)
  h = (h ^ with) + 0x9e3779b97f4a7c15ull;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  return h ^ (h >> 27);
}
template <class Real>
__device__ Hash bits(Real value) {
  if constexpr (sizeof(Real) == 8)
    return Hash(__double_as_longlong(value));
  else
    return Hash(__float_as_uint(value));
}

/// The place of a hash in the table, where it is put if it is new; -1 if A is unfit.
__device__ int place_of(Table& table, Hash hash) {
  for (int tries = 0, at = int(hash % table_size); tries < table_size; ++tries, at = (at + 1) % table_size) {
    Hash there = *const_cast<volatile Hash*>(table.hash + at);
    if (there == 0) {
      there = atomicCAS(table.hash + at, Hash(0), hash);
      if (there == 0) {
        if (atomicAdd(&table.kinds, 1) >= RowKinds<double>::max_kinds) break;
        return at;
      }
    }
    if (there == hash) return at;
    if (*const_cast<volatile Index*>(&table.unfit)) return -1;
  }
  table.unfit = 1;
  return -1;
}

template <class Real, class Offset>
void meet_rows(const Cuda& on, const CsrView<Real, Offset, Device>& A, Table* table, std::uint16_t* places) {
  for_each(on, A.nrows, "looking for kinds of rows", [=] __device__(std::int64_t row) {
    if (*const_cast<volatile Index*>(&table->unfit)) return;
    const Offset first = A.row_ptr[row], last = A.row_ptr[row + 1];
    if (last - first > short_sum) {
      table->unfit = 1;
      return;
    }
    Hash hash = Hash(last - first);
    for (Offset k = first; k < last; ++k)
      hash = mixed(mixed(hash, Hash(std::uint32_t(A.col_idx[k] - Index(row)))), bits(A.values[k]));
    const int at = place_of(*table, hash | 1);
    if (at < 0) return;
    places[row] = std::uint16_t(at);
    if (Index(row) < *const_cast<volatile Index*>(table->row + at)) atomicMin(table->row + at, Index(row));
  });
}

/// The entries of the first rows of all kinds, by one block.
template <class Real, class Offset>
__global__ void __launch_bounds__(256) copy_kinds(const CsrView<Real, Offset, Device> A, const Index* rows, Index kinds,
                                                  Table* table, Index* first, KindEntry<Real>* entries) {
  const int kind = threadIdx.x;
  if (kind == 0) {
    Index sum = 0;
    for (int k = 0; k < kinds; ++k) {
      first[k] = sum;
      sum += Index(A.row_ptr[rows[k] + 1] - A.row_ptr[rows[k]]);
    }
    first[kinds] = sum;
    if (sum > RowKinds<Real>::max_entries) table->unfit = 1;
  }
  __syncthreads();
  if (kind >= kinds || table->unfit) return;
  const Offset from = A.row_ptr[rows[kind]];
  for (Index k = first[kind]; k < first[kind + 1]; ++k) {
    const Offset at = from + (k - first[kind]);
    entries[k] = {A.values[at], A.col_idx[at] - rows[kind]};
  }
}

/// Gives each row its kind and proves it.
template <class Real, class Offset>
void prove_kinds(const Cuda& on, const CsrView<Real, Offset, Device>& A, const std::uint8_t* kind_of_place,
                 const std::uint16_t* places, Table* table, RowKinds<Real>& to) {
  for_each(
      on, A.nrows, "proving kinds of rows",
      [=, kinds = to.kind.data(), starts = to.first.data(), entries = to.entries.data()] __device__(std::int64_t row) {
        if (table->unfit) return;
        const std::uint8_t kind = kind_of_place[places[row]];
        kinds[row] = kind;
        const Offset first = A.row_ptr[row];
        const Index length = Index(A.row_ptr[row + 1] - first), start = starts[kind];
        bool same = length == starts[kind + 1] - start;
        for (Index k = 0; same && k < length; ++k)
          same = A.col_idx[first + k] - Index(row) == entries[start + k].offset &&
                 bits(A.values[first + k]) == bits(entries[start + k].value);
        if (!same) table->unfit = 1;
      });
}

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

  /// Rows begin ... begin + rows_per_block - 1, as far as there are such, by a block.
  template <class Store>
  __device__ void product(std::int64_t begin, Index nrows, const std::uint8_t* kind, const Real* x,
                          const Store& store) const {
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
constexpr int rows_per_block = product_threads * rows_per_thread;

/// Blocks take 1024 rows after 1024 rows: neighbours in the next line of a lattice are then found in the first cache.
template <class Real, class Store>
__global__ void __launch_bounds__(product_threads)
    product_of_kinds(Index nrows, Index kinds, Index entry_count, const std::uint8_t* kind, const Index* first,
                     const KindEntry<Real>* entries, const Real* x, const __grid_constant__ Store store) {
  extern __shared__ double2 shared[];
  const SharedKinds<Real> A(shared, kinds, entry_count, first, entries);
  for (std::int64_t begin = std::int64_t(blockIdx.x) * rows_per_block; begin < nrows;
       begin += std::int64_t(gridDim.x) * rows_per_block)
    A.product(begin, nrows, kind, x, store);
}

/// y = A x; partial[b]: block b's `subtree` blocks of terms of x'y. The terms of one are gathered in shared memory by all
/// threads, so that one warp can add them in the one order while other blocks compute theirs.
template <class Real>
__global__ void __launch_bounds__(product_threads)
    product_and_dot(Index nrows, Index kinds, Index entry_count, const std::uint8_t* kind, const Index* first,
                    const KindEntry<Real>* entries, const Real* x, Real* y, int subtree, Real* partial) {
  extern __shared__ double2 shared[];
  __shared__ Real products[sum_block];
  const SharedKinds<Real> A(shared, kinds, entry_count, first, entries);
  PairwiseTree<Real> tree;
  for (int block = 0; block < subtree; ++block) {
    const std::int64_t begin = (std::int64_t(blockIdx.x) * subtree + block) * sum_block;
    if (begin >= nrows) break;
    for (int part = 0; part < sum_block; part += rows_per_block)
      A.product(begin + part, nrows, kind, x, [&](Index row, Real s) {
        y[row] = s;
        products[row - begin] = s;
      });
    __syncthreads();
    if (threadIdx.x < warp_size) {
      const std::int64_t count = nrows - begin < sum_block ? nrows - begin : sum_block;
      const Real* const factors = x + begin;
      tree.push(warp_sum(
          lane_sum<Real>(0, count, [&](std::int64_t k, Real s) { return std::fma(factors[k], products[k], s); })));
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = tree.sum();
}

/// As the kind with the most entries suggests.
template <class Real>
Lattice lattice_of(const Cuda& on, const RowKinds<Real>& A) {
  const auto first = copied_to<Host>(on, A.first);
  const auto entries = copied_to<Host>(on, A.entries);
  Index kind = 0;
  for (Index k = 1; k < A.kinds; ++k)
    if (first[k + 1] - first[k] > first[kind + 1] - first[kind]) kind = k;
  std::vector<Index> offsets;
  for (Index k = first[kind]; k < first[kind + 1]; ++k) offsets.push_back(entries[k].offset);
  return product_detail::lattice_of(offsets, A.nrows);
}

}  // namespace

template <class Real, class Offset>
std::optional<RowKinds<Real>> find_row_kinds(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  if (A.nrows == 0) return {};
  Scratch scratch(on);
  Table* const table = scratch.take<Table>(1).data();
  std::uint16_t* const places = scratch.take<std::uint16_t>(A.nrows).data();
  for_each(on, table_size, "clearing a table", [=] __device__(std::int64_t i) {
    table->hash[i] = 0;
    table->row[i] = A.nrows;
    if (i == 0) table->kinds = table->unfit = 0;
  });
  meet_rows(on, A, table, places);
  const Table met = value_of(on, table);
  if (met.unfit) return {};

  // In the order of their first rows, whatever the order in which threads met them.
  std::vector<Index> rows;
  for (int i = 0; i < table_size; ++i)
    if (met.hash[i] != 0) rows.push_back(met.row[i]);
  std::ranges::sort(rows);
  std::vector<std::uint8_t> kind_of_place(table_size, 0);
  for (int i = 0; i < table_size; ++i)
    if (met.hash[i] != 0) kind_of_place[i] = std::uint8_t(std::ranges::lower_bound(rows, met.row[i]) - rows.begin());

  RowKinds<Real> found{.nrows = A.nrows,
                       .kinds = Index(rows.size()),
                       .kind = Array<std::uint8_t, Device>(on, A.nrows),
                       .first = Array<Index, Device>(on, std::int64_t(rows.size()) + 1),
                       .entries = Array<KindEntry<Real>, Device>(on, RowKinds<Real>::max_entries)};
  const Array<Index, Device> first_rows(on, rows);
  const Array<std::uint8_t, Device> kinds_of_places(on, kind_of_place);
  copy_kinds<<<1, 256, 0, on.stream()>>>(A, first_rows.data(), found.kinds, table, found.first.data(),
                                         found.entries.data());
  check_launch("copying kinds of rows");
  prove_kinds(on, A, kinds_of_places.data(), places, table, found);
  found.entry_count = value_of(on, found.first.data() + found.kinds);
  if (value_of(on, &table->unfit)) return {};
  found.lattice = lattice_of(on, found);
  return found;
}

constexpr int blocks_per_multiprocessor = 8, summing_blocks_per_multiprocessor = 4;

template <class Real, class Store>
void kinds_product(const Cuda& on, const RowKinds<Real>& A, const Real* x, const Store& store) {
  const unsigned blocks = std::min<unsigned>(blocks_for(A.nrows, rows_per_block),
                                             unsigned(blocks_per_multiprocessor * on.multiprocessors()));
  product_of_kinds<<<blocks, product_threads, SharedKinds<Real>::bytes(A), on.stream()>>>(
      A.nrows, A.kinds, A.entry_count, A.kind.data(), A.first.data(), A.entries.data(), x, store);
  check_launch("a product by kinds of rows");
}

template <class Real>
void kinds_product_dot(const Cuda& on, const RowKinds<Real>& A, const Real* x, Real* y, Real* sum) {
  if (A.nrows <= short_sum) {
    kinds_product(on, A, x, StoreProduct<Real>{y});
    return blas1::leave_sums(on, A.nrows, blas1::Dots<Real, 1>{{x}, {y}}, sum);
  }
  const std::int64_t blocks_of_terms = (A.nrows + std::int64_t(sum_block) - 1) / sum_block;
  int subtree = 1;
  while (blocks_of_terms > std::int64_t(subtree) * summing_blocks_per_multiprocessor * on.multiprocessors())
    subtree *= 2;
  const std::int64_t blocks = (blocks_of_terms + subtree - 1) / subtree;
  Scratch scratch(on);
  Real* const partial = scratch.take<Real>(blocks).data();
  product_and_dot<<<unsigned(blocks), product_threads, SharedKinds<Real>::bytes(A), on.stream()>>>(
      A.nrows, A.kinds, A.entry_count, A.kind.data(), A.first.data(), A.entries.data(), x, y, subtree, partial);
  check_launch("a product by kinds of rows with its sum");
  blas1::add_partials(on, 1, blocks, partial, sum);
}

/// Never called: names every product, so that its code is emitted here.
template <class Real>
void instances(const Cuda& on, const RowKinds<Real>& A, Real* x) {
  kinds_product(on, A, x, StoreProduct<Real>{x});
  kinds_product(on, A, x, StoreResidual<Real>{x, x});
  kinds_product_dot(on, A, x, x, x);
}
template void instances(const Cuda&, const RowKinds<double>&, double*);
template void instances(const Cuda&, const RowKinds<float>&, float*);
template std::optional<RowKinds<double>> find_row_kinds(const Cuda&, const CsrView<double, std::int32_t, Device>&);
template std::optional<RowKinds<double>> find_row_kinds(const Cuda&, const CsrView<double, std::int64_t, Device>&);
template std::optional<RowKinds<float>> find_row_kinds(const Cuda&, const CsrView<float, std::int32_t, Device>&);
template std::optional<RowKinds<float>> find_row_kinds(const Cuda&, const CsrView<float, std::int64_t, Device>&);

}  // namespace seidel::product_detail
