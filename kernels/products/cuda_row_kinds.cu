// Kinds of rows, and products by them from shared memory.
#include <algorithm>
#include <vector>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/properties/cuda_row_kinds.cuh>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/blas1/cuda_sums.cuh>
#include <seidel/kernels/blas1/elements.hpp>
#include <seidel/kernels/blas1/lanczos.hpp>
#include <seidel/kernels/products/cuda_kinds.cuh>

namespace seidel::product_detail {

using namespace seidel::cuda;
using properties_detail::KindsMet;

namespace {

struct Nothing {
  __device__ void row(Index, std::int64_t) const {}
  __device__ void entry(std::int64_t, Index) const {}
};

/// Each kind becomes number[kind], 16 at once.
void number_kinds(const Cuda& on, DeviceSpan<std::uint8_t> kind, const std::uint8_t* number) {
  struct alignas(16) Some {
    std::uint8_t kind[16];
  };
  constexpr std::int64_t at_once = sizeof(Some);
  for_each(on, kind.size() / at_once + 1, "numbering kinds of rows", [=] __device__(std::int64_t i) {
    if ((i + 1) * at_once <= kind.size()) {
      Some some = reinterpret_cast<const Some*>(kind.data())[i];
#pragma unroll
      for (std::uint8_t& one : some.kind) one = number[one];
      reinterpret_cast<Some*>(kind.data())[i] = some;
    } else {
      for (std::int64_t row = i * at_once; row < kind.size(); ++row) kind[row] = number[kind[row]];
    }
  });
}

/// The entries of a row of each kind, by one block; none if there are too many.
template <class Real, class Offset>
__global__ void __launch_bounds__(256) copy_kinds(const CsrView<Real, Offset, Device> A, const Index* rows, Index kinds,
                                                  Index* first, KindEntry<Real>* entries) {
  const int kind = threadIdx.x;
  if (kind == 0) {
    Index sum = 0;
    for (int k = 0; k < kinds; ++k) {
      first[k] = sum;
      sum += Index(A.row_ptr[rows[k] + 1] - A.row_ptr[rows[k]]);
    }
    first[kinds] = sum;
  }
  __syncthreads();
  if (kind >= kinds || first[kinds] > RowKinds<Real>::max_entries) return;
  const Offset from = A.row_ptr[rows[kind]];
  for (Index k = first[kind]; k < first[kind + 1]; ++k) {
    const Offset at = from + (k - first[kind]);
    entries[k] = {A.values[at], A.col_idx[at] - rows[kind]};
  }
}

/// y = A x; partial[b]: block b of the terms of x'y, which are gathered in shared memory by all threads, so that one warp can add
/// them in the one order while other blocks compute theirs.
template <class Real>
__global__ void __launch_bounds__(product_threads)
    product_and_dot(Index nrows, Index kinds, Index entry_count, const std::uint8_t* kind, const Index* first,
                    const KindEntry<Real>* entries, const Real* x, Real* y, Real* partial) {
  constexpr int kinds_bytes =
      RowKinds<Real>::max_entries * int(sizeof(KindEntry<Real>)) + (RowKinds<Real>::max_kinds + 1) * int(sizeof(Index));
  static_assert(kinds_bytes + sum_block * int(sizeof(Real)) <= 48 << 10, "what every GPU gives without being asked");
  extern __shared__ double2 shared[];
  __shared__ Real products[sum_block];
  const SharedKinds<Real> A(shared, kinds, entry_count, first, entries);
  const std::int64_t begin = std::int64_t(blockIdx.x) * sum_block;
  A.template product<sum_block / product_threads>(begin, nrows, kind, x, [&](Index row, Real s) {
    y[row] = s;
    products[row - begin] = s;
  });
  __syncthreads();
  if (threadIdx.x >= warp_size) return;
  const std::int64_t count = nrows - begin < sum_block ? nrows - begin : sum_block;
  const Real* const factors = x + begin;
  const Real sum =
      warp_sum(lane_sum<Real>(0, count, [&](std::int64_t k, Real s) { return std::fma(factors[k], products[k], s); }));
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

/// As the kind with the most entries suggests.
template <class Real>
Lattice lattice_of(const Cuda& on, const RowKinds<Real>& A, std::span<const Index> first) {
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
  using Value = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  static_assert(KindsMet::max_kinds == RowKinds<Real>::max_kinds && KindsMet::max_length == short_sum);
  if (A.nrows == 0) return {};
  Scratch scratch(on);
  KindsMet* const met = scratch.take<KindsMet>(1).data();
  RowKinds<Real> found;
  found.nrows = A.nrows;
  found.kind = Array<std::uint8_t, Device>(on, A.nrows);
  properties_detail::find_kinds(
      on,
      properties_detail::ComparedRows<Value, Offset>{.nrows = A.nrows,
                                                     .row_ptr = A.row_ptr.data(),
                                                     .col_idx = A.col_idx.data(),
                                                     .values = reinterpret_cast<const Value*>(A.values.data())},
      met, found.kind.data(), Nothing{});
  const KindsMet all = value_of(on, met);
  if (all.unfit) return {};

  // In the order of their hashes, whatever the order in which warps met them.
  std::vector<int> places;
  for (int i = 0; i < KindsMet::places; ++i)
    if (all.place[i] != KindsMet::free) places.push_back(i);
  std::ranges::sort(places, {}, [&](int i) { return all.place[i]; });
  std::vector<Index> rows;
  std::vector<std::uint8_t> number(KindsMet::places);
  for (const int i : places) {
    number[std::size_t(i)] = std::uint8_t(rows.size());
    rows.push_back(KindsMet::row(all.place[i]));
  }
  found.kinds = Index(rows.size());
  found.first = Array<Index, Device>(on, found.kinds + 1);
  found.entries = Array<KindEntry<Real>, Device>(on, RowKinds<Real>::max_entries);
  const Array<Index, Device> rows_there(on, rows);
  const Array<std::uint8_t, Device> numbers(on, number);
  copy_kinds<<<1, 256, 0, on.stream()>>>(A, rows_there.data(), found.kinds, found.first.data(), found.entries.data());
  check_launch("copying kinds of rows");
  number_kinds(on, found.kind.span(), numbers.data());
  const auto first = copied_to<Host>(on, found.first);
  found.entry_count = first[found.kinds];
  if (found.entry_count > RowKinds<Real>::max_entries) return {};
  found.lattice = lattice_of(on, found, std::span<const Index>(first.data(), std::size_t(first.size())));
  return found;
}

template <class Real, class Store>
void kinds_product(const Cuda& on, const RowKinds<Real>& A, const Real* x, const Store& store) {
  launch_kinds(on, A, x, store);
}

template <class Real>
void kinds_product_dot(const Cuda& on, const RowKinds<Real>& A, const Real* x, Real* y, Real* sum) {
  if (A.nrows <= short_sum) {
    kinds_product(on, A, x, StoreProduct<Real>{y});
    return blas1::leave_sums(on, A.nrows, blas1::Dots<Real, 1>{{x}, {y}}, sum);
  }
  const unsigned blocks = blocks_for(A.nrows, sum_block);
  Scratch scratch(on);
  Real* const partial = scratch.take<Real>(blocks).data();
  product_and_dot<<<blocks, product_threads, SharedKinds<Real>::bytes(A), on.stream()>>>(
      A.nrows, A.kinds, A.entry_count, A.kind.data(), A.first.data(), A.entries.data(), x, y, partial);
  check_launch("a product by kinds of rows with its sum");
  blas1::add_partials(on, 1, blocks, partial, sum);
}

/// Never called: names every function, so that its code is emitted here.
void instances(const Cuda& on) {
  with_each_real([&]<class Real>(Real* x) {
    const RowKinds<Real> A;
    kinds_product(on, A, x, StoreProduct<Real>{x});
    kinds_product(on, A, x, StoreResidual<Real>{x, x});
    kinds_product_dot(on, A, x, x, x);
  });
  with_each_csr<Device>([&](const auto& A, auto*) { find_row_kinds(on, A); });
}

}  // namespace seidel::product_detail
