// Long rows found on the device and cut into pieces.
#include <algorithm>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/kernels/cuda_sum.cuh>
#include <seidel/kernels/spmv/long_rows.hpp>

namespace seidel::spmv_detail {

using namespace seidel::cuda;

namespace {

__device__ Index pieces_of(std::int64_t length) { return Index((length + sum_block - 1) / sum_block); }

/// Puts a row of more than 256 entries on the list.
__device__ void list_long_row(const LongRowsView& to, Index row, std::int64_t first, std::int64_t length) {
  const Index pieces = pieces_of(length), at = atomicAdd(&to.counts->long_pieces, pieces);
  if (pieces == 1) {
    to.pieces[at] = {.first = first, .length = std::int16_t(length), .to = row};
    return;
  }
  const Index slot = atomicAdd(&to.counts->slots, pieces);
  to.cut_rows[atomicAdd(&to.counts->cut_rows, 1)] = {row, slot, pieces};
  for (Index p = 0; p < pieces; ++p) {
    const std::int64_t rest = length - std::int64_t(p) * sum_block;
    to.pieces[at + p] = {.first = first + std::int64_t(p) * sum_block,
                         .length = std::int16_t(rest < sum_block ? rest : sum_block),
                         .to = ~(slot + p)};
  }
}

constexpr int turns = 6;  // so that rows that belong together by twos or threes stay together

/// A warp takes 6 times 32 rows, so that it counts itself in once.
template <class Offset>
__global__ void __launch_bounds__(256)
    list_rows(const Offset* row_ptr, Index nrows, int shortest, const __grid_constant__ LongRowsView to) {
  const int lane = threadIdx.x % warp_size;
  const std::int64_t begin =
      (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp_size * (turns * warp_size) + lane;
  std::int64_t first[turns], length[turns];
#pragma unroll
  for (int turn = 0; turn < turns; ++turn) {
    const std::int64_t row = begin + turn * warp_size;
    first[turn] = row < nrows ? row_ptr[row] : 0;
    length[turn] = row < nrows ? row_ptr[row + 1] - first[turn] : 0;
  }
  unsigned moderate[turns];  // which rows of the warp
  Index count = 0;
#pragma unroll
  for (int turn = 0; turn < turns; ++turn) {
    moderate[turn] = __ballot_sync(whole_warp, length[turn] > shortest && length[turn] <= moderate_row);
    count += __popc(moderate[turn]);
    if (length[turn] > moderate_row) list_long_row(to, Index(begin + turn * warp_size), first[turn], length[turn]);
  }
  if (count == 0) return;
  Index at = lane == 0 ? atomicAdd(&to.counts->moderate_pieces, count) : 0;
  at = __shfl_sync(whole_warp, at, 0);
  Piece* const back = to.pieces + to.room.pieces() - 1;
#pragma unroll
  for (int turn = 0; turn < turns; ++turn) {
    if (moderate[turn] >> lane & 1)
      back[-(at + __popc(moderate[turn] & ((1u << lane) - 1)))] = {
          .first = first[turn], .length = std::int16_t(length[turn]), .to = Index(begin + turn * warp_size)};
    at += __popc(moderate[turn]);
  }
}

}  // namespace

template <class Offset>
RowSurvey survey_rows(const Cuda& on, DeviceSpan<const Offset> row_ptr) {
  const std::int64_t nrows = row_ptr.size() - 1, parts = std::min<std::int64_t>(nrows, 1 << 15);
  Array<RowSurvey, Device> survey(on, 1);
  set_bytes(on, survey.span(), 0);
  for_each(on, parts, "counting long rows", [=, all = survey.data()] __device__(std::int64_t part) {
    RowSurvey mine;
    LongRowCounts& counts = mine.long_rows;
    for (std::int64_t i = part; i < nrows; i += parts) {
      const std::int64_t length = row_ptr[i + 1] - row_ptr[i];
      if (i + 1 < nrows) mine.variation += std::abs(row_ptr[i + 2] - row_ptr[i + 1] - length);
      if (length <= short_sum) continue;
      if (length <= moderate_row) {
        ++counts.moderate_pieces;
        continue;
      }
      const Index pieces = pieces_of(length);
      counts.long_pieces += pieces;
      if (pieces > 1) ++counts.cut_rows, counts.slots += pieces;
    }
    if (mine.variation) atomicAdd(&all->variation, mine.variation);
    if (counts.moderate_pieces) atomicAdd(&all->long_rows.moderate_pieces, counts.moderate_pieces);
    if (counts.long_pieces) atomicAdd(&all->long_rows.long_pieces, counts.long_pieces);
    if (counts.cut_rows)
      atomicAdd(&all->long_rows.cut_rows, counts.cut_rows), atomicAdd(&all->long_rows.slots, counts.slots);
  });
  return value_of(on, survey.data());
}

template <class Offset>
void list_long_rows(const Cuda& on, DeviceSpan<const Offset> row_ptr, int shortest, const LongRowsView& to) {
  cuda_check(cudaMemsetAsync(to.counts, 0, sizeof(LongRowCounts), on.stream()), "clearing counters");
  const Index nrows = Index(row_ptr.size() - 1);
  if (nrows == 0) return;
  launch(on, list_rows<Offset>, blocks_for((nrows + std::int64_t(turns) - 1) / turns, 256), 256, "listing long rows",
         row_ptr.data(), nrows, shortest, to);
}

/// Never called: names both functions, so that their code is emitted here.
void instances_of_lists(const Cuda& on, const LongRowsView& to) {
  with_each_offset<Device>([&](const auto& row_ptr) { survey_rows(on, row_ptr), list_long_rows(on, row_ptr, 0, to); });
}

}  // namespace seidel::spmv_detail
