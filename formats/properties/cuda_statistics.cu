// Row pointers looked at in the memory of the device.
#include <seidel/formats/properties/cuda_rows.cuh>
#include <seidel/formats/properties/lengths.hpp>

namespace seidel {

namespace properties_detail {

namespace {

/// A warp takes a slice of 32 rows, as each thread of look_at_groups() its row.
template <class Offset>
__global__ void look_at_slices(DeviceSpan<const Offset> row_ptr, Lengths* to) {
  Lengths seen;
  const std::int64_t nrows = row_ptr.size() - 1, step = std::int64_t(gridDim.x) * block_size;
  const std::int64_t thread = std::int64_t(blockIdx.x) * block_size + threadIdx.x;
  for (std::int64_t first = thread - lane(); first < nrows; first += step) {
    const std::int64_t row = first + lane();
    const Index length = row < nrows ? Index(row_ptr[row + 1] - row_ptr[row]) : 0;
    if (row < nrows) seen.row(row, length);
    const int width = __reduce_max_sync(whole_warp, length);
    if (lane() == 0) seen.sell_places += std::int64_t(rows_per_slice) * width;
  }
  join_block(seen, to + blockIdx.x);
}

}  // namespace

template <class Offset>
Lengths look_at_lengths(const Cuda& on, DeviceSpan<const Offset> row_ptr) {
  Scratch<Cuda> scratch(on);
  const int blocks = blocks_to_look(row_ptr.size() - 1);
  const auto seen = scratch.take<Lengths>(blocks + 1);
  look_at_slices<<<blocks, block_size, 0, on.stream()>>>(row_ptr, seen.data() + 1);
  check_launch("looking at row pointers");
  join_all<<<1, block_size, 0, on.stream()>>>(seen.data() + 1, blocks, seen.data());
  check_launch("joining what was seen");
  return value_of(on, seen.data());
}

}  // namespace properties_detail

template RowStatistics row_statistics(const Cuda&, DeviceSpan<const std::int32_t>, Index);
template RowStatistics row_statistics(const Cuda&, DeviceSpan<const std::int64_t>, Index);
template FormatBytes format_bytes(const Cuda&, DeviceSpan<const std::int32_t>, int);
template FormatBytes format_bytes(const Cuda&, DeviceSpan<const std::int64_t>, int);

}  // namespace seidel
