// The steps of aggregation on the GPU: a thread per row.
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/kernels/aggregation/instances.hpp>

namespace seidel::aggregation_detail {

template <class Offset, class OfRow>
void for_each_row(const Cuda& on, DeviceSpan<const Offset> row_ptr, const OfRow& of_row) {
  cuda::for_each(on, row_ptr.size() - 1, "a step of aggregation",
                 [of_row] __device__(std::int64_t i) { of_row(Index(i)); });
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
