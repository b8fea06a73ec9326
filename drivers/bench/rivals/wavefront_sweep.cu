// Gauss-Seidel sweeps on the GPU, plainly. A wide wavefront is one launch. Narrow ones that follow each other share a
// launch of one block, with a barrier between them: tens of thousands of them would otherwise cost a launch each.
#include <algorithm>
#include <utility>

#include <seidel/drivers/bench/kernels/sweeps.hpp>
#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/kernels/cuda_sum.cuh>
#include <seidel/kernels/orders/orders.hpp>
#include <seidel/kernels/symgs/row.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::drivers {

namespace {

using namespace seidel::cuda;

constexpr int threads_of_wide = 256;
constexpr int narrow = 1024;  // rows that one block takes at once

/// What a sweep does at each row: the two halves of a pair, where the forward one leaves t = b - S(lower) to the
/// backward one; and the forward half from x = 0, where S(upper) is 0.
enum class Step { forward, forward_from_zero, backward };

using DeviceMatrix = CsrView<double, std::int32_t, Device>;

struct Rows {
  DeviceMatrix A;
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
__device__ Part lower_part(const DeviceMatrix& A, std::int64_t row, std::int32_t diagonal, const double* x) {
  const std::int32_t first = A.row_ptr[row];
  return {{A.col_idx.data() + first, A.values.data() + first, 1, x}, diagonal - first};
}
/// Entries right of it: descending columns.
__device__ Part upper_part(const DeviceMatrix& A, std::int64_t row, std::int32_t diagonal, const double* x) {
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
__device__ double part_sum(const auto& part_of, std::int64_t p, bool active) {
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
__device__ void sweep_rows(const Rows& of, std::int64_t first, std::int64_t last, const double* b, double* x) {
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
    sweep_wavefronts(const Rows of, const std::int64_t* start, std::int64_t wavefront, std::int64_t count,
                     int direction, const double* b, double* x) {
  for (; count > 0; --count, wavefront += direction) {
    sweep_rows<step>(of, start[wavefront], start[wavefront + 1], b, x);
    if (count > 1) __syncthreads();
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

/// What the rival keeps beside b and x.
struct Kept {
  DeviceMatrix A;
  Array<double, Device> guess;  // empty: from zero
  Array<Index, Device> rows;
  Array<std::int64_t, Device> start;
  Array<std::int32_t, Device> diagonal;
  Array<double, Device> reciprocal, t;
  std::vector<Launch> launches;

  /// Finds the wavefronts and the diagonal of each row.
  void analyse(const Cuda& on, const CsrView<double, std::int32_t, Host>& on_host) {
    const Wavefronts found = wavefronts(OpenMP{}, on_host);
    Array<std::int32_t> places(A.nrows);
    Array<double> reciprocals(A.nrows);
    for (Index p = 0; p < A.nrows; ++p) {
      places[p] = usable_diagonal(on_host, found.rows[p]);
      if (places[p] < 0) throw InputError("found a row that no sweep can use, expected a finite, nonzero diagonal");
      reciprocals[p] = 1 / on_host.values[places[p]];
    }
    rows = copied_to<Device>(on, found.rows.span());
    start = copied_to<Device>(on, HostSpan<const std::int64_t>(found.start.data(), std::int64_t(found.start.size())));
    diagonal = copied_to<Device>(on, std::as_const(places).span());
    reciprocal = copied_to<Device>(on, std::as_const(reciprocals).span());
    t = Array<double, Device>(on, A.nrows);
    launches = launches_for(found.start);
  }

  template <Step step>
  void sweep(const Cuda& on, const double* b, double* x) {
    const Rows of{A, rows.data(), diagonal.data(), reciprocal.data(), t.data()};
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

Prepared prepare(const SweepTask& task, const Where& where) {
  using On = Operands<Cuda, Kept>;
  require_one_column(task);
  const Cuda& cuda = *where.cuda;
  const auto o = std::make_shared<On>(task.b, where, task.of.A.nrows, Kept{});
  Kept& kept = o->kept;
  kept.A = csr_of(cuda, task.of), kept.guess = copied_to<Device>(cuda, task.guess.span());
  const double setup = seconds_to_make(cuda, [&] { kept.analyse(cuda, csr_of(OpenMP{1}, task.of)); });
  const std::int64_t bytes = 24 * kept.t.size() + 8 * kept.start.size();
  Prepared ready = prepared(o, setup, bytes, [](On& all) {
    const double* const b = all.x.data();
    double* const x = all.y.data();
    if (all.kept.guess.empty())
      all.kept.sweep<Step::forward_from_zero>(all.on, b, x);
    else
      all.kept.sweep<Step::forward>(all.on, b, x);
    all.kept.sweep<Step::backward>(all.on, b, x);
  });
  if (!task.guess.empty()) ready.poison = [o] { copy<Cuda, double>(o->on, o->kept.guess, o->y); };
  return ready;
}

}  // namespace

std::vector<Rival> wavefront_sweep_rivals() {
  std::vector<Rival> all;
  for (const Kernel* kernel : {&kernels::symgs, &kernels::symgs_guess})
    all.push_back({kernel, "csr", BackendName::cuda, "wavefronts", Role::exact,
                   "one launch per wide wavefront, one per run of narrow ones; analysed on the host", prepare});
  return all;
}

}  // namespace seidel::drivers
