// Values of a transpose fetched from the places that are known, on the GPU.
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/kernels/transpose/transpose.hpp>

namespace seidel::transpose_detail {

using cuda::for_each;

template <class Real, class Offset>
void gather(const Cuda& on, DeviceSpan<const Offset> place, DeviceSpan<const Real> from, DeviceSpan<Real> to) {
  // What is read or written once does not push the values out of the cache.
  for_each(on, to.size(), "fetching values of a transpose",
           [=] __device__(std::int64_t k) { __stcs(to.data() + k, from[__ldcs(place.data() + k)]); });
}

template <class Offset>
void number(const Cuda& on, DeviceSpan<Offset> place) {
  for_each(on, place.size(), "numbering entries", [=] __device__(std::int64_t k) { place[k] = Offset(k); });
}

template void gather(const Cuda&, DeviceSpan<const std::int32_t>, DeviceSpan<const double>, DeviceSpan<double>);
template void gather(const Cuda&, DeviceSpan<const std::int32_t>, DeviceSpan<const float>, DeviceSpan<float>);
template void gather(const Cuda&, DeviceSpan<const std::int64_t>, DeviceSpan<const double>, DeviceSpan<double>);
template void gather(const Cuda&, DeviceSpan<const std::int64_t>, DeviceSpan<const float>, DeviceSpan<float>);
template void gather(const Cuda&, DeviceSpan<const std::int32_t>, DeviceSpan<const Index>, DeviceSpan<Index>);
template void number(const Cuda&, DeviceSpan<std::int32_t>);
template void number(const Cuda&, DeviceSpan<std::int64_t>);

}  // namespace seidel::transpose_detail
