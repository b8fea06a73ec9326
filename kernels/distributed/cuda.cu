// What runs once per row or entry, on the GPU: a thread each.
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/kernels/distributed/instances.hpp>

namespace seidel::distributed_detail {

template <class Of>
void for_each_of(const Cuda& on, std::int64_t n, const Of& of) {
  cuda::for_each(on, n, "rows of a process", [of] __device__(std::int64_t k) { of(k); });
}

template void instances(const Cuda&, const Processes&, const std::int32_t*);
template void instances(const Cuda&, const Processes&, const std::int64_t*);

}  // namespace seidel::distributed_detail
