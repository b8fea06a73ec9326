// A build without CUDA measures no GPU.
#include <seidel/drivers/bench/machine.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {
[[noreturn]] void refuse() { throw BackendError(cuda_unavailable_because()); }
}  // namespace

double cuda_seconds_of(const Cuda&, const std::function<void()>&) { refuse(); }
void flush_device_cache(const Cuda&) { refuse(); }
std::int64_t device_cache_bytes() { refuse(); }
Streams device_streams(const Cuda&) { refuse(); }

}  // namespace seidel::drivers
