// Y = A X, row-major, by kinds of rows. A few threads take a row, or three neighbouring rows of one kind, for which they read each
// row of X once. Blocks take bricks of a lattice, so that rows of X which several rows of A need stay in the first cache.
#include <algorithm>

#include <seidel/kernels/products/row_kinds.hpp>
#include <seidel/kernels/spmm/cuda_slices.cuh>

namespace seidel::product_detail {

using namespace seidel::cuda;
using spmm_detail::Division;
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
  /// Row number `at` of brick `brick`, or nrows if there is none. `left`: rows from there to the end of its line.
  __device__ Index row(Index brick, Index at, Index& left) const {
    const Index x = brick % per_line * width + at % width, in_plane = brick % per_plane,
                y = in_plane / per_line * height + at / width % height,
                z = brick / per_plane * depth + at / (width * height);
    const std::int64_t row = x + (y + std::int64_t(z) * lattice.lines) * lattice.line;
    left = lattice.line - x;
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

/// What a row of one kind adds up.
template <class Real, class D>
struct Terms {
  const KindEntry<Real>* entry;
  Slice<Real, D> slice;
  using Sum = typename Slice<Real, D>::Sum;

  /// The sum of row `row`, which has the entries first ... last - 1.
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
  /// The sums of `rows` rows from `row` on. Of up to three neighbouring entries, row r + 1 needs what row r needs, but for one.
  template <int rows>
  __device__ SumGroup<Sum, rows> of_rows(Index row, int first, int last) const {
    constexpr int run = 3;
    SumGroup<Sum, rows> s{};
#pragma unroll 1
    for (int k = first; k < last;) {
      KindEntry<Real> e[run];
      int count = 0;
#pragma unroll
      for (int j = 0; j < run; ++j)
        if (count == j && k + j < last) {
          e[j] = entry[k + j];
          if (e[j].offset == e[0].offset + j) ++count;
        }
      Sum factors[rows + run - 1];
#pragma unroll
      for (int u = 0; u < rows + run - 1; ++u)
        if (u < rows + count - 1) factors[u] = slice.load(row + e[0].offset + u);
#pragma unroll
      for (int j = 0; j < run; ++j)
        if (j < count)
#pragma unroll
          for (int r = 0; r < rows; ++r) s.of[r] = slice.add(e[j].value, factors[r + j], s.of[r]);
      k += count;
    }
    return s;
  }
};

/// D::G threads per `rows` rows.
template <class D, int rows, class Real>
__global__ void __launch_bounds__(block_threads, rows == 1 ? 4 : 3)
    columns_of_kinds(const __grid_constant__ Operands<Real> of, const __grid_constant__ Bricks bricks) {
  extern __shared__ double2 shared[];
  KindEntry<Real>* const entry = reinterpret_cast<KindEntry<Real>*>(shared);
  Index* const start = reinterpret_cast<Index*>(entry + of.entry_count);
  for (Index i = threadIdx.x; i < of.entry_count; i += block_threads) entry[i] = of.entries[i];
  for (Index i = threadIdx.x; i <= of.kinds; i += block_threads) start[i] = of.first[i];
  __syncthreads();
  const Terms<Real, D> terms{entry, Slice<Real, D>(of.X, of.slices)};
  for (int at = int(threadIdx.x) / D::G * rows; at < brick_rows; at += block_threads / D::G * rows) {
    Index left;
    const Index row = bricks.row(Index(blockIdx.x / of.slices), at, left);
    int kind[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) kind[r] = r < left && row < bricks.nrows - r ? __ldg(of.kind + row + r) : -1;
    bool alike = rows > 1;
#pragma unroll
    for (int r = 1; r < rows; ++r) alike &= kind[r] == kind[0];
    if (alike && kind[0] >= 0) {
      const auto s = terms.template of_rows<rows>(row, start[kind[0]], start[kind[0] + 1]);
#pragma unroll
      for (int r = 0; r < rows; ++r) terms.slice.store(of.Y, row + r, s.of[r]);
    } else {
#pragma unroll
      for (int r = 0; r < rows; ++r)
        if (kind[r] >= 0) terms.slice.store(of.Y, row + r, terms.of_row(row + r, start[kind[r]], start[kind[r] + 1]));
    }
  }
}

template <class D, int rows, class Real>
void launch(const Cuda& on, Operands<Real> of, const Bricks& bricks) {
  of.slices = D::slices(of.X.ncols);
  const std::int64_t bytes =
      of.entry_count * std::int64_t(sizeof(KindEntry<Real>)) + (of.kinds + 1) * std::int64_t(sizeof(Index));
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
  if (!spmm_detail::in_pairs(X))
    X.ncols <= 4 ? launch<Division<1, 4>, 1>(on, of, bricks) : launch<Division<1, 16>, 1>(on, of, bricks);
  else if (X.ncols <= 4)
    launch<Division<2, 2>, 1>(on, of, bricks);
  else if (X.ncols <= 8)
    launch<Division<2, 4>, 1>(on, of, bricks);
  else if (X.ncols <= 16)
    launch<Division<2, 8>, 3>(on, of, bricks);
  else
    launch<Division<2, 16>, 3>(on, of, bricks);
}

template void kinds_product(const Cuda&, const RowKinds<double>&, const MultiVectorView<const double, Device>&,
                            const MultiVectorView<double, Device>&);
template void kinds_product(const Cuda&, const RowKinds<float>&, const MultiVectorView<const float, Device>&,
                            const MultiVectorView<float, Device>&);

}  // namespace seidel::product_detail
