// Values of a transpose fetched from the places that are known, on the GPU.
#include <seidel/formats/instances.hpp>
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

/// Never called: names both functions, so that their code is emitted here.
void instances(const Cuda& on) {
  with_each_csr<Device>([&]<class Real, class Offset>(const CsrView<Real, Offset, Device>&, Real*) {
    gather<Real, Offset>(on, {}, {}, {}), number<Offset>(on, {});
  });
  gather<Index, std::int32_t>(on, {}, {}, {});
}

}  // namespace seidel::transpose_detail
