// Y = A X, row-major, by kinds of rows. A few threads take a row, or three neighbouring rows of one kind, for which they read each
// row of X once. Blocks take bricks of a lattice, so that rows of X which several rows of A need stay in the first cache.

#include <seidel/kernels/products/row_kinds.hpp>
#include <seidel/kernels/spmm/cuda_slices.cuh>

namespace seidel::product_detail {

using namespace seidel::cuda;
using spmm_detail::Slice;

namespace {

constexpr int block_threads = 256, brick_rows = 384;

/// A lattice cut into bricks.
struct Bricks {
  Index nrows;
  Lattice lattice;
  Index width, height, depth;        // of a brick: points, lines, planes
  Index per_line, per_plane, count;  // bricks

  Bricks(Index nrows_, const Lattice& of) : nrows(nrows_), lattice(of) {
    const std::int64_t plane = std::int64_t(of.line) * of.lines, planes = (nrows + plane - 1) / plane;
    width = of.line == nrows ? brick_rows : 24;
    height = planes == 1 ? brick_rows / width : 4;
    depth = brick_rows / (width * height);
    per_line = (of.line + width - 1) / width;
    per_plane = per_line * ((of.lines + height - 1) / height);
    count = per_plane * Index((planes + depth - 1) / depth);
  }
  /// Row number `at` of brick `brick`, or nrows if there is none.
  __device__ Index row(Index brick, Index at) const {
    const Index x = brick % per_line * width + at % width,
                y = brick % per_plane / per_line * height + at / width % height,
                z = brick / per_plane * depth + at / (width * height);
    const std::int64_t row = x + (y + std::int64_t(z) * lattice.lines) * lattice.line;
    return x < lattice.line && y < lattice.lines && row < nrows ? Index(row) : nrows;
  }
};

template <class Real>
struct Operands {
  const std::uint8_t* kind;
  Index kinds, entry_count;
  const Index* first;
  const KindEntry<Real>* entries;
  MultiVectorView<const Real, Device> X;
  MultiVectorView<Real, Device> Y;
  int slices = 1;
};

/// An entry of the dictionary in shared memory.
template <class Real>
struct Entry {
  Real value;
  Index offset, run;  // so many entries from this one on have neighbouring columns; 3 at most
};
constexpr int max_run = 3, no_kind = 255;

/// What a row of one kind adds up: the entries first ... last - 1.
template <class Real, class D>
struct Terms {
  const Entry<Real>* entry;
  Slice<Real, D> slice;
  using Sum = typename Slice<Real, D>::Sum;

  __device__ Sum of_row(Index row, int first, int last) const {
    constexpr int batch = 4;
    Sum s{};
#pragma unroll 1
    for (int k = first; k < last; k += batch) {
      Sum factors[batch];
#pragma unroll
      for (int j = 0; j < batch; ++j)
        if (k + j < last) factors[j] = slice.load(row + entry[k + j].offset);
#pragma unroll
      for (int j = 0; j < batch; ++j)
        if (k + j < last) s = slice.add(entry[k + j].value, factors[j], s);
    }
    return s;
  }
  /// Of `rows` rows from `row` on. In a run, row r + 1 needs what row r needs, but for one.
  template <int rows>
  __device__ SumGroup<Sum, rows> of_rows(Index row, int first, int last) const {
    SumGroup<Sum, rows> s{};
#pragma unroll 1
    for (int k = first; k < last;) {
      const Entry<Real> e = entry[k];
      Sum factors[rows + max_run - 1];
#pragma unroll
      for (int u = 0; u < rows + max_run - 1; ++u)
        if (u < rows || u < rows + e.run - 1) factors[u] = slice.load(row + e.offset + u);
#pragma unroll
      for (int j = 0; j < max_run; ++j)
        if (j < e.run) {
          const Real a = j == 0 ? e.value : entry[k + j].value;
#pragma unroll
          for (int r = 0; r < rows; ++r) s.of[r] = slice.add(a, factors[r + j], s.of[r]);
        }
      k += e.run;
    }
    return s;
  }
};

/// D::G threads per `rows` rows.
template <class D, int rows, class Real>
__global__ void __launch_bounds__(block_threads, rows == 1 ? 4 : 3)
    columns_of_kinds(const __grid_constant__ Operands<Real> of, const __grid_constant__ Bricks bricks) {
  extern __shared__ double2 shared[];
  __shared__ Index row_at[brick_rows];
  __shared__ std::uint8_t kind_at[brick_rows];
  Entry<Real>* const entry = reinterpret_cast<Entry<Real>*>(shared);
  Index* const start = reinterpret_cast<Index*>(entry + of.entry_count);
  for (Index at = threadIdx.x; at < brick_rows; at += block_threads) {
    row_at[at] = bricks.row(Index(blockIdx.x / of.slices), at);
    kind_at[at] = row_at[at] < bricks.nrows ? of.kind[row_at[at]] : no_kind;
  }
  for (Index k = threadIdx.x; k < of.entry_count; k += block_threads)
    entry[k] = {of.entries[k].value, of.entries[k].offset, 1};
  for (Index kind = threadIdx.x; kind <= of.kinds; kind += block_threads) start[kind] = of.first[kind];
  __syncthreads();
  for (Index kind = threadIdx.x; kind < of.kinds; kind += block_threads)
    for (Index k = start[kind + 1] - 2; k >= start[kind]; --k)
      if (entry[k + 1].offset == entry[k].offset + 1) entry[k].run = min(entry[k + 1].run + 1, max_run);
  __syncthreads();

  const Terms<Real, D> terms{entry, Slice<Real, D>(of.X, int(blockIdx.x % of.slices))};
  for (int at = int(threadIdx.x) / D::G * rows; at < brick_rows; at += block_threads / D::G * rows) {
    const Index row = row_at[at];
    bool alike = rows > 1;
#pragma unroll
    for (int r = 1; r < rows; ++r) alike &= kind_at[at + r] == kind_at[at];
    if (alike) {
      const int kind = kind_at[at];
      if (kind == no_kind) continue;
      const auto s = terms.template of_rows<rows>(row, start[kind], start[kind + 1]);
#pragma unroll
      for (int r = 0; r < rows; ++r) terms.slice.store(of.Y, row + r, s.of[r]);
    } else {
#pragma unroll 1
      for (int r = 0; r < rows; ++r) {
        const int kind = kind_at[at + r];
        if (kind != no_kind) terms.slice.store(of.Y, row + r, terms.of_row(row + r, start[kind], start[kind + 1]));
      }
    }
  }
}

template <class D, int rows, class Real>
void launch(const Cuda& on, Operands<Real> of, const Bricks& bricks) {
  of.slices = D::slices(of.X.ncols);
  const std::int64_t bytes =
      of.entry_count * std::int64_t(sizeof(Entry<Real>)) + (of.kinds + 1) * std::int64_t(sizeof(Index));
  columns_of_kinds<D, rows><<<of.slices * bricks.count, block_threads, bytes, on.stream()>>>(of, bricks);
  check_launch("a product by kinds of rows with several vectors");
}

}  // namespace

template <class Real>
void kinds_product(const Cuda& on, const RowKinds<Real>& A, const MultiVectorView<const Real, Device>& X,
                   const MultiVectorView<Real, Device>& Y) {
  if (X.ncols == 0) return;
  spmm_detail::require_near_rows(X);
  const Bricks bricks(A.nrows, A.lattice);
  const Operands<Real> of{.kind = A.kind.data(),
                          .kinds = A.kinds,
                          .entry_count = A.entry_count,
                          .first = A.first.data(),
                          .entries = A.entries.data(),
                          .X = X,
                          .Y = Y};
  spmm_detail::with_division(X, [&]<class D>(D) {
    constexpr int rows = D::W == 2 && D::columns >= 16 ? 3 : 1;
    launch<D, rows>(on, of, bricks);
  });
}

template void kinds_product(const Cuda&, const RowKinds<double>&, const MultiVectorView<const double, Device>&,
                            const MultiVectorView<double, Device>&);
template void kinds_product(const Cuda&, const RowKinds<float>&, const MultiVectorView<const float, Device>&,
                            const MultiVectorView<float, Device>&);

}  // namespace seidel::product_detail
