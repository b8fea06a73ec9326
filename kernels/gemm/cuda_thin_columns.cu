// Products of few terms in FP64 whose blocks keep columns of B, while the copy engine brings rows of A.
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>

#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/gemm/cuda_tensor.cuh>
#include <seidel/kernels/gemm/cuda_thin.cuh>

namespace seidel::gemm_detail {

namespace {

/// All sixteen warps of a block compute. Four of them, a group, share rows of A, and have different columns of B; groups do
/// not wait for each other. There are few stages, so that shared memory leaves room for the first cache, through which C is written.
struct ColumnsShape {
  static constexpr int groups = 4, warps = 4, warp_m = 32, warp_n = 32, block_m = groups * warp_m,
                       block_n = warps * warp_n, threads = 32 * groups * warps, step = 8, depth = 2 * step, stages = 4,
                       box = warp_m * depth,
                       barrier_bytes = 1024;  // the swizzle counts from multiples of 1024 bytes

  static constexpr int depths(int K) { return (K + depth - 1) / depth; }
  /// Terms before the first one, which fill the first stage; they are 0, and 4 of them are left out if that does it. Their number is even:
  /// an odd number of terms is followed by one that is 0, since a box that begins 8 bytes after a multiple of 16 is an illegal instruction.
  static constexpr int pad(int K) { return depths(K) * depth - (K + K % 2); }
  static constexpr bool begins_with_4(int K) { return pad(K) / 4 == 1; }
  static constexpr int panel_rows(int K) { return depths(K) * depth - (begins_with_4(K) ? 4 : 0); }
  static constexpr int shared_bytes(int K) {
    return barrier_bytes + (stages * groups * box + panel_rows(K) * block_n) * int(sizeof(double));
  }
};

/// threadIdx.x, read anew: what follows from it then takes no registers in between.
__device__ inline int this_thread() {
  int id;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(id));
  return id;
}

/// Where term p, column n of a panel lies: in 16-byte units that are exchanged so that 4 terms of 4 columns meet in no bank.
__device__ inline int place_in_panel(int p, int n) { return p * ColumnsShape::block_n + (n ^ p % 4 * 4); }

/// Brings columns of B, from `column` on.
__device__ inline void fetch_panel(const Operand<double>& B, bool terms_contiguous, int K, std::int64_t column,
                                   double* panel) {
  using S = ColumnsShape;
  const int rows = S::panel_rows(K), zeros = rows - (K + K % 2), warp = this_thread() / 32, lane = this_thread() % 32;
  // A warp takes a row of the panel, or, so that it reads whole sectors, 8 terms of 4 columns.
  const int terms_at_once = terms_contiguous ? 8 : 1, columns_at_once = 32 / terms_at_once;
  const int my_term = lane % terms_at_once, my_column = lane / terms_at_once;
#pragma unroll 1
  for (int p = warp * terms_at_once + my_term; p < rows; p += S::groups * S::warps * terms_at_once)
#pragma unroll 1
    for (int n = my_column; n < S::block_n; n += columns_at_once) {
      const std::int64_t k = p - zeros, j = column + n;
      double* const to = panel + place_in_panel(p, n);
      if (k < 0 || k >= K)
        *to = 0;
      else
        copy_async<1>(to, B.data + (terms_contiguous ? j * B.leading + k : k * B.leading + j));
    }
  end_of_stage();
  wait_for_stages<0>();
}

/// C = A B, C row-major, at least block_m x block_n, its rows and columns aligned to 16 bytes. `A` is the tensor map of a matrix whose
/// terms are contiguous: boxes of warp_m x depth, swizzled over 128 bytes. Blocks share the tiles of C out evenly, panel after panel.
/// The last tiles move back until they end with C; what two warps compute has the same bits.
__global__ void __launch_bounds__(ColumnsShape::threads, 1)
    product_by_columns(const __grid_constant__ CUtensorMap A, int nrows, const __grid_constant__ Operand<double> B,
                       bool terms_contiguous, int K, double* C, std::int64_t leading) {
  using S = ColumnsShape;
  extern __shared__ __align__(1024) unsigned char memory[];
  Barrier* const full = reinterpret_cast<Barrier*>(memory);  // of each stage and group
  unsigned* const arrived = reinterpret_cast<unsigned*>(full + S::stages * S::groups);
  double* const ring = reinterpret_cast<double*>(memory + S::barrier_bytes);
  double* const panel = ring + S::stages * S::groups * S::box;
  const int lane = this_thread() % 32, quad = lane / 4, in_quad = lane % 4, warp = this_thread() / 32 % S::warps,
            group = this_thread() / 32 / S::warps;
  const int depths = S::depths(K), first_k = -S::pad(K);
  const unsigned tiles_m = unsigned((nrows + S::block_m - 1) / S::block_m),
                 tiles_n = unsigned((B.extent + S::block_n - 1) / S::block_n);
  const std::uint64_t tiles = std::uint64_t(tiles_m) * tiles_n;
  const std::uint64_t first = tiles * blockIdx.x / gridDim.x;
  unsigned left = unsigned(tiles * (blockIdx.x + 1) / gridDim.x - first), m = unsigned(first % tiles_m),
           n = unsigned(first / tiles_m);

  // What this group is to fetch next. All its threads count along.
  unsigned fetch_m = m;
  int fetch_k = first_k, fetches = int(left) * depths;
  const auto fetch = [&](int stage) {
    Barrier& barrier = full[stage * S::groups + group];
    if (fetches <= 0) return barrier.arrive();  // after the last products warps load what is behind them
    barrier.arrive_expecting(S::box * int(sizeof(double)));
    barrier.copy_box(ring + (stage * S::groups + group) * S::box, &A, fetch_k,
                     min(int(fetch_m) * S::block_m + group * S::warp_m, nrows - S::warp_m));
  };
  const auto count_fetch = [&] {
    --fetches;
    if ((fetch_k += S::depth) < K) return;
    fetch_k = first_k;
    if (++fetch_m == tiles_m) fetch_m = 0;
  };
  if (warp == 0 && lane == 0) {
#pragma unroll 1
    for (int at = group; at < S::stages * S::groups; at += S::groups) full[at].init(1), arrived[at] = 0;
    barriers_are_ready();
  }
#pragma unroll 1
  for (int stage = 0; stage < S::stages; ++stage) {
    if (warp == 0 && lane == 0) fetch(stage);
    count_fetch();
  }

  // Quads 0 to 3 have rows 0, 2, 4, 6 of eight, the others 1, 3, 5, 7: so the swizzle keeps each half of a warp out of one bank.
  const int row = quad % 4 * 2 + quad / 4,
            my_a = group * S::box + row * S::depth + ((in_quad / 2 ^ row) * 2 + in_quad % 2);
  const double* const first_b =
      panel + (S::panel_rows(K) - depths * S::depth) * S::block_n + place_in_panel(in_quad, warp * S::warp_n + quad);
  const int to_odd = place_in_panel(in_quad, quad + 8) - place_in_panel(in_quad, quad);  // from columns 0 to 7
  const double *a[2], *b = first_b;
  double c[2][4][4], x[2][4], y[4][2];
  RingPlace<S::stages> at;
  int half = 0, step = 0;
  const auto load_x = [&](int i) {
#pragma unroll
    for (int e = 0; e < 4; ++e) x[i][e] = a[e / 2][(i * 16 + e % 2 * 8) * S::depth];
  };
  const auto load_y = [&](int j) {
#pragma unroll
    for (int e = 0; e < 2; ++e) y[j][e] = b[(j % 2 ? to_odd : 0) + j / 2 * 16 + e * 4 * S::block_n];
  };
  const auto set_a = [&] {
    const double* const stage = ring + at.stage * S::groups * S::box;
    a[0] = stage + (my_a ^ half), a[1] = stage + (my_a ^ half ^ 4);
  };
  // The last warp of the group that is done with a stage fetches the next one into it. What it has loaded from shared memory was
  // loaded before its atomic operation there, since both pass one pipeline in order; a fence would wait for C to be written, too.
  const auto next_stage = [&] {
    __syncwarp();
    if (this_thread() % 32 == 0 && atomicInc(&arrived[at.stage * S::groups + group], S::warps - 1) == S::warps - 1)
      fetch(at.stage);
    count_fetch();
    at.advance();
    full[at.stage * S::groups + group].wait(at.phase);
  };
  const auto next_step = [&] {
    ++step, b += S::step * S::block_n;
    if (half != 0) {
      next_stage();
      if (step == 2 * depths) step = 0, b = first_b;
    }
    half ^= S::step;
    set_a();
  };

  for (bool begun = false; left > 0; ++n, m = 0) {
    const std::int64_t column = tile_begin(B.extent, n, S::block_n);
    __syncthreads();
    fetch_panel(B, terms_contiguous, K, column, panel);
    __syncthreads();
    if (!begun) full[group].wait(0), set_a(), begun = true;
    load_x(0), load_x(1);
#pragma unroll
    for (int j = 0; j < 4; ++j) load_y(j);
    for (; left > 0 && m < tiles_m; --left, ++m) {
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) c[i][j][e] = 0;
      if (S::begins_with_4(K)) {
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) multiply<4>(c[i][j], {x[i][2], x[i][3]}, {y[j][1]});
      } else {
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) multiply<8>(c[i][j], x[i], y[j]);
      }
      next_step();
      load_x(0), load_x(1);
#pragma unroll
      for (int j = 0; j < 4; ++j) load_y(j);
#pragma unroll 1
      for (int s = 1; s < 2 * depths; ++s) {
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply<8>(c[0][j], x[0], y[j]);
        next_step();
        load_x(0);
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply<8>(c[1][j], x[1], y[j]), load_y(j);
        load_x(1);
      }
      const int lane = this_thread() % 32, quad = lane / 4, warp = this_thread() / 32;
      double* const mine =
          C +
          (min(std::int64_t(m) * S::block_m + warp / S::warps * S::warp_m, std::int64_t(nrows) - S::warp_m) +
           quad % 4 * 2 + quad / 4) *
              leading +
          column + warp % S::warps * S::warp_n + lane % 4 * 2;
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int e = 0; e < 4; e += 2)
#pragma unroll
          for (int j = 0; j < 4; ++j)
            __stcs(reinterpret_cast<double2*>(mine + (i * 16 + e * 4) * leading + j * 8),
                   make_double2(c[i][j][e], c[i][j][e + 1]));
    }
  }
}

/// The driver's function that makes tensor maps, for the copy engine.
decltype(&cuTensorMapEncodeTiled) encode_tensor_map() {
  static const auto found = [] {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void* const function = driver ? dlsym(driver, "cuTensorMapEncodeTiled") : nullptr;
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
  }();
  return found;
}

/// Boxes of ColumnsShape::warp_m rows and ColumnsShape::depth terms.
CUtensorMap boxes_of(const DenseView<const double, Device>& A) {
  CUtensorMap map;
  const cuuint64_t extents[] = {cuuint64_t(A.ncols), cuuint64_t(A.nrows)},
                   strides[] = {cuuint64_t(A.leading_dimension) * sizeof(double)};
  const cuuint32_t box[] = {ColumnsShape::depth, ColumnsShape::warp_m}, steps[] = {1, 1};
  const CUresult status =
      encode_tensor_map()(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 2, const_cast<double*>(A.data), extents, strides, box,
                          steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                          CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    throw BackendError("CUDA: a tensor map of a dense matrix failed with status " + std::to_string(int(status)));
  return map;
}

/// Tiles that the busiest of so many blocks gets.
std::int64_t share(const DenseView<double, Device>& C, int rows, int columns, int blocks) {
  return (std::int64_t(blocks_for(C.nrows, rows)) * blocks_for(C.ncols, columns) - 1) / blocks + 1;
}

}  // namespace

bool launched_columns(const Cuda& on, const DenseView<const double, Device>& A,
                      const DenseView<const double, Device>& B, const DenseView<double, Device>& C) {
  using S = ColumnsShape;
  // It pays where blocks have several tiles of the same columns, two panels at the most, shares as even as with tiles of half as many
  // columns, and whole sectors of C to write.
  constexpr std::int64_t min_tiles_per_column = 16, max_rows = 1 << 30, sector = 32, max_excess = 7;  // in percent
  const std::int64_t tiles = share(C, S::block_m, S::block_n, on.multiprocessors()),
                     halves = share(C, S::block_m, S::block_n / 2, on.multiprocessors()),
                     tiles_per_column = blocks_for(C.nrows, S::block_m);
  if (A.layout != Layout::row_major || tiles_per_column < std::max(min_tiles_per_column, tiles) || C.nrows > max_rows ||
      C.ncols < S::block_n || C.ncols % 2 != 0 || reinterpret_cast<std::uintptr_t>(C.data) % sector != 0 ||
      C.leading_dimension * std::int64_t(sizeof(double)) % sector != 0 ||
      100 * 2 * tiles > (100 + max_excess) * halves || !encode_tensor_map())
    return false;
  const int terms = int(A.ncols), shared = S::shared_bytes(terms);
  cuda_check(cudaFuncSetAttribute(product_by_columns, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
             "a dense product");
  product_by_columns<<<unsigned(share(C, S::block_m, S::block_n, int(tiles))), S::threads, shared, on.stream()>>>(
      boxes_of(A), int(A.nrows), Operand<double>{B.data, B.leading_dimension, B.nrows, 0},
      B.layout == Layout::row_major, terms, C.data, C.leading_dimension);
  check_launch("a dense product");
  return true;
}

}  // namespace seidel::gemm_detail
