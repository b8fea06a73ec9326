// CUB, the baseline of scans on a GPU.
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>

namespace seidel::drivers {

namespace {

using Memory = Array<std::byte, Device>;
using On = Operands<Cuda, Memory, std::int32_t, std::int64_t>;

/// Sums in 64 bits, as the offsets are. With no memory it says how many `bytes` it needs.
void scan(On& o, void* memory, std::size_t& bytes) {
  cuda_check(cub::DeviceScan::ExclusiveScan(memory, bytes, o.x.data(), o.y.data(), ::cuda::std::plus<std::int64_t>{},
                                            std::int64_t(0), o.x.size(), o.on.stream()),
             "CUB's scan");
}

Prepared prepare(const ScanTask& task, const Where& where) {
  auto o = std::make_shared<On>(task.counts, where, task.counts.size(), Memory{});
  std::size_t bytes = 0;
  scan(*o, nullptr, bytes);
  bytes = std::max<std::size_t>(bytes, 1);
  o->kept = Memory(o->on, std::int64_t(bytes));
  return prepared(o, 0, std::int64_t(bytes), [bytes](On& all) {
    std::size_t size = bytes;
    scan(all, all.kept.data(), size);
  });
}

}  // namespace

std::vector<Rival> cub_scan_rivals() {
  return {{&kernels::scan, "array", BackendName::cuda, "cub", Role::baseline, "cub::DeviceScan", prepare}};
}

}  // namespace seidel::drivers
