// Products on the host: blocks of A and B are copied so that the innermost loop reads them in order from the nearest caches,
// whatever the leading dimensions; the tile in registers does the rest.
#include <algorithm>
#include <utility>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/array.hpp>
#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/gemm/host_tiles.hpp>

namespace seidel::gemm_detail {

namespace {

/// Blocks that stay in a cache: a tile's columns of B, `depth` long, in the first level (16 kB); the block of A, `rows`
/// tiles high, in the second (at most 600 kB with AVX-512, half of that with AVX2); the block of B, up to `columns`
/// wide, in the last.
template <class Real>
constexpr std::int64_t max_depth = sizeof(Real) == 8 ? 256 : 384;
constexpr std::int64_t max_rows = 8, max_columns = 2048;  // in tiles; in columns

/// Below this many products waking the threads costs more than they save.
constexpr std::int64_t worth_threads = 1 << 18;

/// An operand read line by line: element (i, k) is at data + i * step_i + k * step_k, and is multiplied by `scale`.
template <class Real>
struct Source {
  const Real* data;
  std::int64_t step_i, step_k;
  Real scale;

  Source from(std::int64_t i, std::int64_t k) const { return {data + i * step_i + k * step_k, step_i, step_k, scale}; }
};

/// Rows of A are the lines, or columns of B.
template <class Real>
Source<Real> source_of(const DenseView<const Real, Host>& A, Real scale) {
  return A.layout == Layout::row_major ? Source<Real>{A.data, A.leading_dimension, 1, scale}
                                       : Source<Real>{A.data, 1, A.leading_dimension, scale};
}

std::int64_t divided(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

/// Copies `lines` lines, `depth` long, into groups of `width` lines, each ordered by k; zeros stand for missing lines.
template <class Real>
void pack(const Source<Real>& from, std::int64_t lines, std::int64_t depth, int width, Real* to) {
  constexpr std::int64_t at_once = 64 / sizeof(Real);  // along k, so that a cache line of the source is read once
  with_avx2([&] {
    for (std::int64_t first = 0; first < lines; first += width, to += width * depth) {
      const Source<Real> group = from.from(first, 0);
      const std::int64_t count = std::min<std::int64_t>(width, lines - first);
      if (count < width) std::fill(to, to + width * depth, Real(0));
      if (group.step_i == 1) {
        for (std::int64_t k = 0; k < depth; ++k)
          for (std::int64_t i = 0; i < count; ++i) to[k * width + i] = group.scale * group.data[k * group.step_k + i];
      } else {
        for (std::int64_t k = 0; k < depth; k += at_once)
          for (std::int64_t i = 0; i < count; ++i)
            for (std::int64_t l = k; l < std::min(depth, k + at_once); ++l)
              to[l * width + i] = group.scale * group.data[i * group.step_i + l * group.step_k];
      }
    }
  });
}

/// A part of a column-major C, and what it is made of.
template <class Real>
struct Part {
  Source<Real> A, B;
  std::int64_t nrows, ncols, K;
  Real beta;
  Real* C;
  std::int64_t leading;
};

/// A tile that reaches over the edge of C is computed beside it.
template <class Real>
void run_at_edge(const Tile<Real>& tile, std::int64_t K, const Real* a, const Real* b, Real beta, Real* C,
                 std::int64_t leading, std::int64_t nrows, std::int64_t ncols) {
  Real whole[48 * 8] = {};
  if (beta != 0)
    for (std::int64_t j = 0; j < ncols; ++j)
      for (std::int64_t i = 0; i < nrows; ++i) whole[j * tile.rows + i] = C[j * leading + i];
  tile.run(K, a, b, beta, whole, tile.rows);
  for (std::int64_t j = 0; j < ncols; ++j)
    for (std::int64_t i = 0; i < nrows; ++i) C[j * leading + i] = whole[j * tile.rows + i];
}

template <class Real>
void multiply_blocks(const Tile<Real>& tile, const Real* a, const Real* b, std::int64_t depth, Real beta, Real* C,
                     std::int64_t leading, std::int64_t nrows, std::int64_t ncols) {
  for (std::int64_t j = 0; j < ncols; j += tile.columns)
    for (std::int64_t i = 0; i < nrows; i += tile.rows) {
      Real* const c = C + j * leading + i;
      if (i + tile.rows <= nrows && j + tile.columns <= ncols)
        tile.run(depth, a + i * depth, b + j * depth, beta, c, leading);
      else
        run_at_edge(tile, depth, a + i * depth, b + j * depth, beta, c, leading,
                    std::min<std::int64_t>(tile.rows, nrows - i), std::min<std::int64_t>(tile.columns, ncols - j));
    }
}

/// By one thread.
template <class Real>
void multiply(const Tile<Real>& tile, const Part<Real>& part) {
  const std::int64_t blocks = divided(part.K, max_depth<Real>), depth = divided(part.K, blocks);
  const std::int64_t rows = std::min(max_rows * tile.rows, divided(part.nrows, tile.rows) * tile.rows);
  const std::int64_t columns = std::min(max_columns, divided(part.ncols, tile.columns) * tile.columns);
  Array<Real> a(rows * depth), b(columns * depth);
  for (std::int64_t j = 0; j < part.ncols; j += columns) {
    const std::int64_t ncols = std::min(columns, part.ncols - j);
    for (std::int64_t k = 0; k < part.K; k += depth) {
      const std::int64_t deep = std::min(depth, part.K - k);
      pack(part.B.from(j, k), ncols, deep, tile.columns, b.data());
      for (std::int64_t i = 0; i < part.nrows; i += rows) {
        const std::int64_t nrows = std::min(rows, part.nrows - i);
        pack(part.A.from(i, k), nrows, deep, tile.rows, a.data());
        multiply_blocks(tile, a.data(), b.data(), deep, k == 0 ? part.beta : Real(1), part.C + j * part.leading + i,
                        part.leading, nrows, ncols);
      }
    }
  }
}

/// Threads in a grid over C: even shares of its tiles, then as little of A and B as can be for each to copy.
struct Grid {
  int rows = 1, columns = 1;
};
template <class Real>
Grid grid_of(int threads, const Tile<Real>& tile, std::int64_t tiles_down, std::int64_t tiles_across) {
  Grid best;
  auto least = std::pair(tiles_down * tiles_across, std::int64_t(0));
  for (int rows = 1; rows <= threads; ++rows) {
    const Grid grid{int(std::min<std::int64_t>(rows, tiles_down)),
                    int(std::min<std::int64_t>(threads / rows, tiles_across))};
    const std::int64_t down = divided(tiles_down, grid.rows), across = divided(tiles_across, grid.columns);
    const auto cost = std::pair(down * across, down * tile.rows + across * tile.columns);
    if (cost < least) least = cost, best = grid;
  }
  return best;
}

template <class Real>
void scale(const OpenMP& on, Real beta, const DenseView<Real, Host>& C) {
  parallel_for(on, C.ncols, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t j = first; j < last; ++j)
      for (std::int64_t i = 0; i < C.nrows; ++i) {
        Real& c = C.data[j * C.leading_dimension + i];
        c = beta == 0 ? 0 : beta * c;
      }
  });
}

}  // namespace

template <>
const Tile<double>& host_tile([[maybe_unused]] InstructionSet set) {
#ifdef __x86_64__
  if (set == InstructionSet::avx512) return avx512_tile_double;
  if (set == InstructionSet::avx2) return avx2_tile_double;
#endif
  return portable_tile_double;
}
template <>
const Tile<float>& host_tile([[maybe_unused]] InstructionSet set) {
#ifdef __x86_64__
  if (set == InstructionSet::avx512) return avx512_tile_float;
  if (set == InstructionSet::avx2) return avx2_tile_float;
#endif
  return portable_tile_float;
}

template <class Real>
void product_by(const Tile<Real>& tile, const OpenMP& on, Real alpha, DenseView<const Real, Host> A,
                DenseView<const Real, Host> B, Real beta, DenseView<Real, Host> C) {
  Source<Real> down = source_of(A, Real(1)), across = source_of(transposed(B), alpha);
  if (C.layout == Layout::row_major) std::swap(down, across), C = transposed(C);  // C' = B' A'
  const std::int64_t K = A.ncols;
  if (C.nrows == 0 || C.ncols == 0) return;
  if (K == 0 || alpha == 0) return scale(on, beta, C);
  const std::int64_t tiles_down = divided(C.nrows, tile.rows), tiles_across = divided(C.ncols, tile.columns);
  const bool small = double(C.nrows) * double(C.ncols) * double(K) < double(worth_threads);
  const Grid grid = small ? Grid{} : grid_of(on.threads, tile, tiles_down, tiles_across);
  parallel_parts(OpenMP{grid.rows * grid.columns}, [&](int thread, int threads) {
    for (int part = thread; part < grid.rows * grid.columns; part += threads) {  // there may be fewer than asked for
      const Range i = even_share(tiles_down, part / grid.columns, grid.rows);
      const Range j = even_share(tiles_across, part % grid.columns, grid.columns);
      const std::int64_t row = i.first * tile.rows, column = j.first * tile.columns;
      multiply(tile, Part<Real>{.A = down.from(row, 0),
                                .B = across.from(column, 0),
                                .nrows = std::min(i.last * tile.rows, C.nrows) - row,
                                .ncols = std::min(j.last * tile.columns, C.ncols) - column,
                                .K = K,
                                .beta = beta,
                                .C = C.data + column * C.leading_dimension + row,
                                .leading = C.leading_dimension});
    }
  });
}

template <class Real>
void product(const OpenMP& on, Real alpha, const DenseView<const Real, Host>& A, const DenseView<const Real, Host>& B,
             Real beta, const DenseView<Real, Host>& C) {
  product_by(host_tile<Real>(best_instruction_set()), on, alpha, A, B, beta, C);
}

/// Never called: names both functions, so that their code is emitted here.
void instances(const OpenMP& on) {
  with_each_real(
      [&]<class Real>(Real*) { product_by<Real>({}, on, 0, {}, {}, 0, {}), product<Real>(on, 0, {}, {}, 0, {}); });
}

}  // namespace seidel::gemm_detail
