// Gauss-Seidel sweeps on the GPU, plainly. A wide wavefront is one launch. Narrow ones that follow each other share a
// launch of one block, with a barrier between them: tens of thousands of them would otherwise cost a launch each.
#include <algorithm>
#include <utility>

#include <seidel/drivers/bench/rivals/wavefront_sweep.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/kernels/cuda_sum.cuh>
#include <seidel/kernels/symgs/row.hpp>
#include <seidel/kernels/symgs/symgs.hpp>
#include <seidel/kernels/orders/orders.hpp>

namespace seidel::drivers {

namespace {

using namespace seidel::cuda;

constexpr int threads_of_wide = 256;
constexpr int narrow = 1024;  // rows that one block takes at once

/// What a sweep does at each row: the two halves of a pair, where the forward one leaves t = b - S(lower) to the
/// backward one; and the forward half from x = 0, where S(upper) is 0.
enum class Step { forward, forward_from_zero, backward };

using Matrix = CsrView<double, std::int32_t, Device>;

struct Operands {
  Matrix A;
  const Index* rows;             // by wavefront
  const std::int32_t* diagonal;  // place in A.values of the diagonal of the row in place p
  const double* reciprocal;      // by place
  double* t;                     // by place
};

/// Entries of one side of the diagonal, in the order of the sum.
struct Part {
  RowTerm<double> term;
  std::int64_t length;
};
/// Entries of `row` left of the diagonal, which stands at place `diagonal` of A.values: ascending columns.
__device__ Part lower_part(const Matrix& A, std::int64_t row, std::int32_t diagonal, const double* x) {
  const std::int32_t first = A.row_ptr[row];
  return {{A.col_idx.data() + first, A.values.data() + first, 1, x}, diagonal - first};
}
/// Entries right of it: descending columns.
__device__ Part upper_part(const Matrix& A, std::int64_t row, std::int32_t diagonal, const double* x) {
  const std::int32_t last = A.row_ptr[row + 1];
  return {{A.col_idx.data() + last - 1, A.values.data() + last - 1, -1, x}, last - 1 - diagonal};
}

/// At most 64 terms on one thread. x changes during the launch, so that its loads must be plain ones; those of a batch
/// are under way together.
__device__ double short_sum_of(const RowTerm<double>& term, int length) {
  constexpr int batch = 4;
  double s = 0;
  for (int k = 0; k < length; k += batch) {
    double value[batch], x[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (k + j < length) {
        value[j] = __ldg(term.values + (k + j) * term.stride);
        x[j] = term.x[__ldg(term.col_idx + (k + j) * term.stride)];
      }
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (k + j < length) s = std::fma(value[j], x[j], s);
  }
  return s;
}

/// S of part_of(p), where this lane has a row (`active`) in place p; long ones by the warp, one after another. All
/// lanes of the warp take part; place p + 1 is lane + 1's.
template <class PartOf>
__device__ double part_sum(const PartOf& part_of, std::int64_t p, bool active) {
  double s = 0;
  bool is_long = false;
  if (active) {
    const Part part = part_of(p);
    is_long = part.length > short_sum;
    if (!is_long) s = short_sum_of(part.term, int(part.length));
  }
  const int lane = threadIdx.x % warp_size;
  for (unsigned left = __ballot_sync(whole_warp, is_long); left; left &= left - 1) {
    const int owner = __ffs(left) - 1;
    const Part part = part_of(p - lane + owner);
    const double sum = __shfl_sync(whole_warp, warp_sum_of_long<double>(part.length, part.term), 0);
    if (lane == owner) s = sum;
  }
  return s;
}

/// The rows of a wavefront whose places are first ... last - 1; all threads of a block call it.
template <Step step>
__device__ void sweep_rows(const Operands& of, std::int64_t first, std::int64_t last, const double* b, double* x) {
  const std::int64_t p = first + std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool active = p < last;
  Index i = 0;
  if (active) i = __ldg(of.rows + p);
  double t = 0, upper = 0;
  if constexpr (step == Step::backward) {
    if (active) t = of.t[p];
  } else {
    const auto lower_of = [&](std::int64_t q) { return lower_part(of.A, of.rows[q], of.diagonal[q], x); };
    const double lower = part_sum(lower_of, p, active);
    if (active) of.t[p] = t = b[i] - lower;
  }
  if constexpr (step != Step::forward_from_zero) {
    const auto upper_of = [&](std::int64_t q) { return upper_part(of.A, of.rows[q], of.diagonal[q], x); };
    upper = part_sum(upper_of, p, active);
  }
  if (active) x[i] = swept(t, upper, of.reciprocal[p], 1.0, 0.0);
}

/// `count` wavefronts from number `wavefront` on, or back (`direction` -1). More than one only where a block has room
/// for each whole: a barrier of the block is then all that must stand between them.
template <Step step>
__global__ void __launch_bounds__(narrow)
    sweep_wavefronts(const Operands of, const std::int64_t* start, std::int64_t wavefront, std::int64_t count,
                     int direction, const double* b, double* x) {
  for (; count > 0; --count, wavefront += direction) {
    sweep_rows<step>(of, start[wavefront], start[wavefront + 1], b, x);
    if (count > 1) __syncthreads();
  }
}

/// Finds each row's diagonal and its reciprocal; a row that no sweep can use sets `unusable`.
__global__ void __launch_bounds__(threads_of_wide)
    find_diagonals(const Matrix A, const Index* rows, std::int32_t* diagonal, double* reciprocal, int* unusable) {
  const std::int64_t p = std::int64_t(blockIdx.x) * threads_of_wide + threadIdx.x;
  if (p >= A.nrows) return;
  const std::int32_t k = usable_diagonal(A, rows[p]);
  if (k < 0) {
    *unusable = 1;
  } else {
    diagonal[p] = k;
    reciprocal[p] = 1 / A.values[k];
  }
}

/// Wavefronts first ... first + count - 1, done by one launch of `blocks` blocks.
struct Launch {
  std::int64_t first, count;
  unsigned blocks, threads;
};

std::vector<Launch> launches_for(const std::vector<std::int64_t>& start) {
  std::vector<Launch> found;
  for (std::size_t w = 0; w + 1 < start.size(); ++w) {
    const std::int64_t size = start[w + 1] - start[w];
    const auto warps = unsigned(std::min<std::int64_t>(narrow, (size + warp_size - 1) / warp_size * warp_size));
    if (size > narrow)
      found.push_back({std::int64_t(w), 1, blocks_for(size, threads_of_wide), threads_of_wide});
    else if (!found.empty() && found.back().blocks == 1)
      ++found.back().count, found.back().threads = std::max(found.back().threads, warps);
    else
      found.push_back({std::int64_t(w), 1, 1, warps});
  }
  return found;
}

}  // namespace

struct WavefrontSweep::State {
  Cuda on;
  Matrix A;
  Array<Index, Device> rows;
  Array<std::int64_t, Device> start;
  Array<std::int32_t, Device> diagonal;
  Array<double, Device> reciprocal, t;
  std::vector<Launch> launches;

  State(const Cuda& on, const Matrix& A)
      : on(on), A(A), diagonal(on, A.nrows), reciprocal(on, A.nrows), t(on, A.nrows) {
    on.synchronize();  // A may still be under way on this stream
    const auto row_ptr = copied_to<Host>(on, A.row_ptr);
    const auto col_idx = copied_to<Host>(on, A.col_idx);
    const Wavefronts found =
        wavefronts(OpenMP{}, CsrView<double, std::int32_t, Host>{A.nrows, A.ncols, row_ptr, col_idx, {}});
    rows = copied_to<Device>(on, found.rows.span());
    start = copied_to<Device>(on, HostSpan<const std::int64_t>(found.start.data(), std::int64_t(found.start.size())));
    launches = launches_for(found.start);
    if (A.nrows == 0) return;
    Array<int> none(1, 0);
    Array<int, Device> unusable = copied_to<Device>(on, std::as_const(none).span());
    find_diagonals<<<blocks_for(A.nrows, threads_of_wide), threads_of_wide, 0, on.stream()>>>(
        A, rows.data(), diagonal.data(), reciprocal.data(), unusable.data());
    check_launch("a search for diagonals");
    on.synchronize();
    if (copied_to<Host>(on, std::as_const(unusable).span())[0])
      throw InputError("found a row that no sweep can use, expected a finite, nonzero diagonal");
  }

  template <Step step>
  void run(const double* b, double* x) {
    const Operands of{
        .A = A, .rows = rows.data(), .diagonal = diagonal.data(), .reciprocal = reciprocal.data(), .t = t.data()};
    constexpr bool forward = step != Step::backward;
    for (std::size_t l = 0; l < launches.size(); ++l) {
      const Launch& launch = launches[forward ? l : launches.size() - 1 - l];
      const std::int64_t first = forward ? launch.first : launch.first + launch.count - 1;
      sweep_wavefronts<step><<<launch.blocks, launch.threads, 0, on.stream()>>>(of, start.data(), first, launch.count,
                                                                                forward ? 1 : -1, b, x);
      check_launch("a Gauss-Seidel sweep");
    }
  }
};

WavefrontSweep::WavefrontSweep(const Cuda& on, const Matrix& A) : state_(std::make_shared<State>(on, A)) {}

void WavefrontSweep::pair(const double* b, double* x) const {
  state_->run<Step::forward>(b, x);
  state_->run<Step::backward>(b, x);
}

void WavefrontSweep::pair_from_zero(const double* b, double* x) const {
  state_->run<Step::forward_from_zero>(b, x);
  state_->run<Step::backward>(b, x);
}

std::int64_t WavefrontSweep::bytes() const {
  const State& s = *state_;
  return (s.rows.size() + s.diagonal.size()) * std::int64_t(sizeof(Index)) + s.start.size() * 8 + 2 * s.t.size() * 8;
}

}  // namespace seidel::drivers
