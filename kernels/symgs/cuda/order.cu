// Analysis, third step: rows stably sorted by wavefront and put into slices of 32 lanes.
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/symgs/cuda/analysis.cuh>

#include <seidel/kernels/symgs/cuda/device.cuh>

namespace seidel::symgs_detail::device {

namespace {

/// From this padding on slices are stored without gaps: then most wavefronts have fewer than eight rows.
constexpr std::int64_t max_padding = 4;

template <class Offset>
__global__ void make_keys(Pattern<Offset> A, const Index* lower, const Index* wavefront, Index units, int classes,
                          Index* key, Index* unit) {
  const Index u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= units) return;
  unit[u] = u;
  Index k = wavefront[u] * classes;
  if (classes > 1) {  // then a unit is a row
    const Index left = lower[u];
    const auto right = A.row_ptr[u + 1] - A.row_ptr[u] - 1 - left;
    k += left > short_sum || right > short_sum;
  }
  key[u] = k;
}

__global__ void find_class_starts(const Index* key, Index units, Index classes, Index* start) {
  const std::int64_t p = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (p > units) return;
  const Index last = p < units ? key[p] : classes;
  for (Index k = p > 0 ? key[p - 1] + 1 : 0; k <= last; ++k) start[k] = Index(p);
}

SEIDEL_HD bool is_long(Index k, int classes_per_wavefront) { return classes_per_wavefront > 1 && k % 2 == 1; }

__global__ void add_padded_places(const Index* start, Index classes, int per_wavefront, int node,
                                  unsigned long long* places) {
  const std::int64_t k = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned long long mine = 0;
  if (k < classes) mine = padded_places(start[k + 1] - start[k], is_long(Index(k), per_wavefront), node);
  for (int by = lanes / 2; by; by /= 2) mine += __shfl_down_sync(whole_warp, mine, by);
  if (threadIdx.x % lanes == 0 && mine) atomicAdd(places, mine);
}

__global__ void count_slices(const Index* start, Index classes, int per_wavefront, int node, Index* slices,
                             Index* place_groups) {
  const std::int64_t k = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k > classes) return;
  slices[k] = place_groups[k] = 0;
  if (k == classes) return;
  const bool long_rows = is_long(Index(k), per_wavefront);
  slices[k] = slices_of(start[k + 1] - start[k], long_rows, node);
  place_groups[k] = Index(padded_places(start[k + 1] - start[k], long_rows, node) / lanes);
}

struct Seats {
  const Index *key, *unit, *start, *slice, *place_group;
  Index units, slices, places;
  int per_wavefront, node;
  bool packed;
  Index *place_of_row, *row_of_place, *slice_place, *slice_position;
  unsigned* moved;  // some row is not at its own place
};
__global__ void take_seats(const Seats S) {
  const Index p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= S.units) return;
  const Index k = S.key[p];
  const Class c{S.start[k], S.start[k + 1], S.slice[k], S.packed ? S.start[k] : S.place_group[k] * lanes};
  const Seat seat = seat_of(c, p, is_long(k, S.per_wavefront), S.node);
  const Index row = S.unit[p] * S.node;
  for (int r = 0; r < S.node; ++r) {
    S.place_of_row[row + r] = seat.place + r;
    S.row_of_place[seat.place + r] = row + r;
    if (seat.place != row) *(volatile unsigned*)S.moved = 1;
  }
  if (seat.first) S.slice_place[seat.slice] = seat.place, S.slice_position[seat.slice] = p;
  if (p == 0) S.slice_place[S.slices] = S.places, S.slice_position[S.slices] = S.units;
}

/// The places of vectors whose order became A's by new_to_old.
__global__ void compose(const Index* new_to_old, const Index* place_in_A, Index nrows, const Index* row_in_A,
                        Index places, Index* place_of_row, Index* row_of_place) {
  const Index k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < nrows) place_of_row[new_to_old[k]] = place_in_A[k];
  if (k < places) row_of_place[k] = row_in_A[k] >= 0 ? new_to_old[row_in_A[k]] : -1;
}

}  // namespace

void compose_orders(const Cuda& on, Span<const Index, Device> new_to_old, Span<const Index, Device> row_in_A,
                    Array<Index, Device>& place_of_row, Span<Index, Device> row_of_place) {
  const Index nrows = Index(place_of_row.size()), places = Index(row_in_A.size());
  const Array<Index, Device> place_in_A = std::exchange(place_of_row, Array<Index, Device>(on, nrows));
  launch_over(on, std::max(places, nrows), compose, "composing orders", new_to_old.data(), place_in_A.data(), nrows,
              row_in_A.data(), places, place_of_row.data(), row_of_place.data());
}

template <class Offset>
Order order_rows(const Cuda& on, const Pattern<Offset>& A, const Index* lower, const Array<Index, Device>& wavefront,
                 Findings* findings, Arrangement& rows) {
  const Index units = Index(wavefront.size());
  Order order;
  order.classes_per_wavefront = rows.has_long ? 2 : 1;
  const std::int64_t classes64 = std::int64_t(rows.nwavefronts) * order.classes_per_wavefront;
  const Index classes = Index(classes64);
  if (classes64 > std::int64_t(1) << 30)
    throw ResourceError("Gauss-Seidel on the GPU: " + std::to_string(rows.nwavefronts) +
                        " wavefronts are more than its order can hold\n  sweep by colours, or on the host");

  cuda::Pairs<Index> sorted(on, units);
  launch_over(on, units, make_keys<Offset>, "making sort keys", A, lower, wavefront.data(), units,
              order.classes_per_wavefront, sorted.key[0].data(), sorted.payload[0].data());
  cuda::sort_pairs(on, sorted, units, classes);
  order.key = std::move(sorted.key[0]);
  order.unit = std::move(sorted.payload[0]);

  order.class_start = Array<Index, Device>(on, classes + 1);
  Index* const start = order.class_start.data();
  launch_over(on, std::int64_t(units) + 1, find_class_starts, "finding wavefronts' rows", order.key.data(), units,
              classes, start);
  launch_over(on, classes, add_padded_places, "counting places", start, classes, order.classes_per_wavefront, rows.node,
              &findings->places);
  const std::int64_t padded = std::int64_t(value_of(on, &findings->places));
  const bool too_many = padded > std::numeric_limits<Index>::max() - lanes;
  rows.dense = rows.node == 1 && !rows.wide && (rows.has_long || padded > max_padding * rows.nrows || too_many);
  if (too_many && !rows.packed())
    throw ResourceError("Gauss-Seidel on the GPU: " + std::to_string(padded) +
                        " places are more than 32 bits count\n  sweep by colours, or on the host");
  rows.places = rows.packed() ? rows.nrows : Index(padded);

  Array<Index, Device> slice(on, classes + 1), place_group(on, classes + 1);
  launch_over(on, std::int64_t(classes) + 1, count_slices, "counting slices", start, classes,
              order.classes_per_wavefront, rows.node, slice.data(), place_group.data());
  exclusive_sum(on, slice.span());
  exclusive_sum(on, place_group.span());
  rows.slices = value_of(on, slice.data() + classes);
  if (rows.wide) {  // then a wavefront has one class
    rows.first_slice.resize(classes + 1);
    copy_bytes(on, Host{}, rows.first_slice.data(), Device{}, slice.data(),
               (classes + 1) * std::int64_t(sizeof(Index)));
  }

  order.place_of_row = Array<Index, Device>(on, rows.nrows);
  order.slice_position = Array<Index, Device>(on, rows.slices + 1);
  rows.row_of_place = Array<Index, Device>(on, rows.places);
  rows.slice_place = Array<Index, Device>(on, rows.slices + 1);
  if (!rows.packed()) set_bytes(on, rows.row_of_place.span(), 0xff);
  const Seats seats{.key = order.key.data(),
                    .unit = order.unit.data(),
                    .start = start,
                    .slice = slice.data(),
                    .place_group = place_group.data(),
                    .units = units,
                    .slices = rows.slices,
                    .places = rows.places,
                    .per_wavefront = order.classes_per_wavefront,
                    .node = rows.node,
                    .packed = rows.packed(),
                    .place_of_row = order.place_of_row.data(),
                    .row_of_place = rows.row_of_place.data(),
                    .slice_place = rows.slice_place.data(),
                    .slice_position = order.slice_position.data(),
                    .moved = &findings->moved};
  launch_over(on, units, take_seats, "seating rows", seats);
  rows.as_it_stands = rows.wide && value_of(on, &findings->moved) == 0;
  return order;
}

template Order order_rows(const Cuda&, const Pattern<std::int32_t>&, const Index*, const Array<Index, Device>&,
                          Findings*, Arrangement&);
template Order order_rows(const Cuda&, const Pattern<std::int64_t>&, const Index*, const Array<Index, Device>&,
                          Findings*, Arrangement&);

}  // namespace seidel::symgs_detail::device
