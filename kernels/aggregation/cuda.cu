// The steps of aggregation on the GPU: a thread per row.
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/kernels/aggregation/instances.hpp>
#include <seidel/kernels/cuda_staged_rows.cuh>

namespace seidel::aggregation_detail {

template <class Offset, class OfRow>
void for_each_row(const Cuda& on, DeviceSpan<const Offset> row_ptr, const OfRow& of_row) {
  cuda::for_each(on, row_ptr.size() - 1, "a step of aggregation",
                 [of_row] __device__(std::int64_t i) { of_row(Index(i)); });
}

template <class Offset, class OfRow>
void for_each_row_of(const Cuda& on, const CsrView<double, Offset, Device>& A, const OfRow& of_row) {
  cuda::for_each_staged_row(on, A, "a step of aggregation", of_row);
}

namespace {

constexpr int entry_threads = 256;

/// Neighbouring lanes take neighbouring entries of the 32 rows of a warp, however short or long the rows are.
template <class Offset, class OfEntry>
__global__ void __launch_bounds__(entry_threads)
    each_entry(std::int64_t nrows, const Offset* row_ptr, const __grid_constant__ OfEntry of_entry) {
  using namespace cuda;
  const std::int64_t row = std::int64_t(blockIdx.x) * entry_threads + threadIdx.x, first = row - threadIdx.x % 32;
  if (first >= nrows) return;
  const Index end = warp_inclusive_sum(row < nrows ? Index(row_ptr[row + 1] - row_ptr[row]) : 0),  // of this lane's row
      total = __shfl_sync(whole_warp, end, warp_size - 1);
  for (Index base = 0; base < total; base += warp_size) {
    const Index at = base + lane();
    int r = 0;  // rows that end at `at` or before
    for (int by = warp_size / 2; by; by /= 2)
      if (__shfl_sync(whole_warp, end, r + by - 1) <= at) r += by;
    const Index before = __shfl_sync(whole_warp, end, r > 0 ? r - 1 : 0);
    if (at < total) of_entry(Index(first + r), (r > 0 ? at - before : at) + row_ptr[first + r]);
  }
}

}  // namespace

template <class Offset, class OfEntry>
void for_each_entry(const Cuda& on, DeviceSpan<const Offset> row_ptr, const OfEntry& of_entry) {
  const std::int64_t nrows = row_ptr.size() - 1;
  if (nrows > 0)
    cuda::launch(on, each_entry<Offset, OfEntry>, blocks_for(nrows, entry_threads), entry_threads,
                 "a step of aggregation", nrows, row_ptr.data(), of_entry);
}

template <class Of>
void for_each_of(const Cuda& on, std::int64_t n, const Of& of) {
  cuda::for_each(on, n, "a step of aggregation", [of] __device__(std::int64_t k) { of(k); });
}

template <class Offset, class OfRow>
bool any_row(const Cuda& on, DeviceSpan<const Offset> row_ptr, const OfRow& of_row) {
  const auto found = cuda::one_of<std::int32_t>(on, 0);
  cuda::for_each(on, row_ptr.size() - 1, "a step of aggregation",
                 [of_row, p = const_cast<std::int32_t*>(found.data())] __device__(std::int64_t i) {
                   if (of_row(Index(i))) *p = 1;  // whoever writes, writes the same
                 });
  return value_of(on, found.data()) != 0;
}

template void instances(const Cuda&, const std::int32_t*);
template void instances(const Cuda&, const std::int64_t*);

}  // namespace seidel::aggregation_detail
