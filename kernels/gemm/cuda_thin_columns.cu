// Products of few terms in FP64 whose blocks keep columns of B, while the copy engine brings rows of A.
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>

#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/gemm/cuda_tensor.cuh>
#include <seidel/kernels/gemm/cuda_thin.cuh>

namespace seidel::gemm_detail {

namespace {

/// All warps of a block compute. Four of them, a group, share rows of A, and have different columns of B; groups do
/// not wait for each other. There are few stages, so that shared memory leaves room for the first cache, through which C is written.
template <int groups_, int stages_>
struct ColumnsShape {
  static constexpr int groups = groups_, warps = 4, warp_m = 32, warp_n = 32, block_n = warps * warp_n,
                       threads = 32 * groups * warps, step = 8, depth = 2 * step, stages = stages_,
                       box = warp_m * depth,
                       barrier_bytes = 1024;  // the swizzle counts from multiples of 1024 bytes

  static constexpr int blocks_at_once = 16 / (groups * warps);  // on a multiprocessor

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

/// A multiprocessor has one block from the beginning to the end.
using OneBlock = ColumnsShape<4, 4>;
/// A multiprocessor has four blocks at a time. Each computes a few tiles and makes room for the next one, so that a
/// multiprocessor which writes more slowly gets fewer; the other three work while one begins.
using FourBlocks = ColumnsShape<1, 3>;

/// threadIdx.x, read anew: what follows from it then takes no registers in between.
__device__ inline int this_thread() {
  int id;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(id));
  return id;
}

/// Whether this is the thread that acts for its warp. Like this_thread(), it takes no register, and less time.
__device__ inline bool elected() {
  unsigned mine;
  asm volatile(
      "{\n"
      ".reg .pred mine;\n"
      "elect.sync _|mine, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, mine;\n"
      "}\n"
      : "=r"(mine)::"memory");
  return mine != 0;
}

/// Where term p, column n of a panel lies: in 16-byte units that are exchanged so that 4 terms of 4 columns meet in no bank.
template <class S>
__device__ int place_in_panel(int p, int n) {
  return p * S::block_n + (n ^ p % 4 * 4);
}

/// Brings columns of B, from `column` on.
template <class S>
__device__ void fetch_panel(const Operand<double>& B, bool terms_contiguous, int K, std::int64_t column,
                            double* panel) {
  const int rows = S::panel_rows(K), zeros = rows - (K + K % 2), thread = this_thread();
  const auto fetch = [&](auto width, int p, int n) {
    const std::int64_t k = p - zeros, j = column + n;
    double* const to = panel + place_in_panel<S>(p, n);
    if (k >= 0 && k < K)
      copy_async<width()>(to, B.data + (terms_contiguous ? j * B.leading + k : k * B.leading + j));
    else
      for (int e = 0; e < width(); ++e) to[e] = 0;
  };
  if (terms_contiguous) {  // a warp takes 8 terms of 4 columns, and so reads whole sectors
#pragma unroll 1
    for (int p = thread / 32 * 8 + thread % 8; p < rows; p += S::threads / 32 * 8)
#pragma unroll 4
      for (int n = thread % 32 / 8; n < S::block_n; n += 4) fetch(std::integral_constant<int, 1>(), p, n);
  } else {
    constexpr int pairs = S::block_n / 2;
#pragma unroll 4
    for (int p = thread / pairs; p < rows; p += S::threads / pairs)
      fetch(std::integral_constant<int, 2>(), p, thread % pairs * 2);
  }
  end_of_stage();
  wait_for_stages<0>();
}

/// Which blocks compute which tiles of C, these numbered panel after panel. They are cut into parts, one part for all or one per
/// panel; so many blocks share each part. Blocks that follow each other take different parts of a band, so that C is written row
/// by row while the columns of B that the band needs stay in the second cache.
struct ColumnsOrder {
  unsigned parts, tiles, blocks, band;  // tiles and blocks per part, parts per band
  struct Share {
    unsigned first, count;
  };
  __device__ Share share() const {
    const unsigned first_part = blockIdx.x / (blocks * band) * band, width = min(band, parts - first_part),
                   in_band = blockIdx.x - first_part * blocks, part = first_part + in_band % width,
                   place = in_band / width, all = tiles / blocks, more = tiles % blocks;
    return {part * tiles + place * all + min(place, more), all + (place < more)};
  }
};

/// C = A B, C row-major, at least groups * warp_m x block_n, its rows and columns aligned to 16 bytes. `A` is the tensor
/// map of a matrix whose terms are contiguous: boxes of warp_m x depth, swizzled over 128 bytes. The last tiles move back
/// until they end with C; what two warps compute has the same bits.
template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_at_once)
    product_by_columns(const __grid_constant__ CUtensorMap A, int nrows, const __grid_constant__ Operand<double> B,
                       bool terms_contiguous, int K, double* C, std::int64_t leading, ColumnsOrder order) {
  cuda::await_launch_before();
  extern __shared__ __align__(1024) unsigned char memory[];
  Barrier* const full = reinterpret_cast<Barrier*>(memory);  // of each stage and group
  unsigned* const arrived = reinterpret_cast<unsigned*>(full + S::stages * S::groups);
  double* const ring = reinterpret_cast<double*>(memory + S::barrier_bytes);
  double* const panel = ring + S::stages * S::groups * S::box;
  const int lane = this_thread() % 32, quad = lane / 4, in_quad = lane % 4, warp = this_thread() / 32 % S::warps,
            group = this_thread() / 32 / S::warps;
  const int depths = S::depths(K), first_k = -S::pad(K);
  const int tiles_m = (nrows + S::warp_m - 1) / S::warp_m;
  const ColumnsOrder::Share share = order.share();
  // Groups take tiles in turn. This one is at the tile m of the columns, and the block has those before `end`.
  int m = int(share.first % tiles_m) + group, end = int(share.first % tiles_m + share.count);

  // What this group is to fetch next. All its threads count along.
  int fetch_m = m < tiles_m ? m : m - tiles_m;
  int fetch_k = first_k, fetches = (int(share.count) - group + S::groups - 1) / S::groups * depths;
  const auto fetch = [&](int stage) {
    Barrier& barrier = full[stage * S::groups + group];
    if (fetches <= 0) return barrier.arrive();  // after the last products warps load what is behind them
    barrier.arrive_expecting(S::box * int(sizeof(double)));
    barrier.copy_box(ring + (stage * S::groups + group) * S::box, &A, fetch_k,
                     min(fetch_m * S::warp_m, nrows - S::warp_m));
  };
  const auto count_fetch = [&] {
    --fetches;
    if ((fetch_k += S::depth) < K) return;
    fetch_k = first_k;
    if ((fetch_m += S::groups) >= tiles_m) fetch_m -= tiles_m;
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
      panel + (S::panel_rows(K) - depths * S::depth) * S::block_n + place_in_panel<S>(in_quad, warp * S::warp_n + quad);
  const int to_odd = place_in_panel<S>(in_quad, quad + 8) - place_in_panel<S>(in_quad, quad);  // from columns 0 to 7
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
    if (elected() && atomicInc(&arrived[at.stage * S::groups + group], S::warps - 1) == S::warps - 1) fetch(at.stage);
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

  bool begun = false;
  for (int n = int(share.first / tiles_m); end > 0; ++n, m -= tiles_m, end -= tiles_m) {
    const std::int64_t column = tile_begin(B.extent, n, S::block_n);
    if (begun) __syncthreads();
    fetch_panel<S>(B, terms_contiguous, K, column, panel);
    __syncthreads();
    if (!begun) full[group].wait(0), set_a(), begun = true;
    load_x(0), load_x(1);
#pragma unroll
    for (int j = 0; j < 4; ++j) load_y(j);
    for (; m < min(tiles_m, end); m += S::groups) {
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
          C + (min(std::int64_t(m) * S::warp_m, std::int64_t(nrows) - S::warp_m) + quad % 4 * 2 + quad / 4) * leading +
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

/// Boxes of warp_m rows and `depth` terms.
CUtensorMap boxes_of(const DenseView<const double, Device>& A) {
  using S = OneBlock;
  static_assert(S::depth == FourBlocks::depth && S::warp_m == FourBlocks::warp_m);
  CUtensorMap map;
  const cuuint64_t extents[] = {cuuint64_t(A.ncols), cuuint64_t(A.nrows)},
                   strides[] = {cuuint64_t(A.leading_dimension) * sizeof(double)};
  const cuuint32_t box[] = {S::depth, S::warp_m}, steps[] = {1, 1};
  const CUresult status =
      encode_tensor_map()(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 2, const_cast<double*>(A.data), extents, strides, box,
                          steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                          CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    throw BackendError("CUDA: a tensor map of a dense matrix failed with status " + std::to_string(int(status)));
  return map;
}

template <class S>
void launch_columns(const Cuda& on, const DenseView<const double, Device>& A, const DenseView<const double, Device>& B,
                    const DenseView<double, Device>& C, ColumnsOrder order) {
  const int terms = int(A.ncols), shared = S::shared_bytes(terms);
  constexpr int always_allowed = 48 * 1024;  // asking takes half a microsecond
  if (shared > always_allowed)
    cuda_check(cudaFuncSetAttribute(product_by_columns<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
               "a dense product");
  cuda::launch_after(
      on, true, product_by_columns<S>,
      {.blocks = std::int64_t(order.parts) * order.blocks, .threads = S::threads, .shared_bytes = shared},
      "a dense product", boxes_of(A), int(A.nrows), Operand<double>{B.data, B.leading_dimension, B.nrows, 0},
      B.layout == Layout::row_major, terms, C.data, C.leading_dimension, order);
}

}  // namespace

bool launched_columns(const Cuda& on, const DenseView<const double, Device>& A,
                      const DenseView<const double, Device>& B, const DenseView<double, Device>& C) {
  using S = OneBlock;
  constexpr std::int64_t max_rows = 1 << 30, sector = 32;  // C has whole sectors
  constexpr int block_m = S::groups * S::warp_m;
  if (A.layout != Layout::row_major || C.nrows > max_rows || C.nrows < block_m || C.ncols < S::block_n ||
      C.ncols % 2 != 0 || reinterpret_cast<std::uintptr_t>(C.data) % sector != 0 ||
      C.leading_dimension * std::int64_t(sizeof(double)) % sector != 0 || !encode_tensor_map())
    return false;

  // Either pays where the work is shared out about as evenly as in tiles of block_m x block_n / 2, each of which is as
  // large as two of those here.
  const std::int64_t panels = blocks_for(C.ncols, S::block_n), tiles = blocks_for(C.nrows, S::warp_m),
                     halves = std::int64_t(blocks_for(C.nrows, block_m)) * blocks_for(C.ncols, S::block_n / 2);
  const int multiprocessors = on.multiprocessors();
  const std::int64_t share = blocks_for(panels * tiles, multiprocessors);  // what the busiest gets
  const auto is_even = [in_halves = 2 * std::int64_t(blocks_for(halves, multiprocessors))](std::int64_t most) {
    constexpr std::int64_t max_excess = 10;  // in percent
    return 100 * most <= (100 + max_excess) * in_halves;
  };

  // Small blocks pay where four of them fit into shared memory.
  constexpr std::int64_t max_terms_of_four = 32;
  constexpr unsigned band = 128;
  const int tiles_per_block = B.layout == Layout::row_major ? 6 : 4;  // columns of B take longer to fetch term by term
  if (A.ncols <= max_terms_of_four && is_even(share)) {
    launch_columns<FourBlocks>(on, A, B, C,
                               {unsigned(panels), unsigned(tiles), blocks_for(tiles, tiles_per_block), band});
    return true;
  }

  // Large blocks have the same columns from the beginning to the end, or equal shares if that takes less time: to go on
  // to other columns takes as long as some terms of a tile. They pay where columns have many tiles.
  constexpr std::int64_t terms_to_go_on = 300, min_tiles = 64;
  const int per_panel = int(std::min(multiprocessors / panels, tiles));
  const std::int64_t equal = share + terms_to_go_on / A.ncols,
                     kept = per_panel > 0 ? blocks_for(tiles, per_panel) : equal + 1, most = std::min(equal, kept);
  if (tiles < std::max(min_tiles, most) || !is_even(most)) return false;
  launch_columns<S>(on, A, B, C,
                    kept <= equal ? ColumnsOrder{unsigned(panels), unsigned(tiles), unsigned(per_panel), 1}
                                  : ColumnsOrder{1, unsigned(panels * tiles), unsigned(multiprocessors), 1});
  return true;
}

}  // namespace seidel::gemm_detail
