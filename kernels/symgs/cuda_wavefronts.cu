// Gauss-Seidel sweeps on the GPU, plainly. A wide wavefront is a launch. Narrow ones that follow each other share a
// launch of one block, with a barrier between them: tens of thousands of them would otherwise cost a launch each.
#include <algorithm>
#include <climits>

#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/kernels/cuda_sum.cuh>
#include <seidel/kernels/symgs/cuda_wavefronts.hpp>
#include <seidel/kernels/symgs/wavefronts.hpp>

namespace seidel::symgs_detail {

namespace {

using namespace seidel::cuda;

constexpr int threads_of_wide = 256;
constexpr int narrow = 1024;  // rows that one block takes at once

/// What a sweep does at each row: a plain sweep in either direction; the two halves of a pair, where the forward one
/// leaves t = b - S(lower) to the backward one; and the forward half from x = 0, where S(upper) is 0.
enum class Step { plain, keeping_t, from_zero, from_t };

template <class Real, class Offset>
struct Plan {
  CsrView<Real, Offset, Device> A;
  const Index* rows;       // by wavefront
  const Offset* diagonal;  // place in A.values of the diagonal of the row in place p
  const Real* reciprocal;  // by place
  Real* t;                 // by place
};

/// At most 64 terms on one thread. x changes during the launch, so that its loads must be plain ones; those of a batch
/// are under way together.
template <class Real>
__device__ Real short_sum_of(const RowTerm<Real>& term, int length) {
  constexpr int batch = 4;
  Real s = 0;
  for (int k = 0; k < length; k += batch) {
    Real value[batch], x[batch];
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
template <class Real, class PartOf>
__device__ Real part_sum(const PartOf& part_of, std::int64_t p, bool active) {
  Real s = 0;
  bool is_long = false;
  if (active) {
    const RowPart<Real> part = part_of(p);
    is_long = part.length > short_sum;
    if (!is_long) s = short_sum_of(part.term, int(part.length));
  }
  const int lane = threadIdx.x % warp_size;
  for (unsigned left = __ballot_sync(full_warp, is_long); left; left &= left - 1) {
    const int owner = __ffs(left) - 1;
    const RowPart<Real> part = part_of(p - lane + owner);
    const Real sum = __shfl_sync(full_warp, warp_sum_of_long<Real>(part.length, part.term), 0);
    if (lane == owner) s = sum;
  }
  return s;
}

/// The rows of a wavefront whose places are first ... last - 1; all threads of a block call it.
template <Step step, class Real, class Offset>
__device__ void sweep_rows(const Plan<Real, Offset>& plan, std::int64_t first, std::int64_t last, const Real* b,
                           Real* x, Real omega) {
  const std::int64_t p = first + std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool active = p < last;
  Index i = 0;
  if (active) i = __ldg(plan.rows + p);
  Real t = 0, upper = 0;
  if constexpr (step == Step::from_t) {
    if (active) t = plan.t[p];
  } else {
    const auto lower_of = [&](std::int64_t q) { return lower_part(plan.A, plan.rows[q], plan.diagonal[q], x); };
    const Real lower = part_sum<Real>(lower_of, p, active);
    if (active) t = b[i] - lower;
    if constexpr (step != Step::plain)
      if (active) plan.t[p] = t;
  }
  if constexpr (step != Step::from_zero) {
    const auto upper_of = [&](std::int64_t q) { return upper_part(plan.A, plan.rows[q], plan.diagonal[q], x); };
    upper = part_sum<Real>(upper_of, p, active);
  }
  if (active) x[i] = swept(t, upper, plan.reciprocal[p], omega, step == Step::from_zero ? Real(0) : x[i]);
}

/// `count` wavefronts from number `wavefront` on, or back (`direction` -1). More than one only where a block has room
/// for each whole: a barrier of the block is then all that must stand between them.
template <Step step, class Real, class Offset>
__global__ void __launch_bounds__(narrow)
    sweep_wavefronts(const Plan<Real, Offset> plan, const std::int64_t* start, std::int64_t wavefront,
                     std::int64_t count, int direction, const Real* b, Real* x, Real omega) {
  for (; count > 0; --count, wavefront += direction) {
    sweep_rows<step>(plan, start[wavefront], start[wavefront + 1], b, x, omega);
    if (count > 1) __syncthreads();
  }
}

/// Finds each row's diagonal and its reciprocal; first_unusable becomes the least row that no sweep can use.
template <class Real, class Offset>
__global__ void __launch_bounds__(threads_of_wide)
    find_diagonals(const CsrView<Real, Offset, Device> A, const Index* rows, Offset* diagonal, Real* reciprocal,
                   int* first_unusable) {
  const std::int64_t p = std::int64_t(blockIdx.x) * threads_of_wide + threadIdx.x;
  if (p >= A.nrows) return;
  const Offset k = usable_diagonal(A, rows[p]);
  if (k < 0) {
    atomicMin(first_unusable, rows[p]);
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

template <class Real, class Offset>
struct WavefrontSweep<Real, Offset>::State {
  Cuda on;
  CsrView<Real, Offset, Device> A;
  Array<Index, Device> rows;
  Array<std::int64_t, Device> start;
  Array<Offset, Device> diagonal;
  Array<Real, Device> reciprocal, t;
  std::vector<Launch> launches;

  State(const Cuda& on, const CsrView<Real, Offset, Device>& A)
      : on(on), A(A), diagonal(A.nrows), reciprocal(A.nrows), t(A.nrows) {
    on.synchronize();  // A may still be under way on this stream
    const auto row_ptr = copied_to<Host>(A.row_ptr);
    const auto col_idx = copied_to<Host>(A.col_idx);
    const Wavefronts found = wavefronts_of<Offset>(row_ptr, col_idx);
    rows = copied_to<Device>(found.rows);
    start = Array<std::int64_t, Device>(found.start);
    launches = launches_for(found.start);
    find();
  }

  /// Waits for the device: what is wrong with a row must be known here.
  void find() {
    if (A.nrows == 0) return;
    int* const staging = reinterpret_cast<int*>(on.staging());
    const auto first_unusable = reinterpret_cast<int*>(on.workspace(sizeof(int)).data());
    *staging = INT_MAX;
    cuda_check(cudaMemcpyAsync(first_unusable, staging, sizeof(int), cudaMemcpyHostToDevice, on.stream()),
               "starting a search for diagonals");
    find_diagonals<<<blocks_for(A.nrows, threads_of_wide), threads_of_wide, 0, on.stream()>>>(
        A, rows.data(), diagonal.data(), reciprocal.data(), first_unusable);
    check_launch("a search for diagonals");
    cuda_check(cudaMemcpyAsync(staging, first_unusable, sizeof(int), cudaMemcpyDeviceToHost, on.stream()),
               "ending a search for diagonals");
    on.synchronize();
    if (*staging != INT_MAX) refuse(*staging);
  }

  [[noreturn]] void refuse(std::int64_t row) const {
    const auto ends = copied_to<Host>(A.row_ptr.subspan(row, 2));
    const std::int64_t first = ends[0], length = ends[1] - ends[0];
    const auto columns = copied_to<Host>(A.col_idx.subspan(first, length));
    const auto values = copied_to<Host>(A.values.subspan(first, length));
    refuse_row(row, {columns.begin(), columns.end()}, {values.begin(), values.end()});
  }

  template <Step step>
  void run(Direction direction, const Real* b, Real* x, Real omega) {
    const Plan<Real, Offset> plan{A, rows.data(), diagonal.data(), reciprocal.data(), t.data()};
    const bool onwards = direction == Direction::forward;
    for (std::size_t l = 0; l < launches.size(); ++l) {
      const Launch& launch = launches[onwards ? l : launches.size() - 1 - l];
      const std::int64_t first = onwards ? launch.first : launch.first + launch.count - 1;
      sweep_wavefronts<step><<<launch.blocks, launch.threads, 0, on.stream()>>>(plan, start.data(), first, launch.count,
                                                                                onwards ? 1 : -1, b, x, omega);
      check_launch("a Gauss-Seidel sweep");
    }
  }
};

template <class Real, class Offset>
WavefrontSweep<Real, Offset>::WavefrontSweep(const Cuda& on, const CsrView<Real, Offset, Device>& A)
    : state_(std::make_shared<State>(on, A)) {}

template <class Real, class Offset>
void WavefrontSweep<Real, Offset>::update_values() {
  state_->find();
}

template <class Real, class Offset>
void WavefrontSweep<Real, Offset>::sweep(Direction direction, const Real* b, Real* x, Real omega) const {
  state_->template run<Step::plain>(direction, b, x, omega);
}

template <class Real, class Offset>
void WavefrontSweep<Real, Offset>::pair(const Real* b, Real* x, Real omega) const {
  state_->template run<Step::keeping_t>(Direction::forward, b, x, omega);
  state_->template run<Step::from_t>(Direction::backward, b, x, omega);
}

template <class Real, class Offset>
void WavefrontSweep<Real, Offset>::pair_from_zero(const Real* b, Real* x, Real omega) const {
  state_->template run<Step::from_zero>(Direction::forward, b, x, omega);
  state_->template run<Step::from_t>(Direction::backward, b, x, omega);
}

template <class Real, class Offset>
std::int64_t WavefrontSweep<Real, Offset>::wavefronts() const {
  return std::max<std::int64_t>(state_->start.size() - 1, 0);
}

template <class Real, class Offset>
std::int64_t WavefrontSweep<Real, Offset>::bytes() const {
  const State& s = *state_;
  return s.rows.size() * std::int64_t(sizeof(Index)) + s.start.size() * 8 +
         s.diagonal.size() * std::int64_t(sizeof(Offset)) + 2 * s.t.size() * std::int64_t(sizeof(Real));
}

template class WavefrontSweep<double, std::int32_t>;
template class WavefrontSweep<double, std::int64_t>;
template class WavefrontSweep<float, std::int32_t>;
template class WavefrontSweep<float, std::int64_t>;

}  // namespace seidel::symgs_detail
