// Gauss-Seidel sweeps on a GPU in the plainest way: one launch per wavefront, a thread for each of its rows.
#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/kernels/orders/orders.hpp>

namespace seidel::drivers {

namespace {

constexpr int threads = 256;
using DeviceMatrix = CsrView<double, std::int32_t, Device>;

/// Rows of which none needs another: each is solved for its own entry of x, with what the others hold now.
__global__ void __launch_bounds__(threads)
    sweep_wavefront(DeviceMatrix A, const Index* rows, std::int64_t nrows, const double* b, double* x) {
  const std::int64_t place = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  if (place >= nrows) return;
  const Index i = rows[place];
  double rest = b[i], diagonal = 0;
  for (std::int32_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
    if (const Index j = A.col_idx[k]; j == i)
      diagonal = A.values[k];
    else
      rest = std::fma(-A.values[k], x[j], rest);
  x[i] = rest / diagonal;
}

/// What the rival keeps beside b and x.
struct Kept {
  DeviceMatrix A;
  Array<double, Device> guess;  // empty: from zero
  Array<Index, Device> rows;    // by wavefront
  std::vector<std::int64_t> start;
};
using On = Operands<Cuda, Kept>;

void sweep(On& o, std::size_t wavefront) {
  const std::int64_t first = o.kept.start[wavefront], nrows = o.kept.start[wavefront + 1] - first;
  cuda::launch(o.on, sweep_wavefront, blocks_for(nrows, threads), threads, "a Gauss-Seidel sweep", o.kept.A,
               o.kept.rows.data() + first, nrows, o.x.data(), o.y.data());
}

void pair(On& o) {
  const std::size_t nwavefronts = o.kept.start.size() - 1;
  if (o.kept.guess.empty()) fill<Cuda, double>(o.on, o.y, 0.0);
  for (std::size_t w = 0; w < nwavefronts; ++w) sweep(o, w);
  for (std::size_t w = nwavefronts; w-- > 0;) sweep(o, w);
}

Prepared prepare(const SweepTask& task, const Where& where) {
  require_one_column(task);
  const Cuda& cuda = *where.cuda;
  const auto o = std::make_shared<On>(task.b, where, task.of.A.nrows, Kept{});
  Kept& kept = o->kept;
  kept.A = csr_of(cuda, task.of), kept.guess = copied_to<Device>(cuda, task.guess.span());
  const double setup = seconds_to_make(cuda, [&] {
    const Wavefronts found = wavefronts(csr_of(OpenMP{1}, task.of));
    kept.rows = copied_to<Device>(cuda, found.rows.span()), kept.start = found.start;
  });
  Prepared ready = prepared(o, setup, 4 * kept.rows.size(), pair);
  if (!task.guess.empty()) ready.poison = [o] { copy<Cuda, double>(o->on, o->kept.guess, o->y); };
  return ready;
}

}  // namespace

std::vector<Rival> wavefront_sweep_rivals() {
  std::vector<Rival> all;
  for (const Kernel* kernel : {&kernels::symgs, &kernels::symgs_guess})
    all.push_back({kernel, "csr", BackendName::cuda, "wavefronts", Role::rounded,
                   "one launch per wavefront, a thread per row; analysed on the host", prepare});
  return all;
}

}  // namespace seidel::drivers
