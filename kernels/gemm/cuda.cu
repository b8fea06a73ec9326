// Products on the GPU: which kernel takes a product, and operands brought into the form that it wants.
#include <numeric>
#include <type_traits>
#include <utility>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/gemm/cuda_fma.cuh>
#include <seidel/kernels/gemm/cuda_tensor.cuh>
#include <seidel/kernels/gemm/cuda_thin.cuh>
#include <seidel/kernels/gemm/gemm.hpp>

namespace seidel::gemm_detail {

namespace {

/// Rows of A, or columns of B, as lines of K elements.
template <class Real>
using Lines = DenseView<const Real, Device>;

constexpr int square = 32, rows_at_once = 8;

/// to[k * leading + i] = scale * from(i, k), through squares in shared memory so that both sides are read and written in
/// order.
template <class Real>
__global__ void __launch_bounds__(square* rows_at_once)
    copy_lines(Lines<Real> from, Real scale, Real* to, std::int64_t leading) {
  __shared__ Real held[square][square + 1];
  const std::int64_t squares = (from.nrows + square - 1) / square;
  const std::int64_t first_i = blockIdx.x % squares * square, first_k = blockIdx.x / squares * square;
  const int lane = threadIdx.x % square;
  const bool along_k = from.layout == Layout::row_major;
  for (int other = threadIdx.x / square; other < square; other += rows_at_once) {
    const int i = along_k ? other : lane, k = along_k ? lane : other;
    if (first_i + i < from.nrows && first_k + k < from.ncols) held[k][i] = scale * from(first_i + i, first_k + k);
  }
  __syncthreads();
  for (int k = threadIdx.x / square; k < square; k += rows_at_once)
    if (first_i + lane < from.nrows && first_k + k < from.ncols)
      to[(first_k + k) * leading + first_i + lane] = held[k][lane];
}

/// Whether lines begin, and if k is not what is contiguous end, at multiples of 16 bytes.
template <class Real>
bool is_aligned(const Lines<Real>& lines) {
  return reinterpret_cast<std::uintptr_t>(lines.data) % 16 == 0 && lines.leading_dimension * sizeof(Real) % 16 == 0 &&
         (lines.layout == Layout::row_major || lines.nrows * sizeof(Real) % 16 == 0);
}

}  // namespace

template <class Real>
void copy_by_columns(const Cuda& on, Real scale, const Lines<Real>& from, Real* to, std::int64_t leading) {
  const std::int64_t squares = ((from.nrows + square - 1) / square) * ((from.ncols + square - 1) / square);
  cuda::launch(on, copy_lines<Real>, squares, square * rows_at_once, "a copy of an operand", from, scale, to, leading);
}

namespace {

/// A view of `scale` times the same elements in aligned memory, neighbouring lines side by side.
template <class Real>
Lines<Real> copied(const Cuda& on, Scratch<Cuda>& scratch, const Lines<Real>& from, Real scale) {
  constexpr std::int64_t multiple = 16 / sizeof(Real);
  const std::int64_t leading = (from.nrows + multiple - 1) / multiple * multiple;
  const auto to = scratch.take<Real>(leading * from.ncols);
  copy_by_columns(on, scale, from, to.data(), leading);
  return {from.nrows, from.ncols, leading, Layout::column_major, to.data()};
}

/// C is row-major. What of A or B is multiplied by alpha is copied for it.
template <class Real>
struct Product {
  Lines<Real> A, B;
  Real scale_a, scale_b, beta;
  DenseView<Real, Device> C;
};

template <class Real>
Operand<Real> operand(const Lines<Real>& lines, Real pad) {
  return {lines.data, lines.leading_dimension, lines.nrows, pad};
}

/// What can be copied at once of both operands: elements.
template <class Real>
constexpr int vector = 16 / sizeof(Real);
template <class Real>
bool are_aligned(const Product<Real>& p) {
  return is_aligned(p.A) && is_aligned(p.B);
}

template <class Kernel>
void allow_shared_bytes(Kernel* kernel, int bytes) {
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "a dense product");
}

/// Tiles of C.
template <class S, class Real>
std::int64_t tiles(const Product<Real>& p) {
  return ((p.C.nrows + S::block_m - 1) / S::block_m) * ((p.C.ncols + S::block_n - 1) / S::block_n);
}

/// Tiles that the busiest multiprocessor gets if they are shared out evenly.
template <class S, class Real>
std::int64_t tiles_per_multiprocessor(const Cuda& on, const Product<Real>& p) {
  return (tiles<S>(p) - 1) / on.multiprocessors() + 1;
}

/// Whether large tiles pay, which take fewer loads per product. They need one for each block that a multiprocessor can run, and
/// may not be shared out much less evenly than small ones. With few terms most time goes into writing C, which overlaps with
/// computing if small tiles come in several waves.
template <class Large, class Small, class Real>
bool large_tiles_pay(const Cuda& on, const Product<Real>& p) {
  constexpr int max_few_terms = 96, waves = 2, max_excess = 5;  // max_excess in percent
  constexpr int area_ratio = Large::block_m * Large::block_n / (Small::block_m * Small::block_n);
  const std::int64_t large = tiles_per_multiprocessor<Large>(on, p), small = tiles_per_multiprocessor<Small>(on, p);
  const bool small_overlap = p.A.ncols <= max_few_terms && small > waves * Small::per_multiprocessor;
  return !small_overlap && large >= Large::per_multiprocessor && 100 * area_ratio * large <= (100 + max_excess) * small;
}

template <class Math, class S, Contiguous of_a, Contiguous of_b, class Real>
void launch(const Cuda& on, const Product<Real>& p) {
  const auto kernel =
      are_aligned(p) ? product_tile<Math, S, of_a, of_b, vector<Real>> : product_tile<Math, S, of_a, of_b, 1>;
  constexpr int shared = shared_bytes<Math, S, of_a, of_b>;
  allow_shared_bytes(kernel, shared);
  // Terms beyond 2^30 are added by another launch: the chain goes on where the first one left it.
  constexpr std::int64_t most = 1 << 30;
  Operand<Real> A = operand(p.A, Real(0)), B = operand(p.B, Real(-0.0));
  for (std::int64_t k = 0; k < p.A.ncols; k += most) {
    kernel<<<unsigned(tiles<S>(p)), S::threads, shared, on.stream()>>>(
        A, B, int(std::min(most, p.A.ncols - k)), k == 0 ? p.beta : Real(1), p.C.data, p.C.leading_dimension);
    check_launch("a dense product");
    A.data += most * (of_a == Contiguous::k ? 1 : A.leading), B.data += most * (of_b == Contiguous::k ? 1 : B.leading);
  }
}

/// The classes of the rows of C: as many as it takes until every count-th row begins at the same place of a sector; half as many,
/// and so on, if the last panels of all classes held too few rows.
template <class T, class Real>
RowClasses row_classes(const DenseView<Real, Device>& C) {
  constexpr std::int64_t sector = 32, max_excess = 10;  // of rows, in percent
  const std::int64_t bytes = C.leading_dimension * std::int64_t(sizeof(Real)), rows = T::S::block_m;
  std::int64_t count = sector / std::gcd(bytes, sector);
  const auto excess = [&] { return 100 * count * (((C.nrows - 1) / count + rows) / rows) * rows / C.nrows - 100; };
  while (count > 1 && excess() > max_excess) count /= 2;
  return {unsigned(count), count > 1 ? unsigned(std::gcd(count * bytes, sector)) : unsigned(sizeof(Real))};
}

template <class T, Contiguous of_a, Contiguous of_b, int width, class Real>
void launch_thin(const Cuda& on, const Product<Real>& p, RowClasses classes) {
  const auto kernel = product_thin<T, of_a, of_b, width>;
  constexpr int shared = T::template shared_bytes<of_a, of_b>;
  allow_shared_bytes(kernel, shared);
  kernel<<<unsigned(on.multiprocessors()), T::threads, shared, on.stream()>>>(
      operand(p.A, Real(0)), operand(p.B, Real(-0.0)), int(p.A.ncols), p.beta, p.C.data, p.C.leading_dimension,
      classes);
  check_launch("a dense product");
}

using TensorShape = Shape<128, 64, 16, 64, 32, 3, 2>;
using SmallTensorShape = Shape<64, 64, 16, 32, 32, 3, 3>;
using LoneTensorShape = Shape<32, 32, 32, 16, 16, 3, 2>;  // where each multiprocessor has one small tile at the most
using ThinTensorShape = Shape<128, 64, 16, 32, 32, 12, 1>;
using ThinTensor = Thin<TensorMath<ThinTensorShape, 8, false>, ThinTensorShape, 17, 160>;
using ThinFmaShape = Shape<128, 128, 16, 32, 64, 12, 1>;  // FP32
using ThinFma = Thin<FmaMath<float, ThinFmaShape>, ThinFmaShape, 1, 160>;

/// Calls launch(order of A, order of B, product) for operands that are multiplied by their scale.
template <class Real, class Launch>
void with_operands(const Cuda& on, Product<Real> p, const Launch& launch) {
  Scratch<Cuda> scratch(on);
  const auto bring = [&](Lines<Real>& lines, Real scale) {
    if (scale != 1) lines = copied(on, scratch, lines, scale);
  };
  bring(p.A, p.scale_a), bring(p.B, p.scale_b);
  const std::integral_constant<Contiguous, Contiguous::k> k;
  const std::integral_constant<Contiguous, Contiguous::other> other;
  const bool a_by_k = p.A.layout == Layout::row_major, b_by_k = p.B.layout == Layout::row_major;
  if (a_by_k)
    b_by_k ? launch(k, k, p) : launch(k, other, p);
  else
    b_by_k ? launch(other, k, p) : launch(other, other, p);
}

/// Whether blocks that keep rows of A pay: they need several tiles each, and several for the same rows. Where lines are not
/// aligned, small tiles gain less by being small: fewer tiles per block will do, if most of what they compute is needed.
template <class T, class Real>
bool thin_pays(const Cuda& on, const Product<Real>& p, bool aligned, RowClasses classes) {
  constexpr std::int64_t min_tiles_per_block = 7, min_tiles_per_row = 8, min_unaligned_per_row = 4,
                         min_use = 72;  // percent
  constexpr std::int64_t block_m = T::S::block_m, block_n = T::S::block_n;
  if (p.A.ncols < T::min_terms || p.A.ncols > T::max_terms) return false;
  const std::int64_t blocks = on.multiprocessors();
  if (aligned)
    return p.C.ncols >= min_tiles_per_row * block_n && tiles<typename T::S>(p) >= min_tiles_per_block * blocks;
  if (T::Math::room_size == 0 && classes.count * p.C.leading_dimension % vector<Real> != 0) return false;
  const std::int64_t panels = classes.count * (((p.C.nrows - 1) / classes.count + block_m) / block_m),
                     per_row = (p.C.ncols + classes.bytes / sizeof(Real) + block_n - 2) / block_n,
                     per_block = (panels * per_row + blocks - 1) / blocks;
  return per_row >= min_unaligned_per_row && per_block > 1 &&
         100 * p.C.nrows * p.C.ncols >= min_use * per_block * blocks * block_m * block_n;
}

/// Launches them if they pay. Operands that are not aligned are copied, if they are A, or come element by element. A copy of A has its
/// terms side by side, as blocks that keep columns of B want them.
template <class T, class Real>
bool launched_thin(const Cuda& on, Product<Real> p) {
  constexpr int max_terms_in_classes = sizeof(Real) == 8 ? 64 : 0;  // of lines that are aligned to 16 bytes
  const RowClasses classes = row_classes<T>(p.C);
  const bool C_is_aligned =
      is_aligned<Real>({p.C.nrows, p.C.ncols, p.C.leading_dimension, Layout::row_major, p.C.data});
  const bool aligned = are_aligned(p) && C_is_aligned && (classes.count == 1 || p.A.ncols > max_terms_in_classes);
  if (!thin_pays<T>(on, p, aligned, classes)) return false;
  Scratch<Cuda> scratch(on);
  const bool unfit = p.A.layout != Layout::row_major || !is_aligned(p.A);
  if ((!aligned && unfit) || (p.scale_a != 1 && (!aligned || sizeof(Real) == 8)))
    p.A = transposed(copied(on, scratch, transposed(p.A), std::exchange(p.scale_a, Real(1))));
  with_operands(on, p, [&](auto of_a, auto of_b, const Product<Real>& q) {
    if constexpr (sizeof(Real) == 8)
      if (aligned && q.beta == 0 && launched_columns(on, q.A, q.B, q.C)) return;
    aligned ? launch_thin<T, of_a(), of_b(), vector<Real>>(on, q, classes)
            : launch_thin<T, Contiguous::k, of_b(), 1>(on, q, classes);
  });
  return true;
}

void launch_tensor(const Cuda& on, const Product<double>& product) {
  if (launched_thin<ThinTensor>(on, product)) return;
  with_operands(on, product, [&](auto of_a, auto of_b, const Product<double>& p) {
    if (large_tiles_pay<TensorShape, SmallTensorShape>(on, p))
      launch<TensorMath<TensorShape>, TensorShape, of_a(), of_b()>(on, p);
    else if (tiles_per_multiprocessor<SmallTensorShape>(on, p) == 1)
      launch<TensorMath<LoneTensorShape>, LoneTensorShape, of_a(), of_b()>(on, p);
    else
      launch<TensorMath<SmallTensorShape>, SmallTensorShape, of_a(), of_b()>(on, p);
  });
}

template <class Real, class S>
void launch_fma(const Cuda& on, const Product<Real>& product) {
  with_operands(on, product, [&](auto of_a, auto of_b, const Product<Real>& p) {
    launch<FmaMath<Real, S>, S, of_a(), of_b()>(on, p);
  });
}

using FmaShape = Shape<64, 128, 16, 32, 64, 3, 3>;      // FP32
using SmallFmaShape = Shape<64, 64, 16, 32, 64, 3, 6>;  // FP32
using HalfFmaShape = Shape<64, 32, 16, 32, 32, 3, 8>;   // FP32 where each multiprocessor has one small tile at the most
using LoneFmaShape = Shape<32, 32, 32, 16, 32, 3, 4>;   // FP32 where it has two of these at the most
using DoubleFmaShape = Shape<64, 64, 16, 32, 32, 3, 2>;  // FP64 without tensor cores

/// Whether the code that this GPU runs is that for compute capability 9.0: tensor cores with tiles of 16 x 8 in FP64, and
/// barriers at which copies arrive.
bool have_hopper_code() {
  static const bool have = [] {
    cudaFuncAttributes of;
    const auto kernel = product_tile<TensorMath<TensorShape>, TensorShape, Contiguous::other, Contiguous::other, 1>;
    cuda_check(cudaFuncGetAttributes(&of, kernel), "looking at the code of a dense product");
    return of.ptxVersion >= 90;
  }();
  return have;
}

void choose(const Cuda& on, const Product<float>& product) {
  if (have_hopper_code() && launched_thin<ThinFma>(on, product)) return;
  if (large_tiles_pay<FmaShape, SmallFmaShape>(on, product))
    launch_fma<float, FmaShape>(on, product);
  else if (tiles_per_multiprocessor<SmallFmaShape>(on, product) > 1)
    launch_fma<float, SmallFmaShape>(on, product);
  else if (tiles_per_multiprocessor<LoneFmaShape>(on, product) > 2)
    launch_fma<float, HalfFmaShape>(on, product);
  else
    launch_fma<float, LoneFmaShape>(on, product);
}
void choose(const Cuda& on, const Product<double>& p) {
  have_hopper_code() ? launch_tensor(on, p) : launch_fma<double, DoubleFmaShape>(on, p);
}

template <class Real>
__global__ void scale(DenseView<Real, Device> C, Real beta) {
  const std::int64_t place = blockIdx.x * std::int64_t(blockDim.x) + threadIdx.x;
  if (place >= C.nrows * C.ncols) return;
  Real& c = C(place / C.ncols, place % C.ncols);
  c = beta == 0 ? 0 : beta * c;
}

}  // namespace

template <class Real>
void product(const Cuda& on, Real alpha, const DenseView<const Real, Device>& A, const DenseView<const Real, Device>& B,
             Real beta, const DenseView<Real, Device>& C) {
  if (C.nrows == 0 || C.ncols == 0) return;
  Product<Real> p{A, transposed(B), 1, alpha, beta, C};
  if (C.layout == Layout::column_major) p = {p.B, p.A, alpha, 1, beta, transposed(C)};  // C' = B' A'
  if (A.ncols == 0 || alpha == 0) {
    cuda::launch_over(on, C.nrows * C.ncols, scale<Real>, "scaling a dense matrix", p.C, beta);
  } else {
    choose(on, p);
  }
}

/// Never called: names both functions, so that their code is emitted here.
void instances(const Cuda& on) {
  with_each_real(
      [&]<class Real>(Real* x) { product<Real>(on, 0, {}, {}, 0, {}), copy_by_columns<Real>(on, 0, {}, x, 0); });
}

}  // namespace seidel::gemm_detail
