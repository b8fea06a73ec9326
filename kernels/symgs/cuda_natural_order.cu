// Analysis, third step: rows stably sorted by wavefront and put into slices of 32 lanes.
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/symgs/cuda_natural_analysis.hpp>

#include <seidel/kernels/symgs/cuda_natural_device.cuh>

namespace seidel::symgs_detail::natural {

namespace {

/// Padding from which wavefronts share slices: then most have fewer than eight rows.
constexpr std::int64_t max_padding_before = 4;

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

/// Where the run of classes that share slices may begin: at a class, if there are no such runs; else at a long one and
/// after it, and the runs follow by the largest so far.
__global__ void mark_runs(const Index* start, Index classes, int per_wavefront, bool mixed, Index* run) {
  const std::int64_t k = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= classes) return;
  bool begins = !mixed || k == 0;
  if (is_long(Index(k), per_wavefront)) begins |= start[k + 1] > start[k];
  if (k > 0 && is_long(Index(k - 1), per_wavefront)) begins |= start[k] > start[k - 1];
  run[k] = begins ? start[k] : 0;
}

__global__ void count_slices(const Index* start, const Index* run, Index classes, int per_wavefront, int node,
                             Index* slices, Index* place_groups) {
  const std::int64_t k = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k > classes) return;
  slices[k] = place_groups[k] = 0;
  if (k == classes) return;
  const Class c{start[k], start[k + 1], run[k], 0, 0};
  const bool long_rows = is_long(Index(k), per_wavefront);
  slices[k] = slices_begun(c, long_rows, node);
  place_groups[k] = Index(padded_places(c.last - c.first, long_rows, node) / lanes);
}

struct Seats {
  const Index *key, *unit, *start, *run, *slice, *place_group;
  Index units, slices, places;
  int per_wavefront, node;
  bool mixed, packed;
  Index *place_of_row, *row_of_place, *slice_place, *slice_position;
  unsigned* moved;  // some row is not at its own place
};
__global__ void take_seats(const Seats S) {
  const Index p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= S.units) return;
  const Index k = S.key[p];
  const Class c{S.start[k], S.start[k + 1], S.run[k], S.slice[k], S.packed ? S.start[k] : S.place_group[k] * lanes};
  const Seat seat = seat_of(c, p, is_long(k, S.per_wavefront), S.mixed, S.node);
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

Array<Index, Device> compose_orders(const Cuda& on, Span<const Index, Device> new_to_old,
                                    Span<const Index, Device> row_in_A, Array<Index, Device>& place_of_row) {
  const Index nrows = Index(place_of_row.size()), places = Index(row_in_A.size());
  const Array<Index, Device> place_in_A = std::exchange(place_of_row, Array<Index, Device>(nrows));
  Array<Index, Device> row_of_place(places);
  launch_over(on, std::max(places, nrows), compose, "composing orders", new_to_old.data(), place_in_A.data(), nrows,
              row_in_A.data(), places, place_of_row.data(), row_of_place.data());
  on.synchronize();  // place_in_A goes now
  return row_of_place;
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
                        " wavefronts are more than its order can hold\n  take --order colours, or --backend openmp");

  convert_detail::Pairs<Index> sorted(on, units);
  launch_over(on, units, make_keys<Offset>, "making sort keys", A, lower, wavefront.data(), units,
              order.classes_per_wavefront, sorted.key[0].data(), sorted.payload[0].data());
  convert_detail::sort_pairs(on, sorted, units, classes);
  order.key = std::move(sorted.key[0]);
  order.unit = std::move(sorted.payload[0]);

  order.class_start = Array<Index, Device>(classes + 1);
  Index* const start = order.class_start.data();
  launch_over(on, std::int64_t(units) + 1, find_class_starts, "finding wavefronts' rows", order.key.data(), units,
              classes, start);
  launch_over(on, classes, add_padded_places, "counting places", start, classes, order.classes_per_wavefront, rows.node,
              &findings->places);
  const std::int64_t padded = std::int64_t(value_of(on, &findings->places));
  const bool too_many = padded > std::numeric_limits<Index>::max() - lanes;
  rows.mixed = rows.node == 1 && !rows.wide && (padded > max_padding_before * rows.nrows || too_many);
  rows.packed = rows.mixed || rows.wide;
  if (too_many && !rows.packed)
    throw ResourceError("Gauss-Seidel on the GPU: " + std::to_string(padded) +
                        " places are more than 32 bits count\n  take --order colours, or --backend openmp");
  rows.places = rows.packed ? rows.nrows : Index(padded);

  Array<Index, Device> run(classes), slice(classes + 1), place_group(classes + 1);
  launch_over(on, classes, mark_runs, "marking runs", start, classes, order.classes_per_wavefront, rows.mixed,
              run.data());
  if (rows.mixed) convert_detail::inclusive_max(on, run.span());
  launch_over(on, std::int64_t(classes) + 1, count_slices, "counting slices", start, run.data(), classes,
              order.classes_per_wavefront, rows.node, slice.data(), place_group.data());
  exclusive_sum(on, slice.span());
  exclusive_sum(on, place_group.span());
  rows.slices = value_of(on, slice.data() + classes);
  if (rows.wide) {  // then a wavefront has one class
    rows.first_slice.resize(classes + 1);
    copy_bytes(Host{}, rows.first_slice.data(), Device{}, slice.data(), (classes + 1) * std::int64_t(sizeof(Index)));
  }

  order.place_of_row = Array<Index, Device>(rows.nrows);
  order.slice_position = Array<Index, Device>(rows.slices + 1);
  rows.row_of_place = Array<Index, Device>(rows.places);
  rows.slice_place = Array<Index, Device>(rows.slices + 1);
  if (!rows.packed) set_bytes(on, rows.row_of_place.span(), 0xff);
  const Seats seats{order.key.data(),
                    order.unit.data(),
                    start,
                    run.data(),
                    slice.data(),
                    place_group.data(),
                    units,
                    rows.slices,
                    rows.places,
                    order.classes_per_wavefront,
                    rows.node,
                    rows.mixed,
                    rows.packed,
                    order.place_of_row.data(),
                    rows.row_of_place.data(),
                    rows.slice_place.data(),
                    order.slice_position.data(),
                    &findings->moved};
  launch_over(on, units, take_seats, "seating rows", seats);
  rows.as_it_stands = rows.wide && value_of(on, &findings->moved) == 0;
  on.synchronize();  // arrays of this step go now
  return order;
}

template Order order_rows(const Cuda&, const Pattern<std::int32_t>&, const Index*, const Array<Index, Device>&,
                          Findings*, Arrangement&);
template Order order_rows(const Cuda&, const Pattern<std::int64_t>&, const Index*, const Array<Index, Device>&,
                          Findings*, Arrangement&);

}  // namespace seidel::symgs_detail::natural
