// Analysis, third step: rows stably sorted by wavefront and put into slices of 32 lanes.
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/symgs/cuda/analysis.cuh>
#include <seidel/kernels/symgs/cuda/device.cuh>

namespace seidel::symgs_detail::device {

namespace {

/// From this padding on slices are stored without gaps: then most wavefronts have fewer than eight rows.
constexpr std::int64_t max_padding = 4;

SEIDEL_HD bool is_long(std::int64_t c, int classes_per_wavefront) { return classes_per_wavefront > 1 && c % 2 == 1; }

}  // namespace

template <class Offset>
SortedRows order_rows(const Cuda& on, const Pattern<Offset>& A, const Index* lower,
                      const Array<Index, Device>& wavefront, Findings* findings, SweepOrder& rows) {
  const Index units = Index(wavefront.size());
  const int node = rows.node, per_wavefront = rows.has_long ? 2 : 1;
  SortedRows order;
  order.classes_per_wavefront = per_wavefront;
  const std::int64_t classes64 = std::int64_t(rows.nwavefronts) * per_wavefront;
  const Index classes = Index(classes64);
  if (classes64 > std::int64_t(1) << 30)
    throw ResourceError("Gauss-Seidel on the GPU: " + std::to_string(rows.nwavefronts) +
                        " wavefronts are more than its order can hold\n  sweep by colours, or on the host");

  cuda::Pairs<Index> sorted(on, units);
  cuda::for_each(on, units, "making sort keys",
                 [=, wavefront = wavefront.data(), key = sorted.key[0].data(),
                  unit = sorted.payload[0].data()] __device__(std::int64_t u) {
                   unit[u] = Index(u);
                   key[u] = wavefront[u] * per_wavefront;
                   if (per_wavefront == 1) return;  // otherwise a unit is a row
                   const Offset left = lower[u], right = A.row_ptr[u + 1] - A.row_ptr[u] - 1 - left;
                   key[u] += left > short_sum || right > short_sum;
                 });
  cuda::sort_pairs(on, sorted, units, classes);
  order.key = std::move(sorted.key[0]);
  order.unit = std::move(sorted.payload[0]);

  order.class_start = Array<Index, Device>(on, classes + 1);
  Array<Index, Device> first_slice(on, classes + 1);  // of each class
  const Index *const key = order.key.data(), *const unit = order.unit.data();
  Index *const start = order.class_start.data(), *const slice = first_slice.data();
  cuda::for_each(on, std::int64_t(units) + 1, "finding wavefronts' rows", [=] __device__(std::int64_t p) {
    const Index last = p < units ? key[p] : classes;
    for (Index c = p > 0 ? key[p - 1] + 1 : 0; c <= last; ++c) start[c] = Index(p);
  });
  cuda::for_each(on, std::int64_t(classes) + 1, "counting slices", [=] __device__(std::int64_t c) {
    slice[c] = c < classes ? ceil_div(start[c + 1] - start[c], is_long(c, per_wavefront) ? 1 : lanes / node) : 0;
  });
  exclusive_sum(on, first_slice.span());
  rows.slices = value_of(on, slice + classes);
  const std::int64_t padded = std::int64_t(rows.slices) * lanes;
  const bool too_many = padded > std::numeric_limits<Index>::max() - lanes;
  rows.dense = node == 1 && !rows.wide && (rows.has_long || padded > max_padding * rows.nrows || too_many);
  if (too_many && !rows.packed())
    throw ResourceError("Gauss-Seidel on the GPU: " + std::to_string(padded) +
                        " places are more than 32 bits count\n  sweep by colours, or on the host");
  rows.places = rows.packed() ? rows.nrows : Index(padded);
  if (rows.wide) {  // then a wavefront has one class
    rows.first_slice.resize(classes + 1);
    copy_bytes(on, Host{}, rows.first_slice.data(), Device{}, slice, (classes + 1) * std::int64_t(sizeof(Index)));
  }

  order.place_of_row = Array<Index, Device>(on, rows.nrows);
  order.slice_position = Array<Index, Device>(on, rows.slices + 1);
  rows.row_of_place = Array<Index, Device>(on, rows.places);
  rows.slice_place = Array<Index, Device>(on, rows.slices + 1);
  if (!rows.packed()) set_bytes(on, rows.row_of_place.span(), 0xff);
  cuda::for_each(on, units, "placing rows",
                 [=, packed = rows.packed(), slices = rows.slices, places = rows.places, moved = &findings->moved,
                  place_of_row = order.place_of_row.data(), slice_position = order.slice_position.data(),
                  row_of_place = rows.row_of_place.data(),
                  slice_place = rows.slice_place.data()] __device__(std::int64_t position) {
                   const Index p = Index(position), c = key[p], of_class = p - start[c],
                               per_slice = is_long(c, per_wavefront) ? 1 : lanes / node;
                   const Index s = slice[c] + of_class / per_slice, row = unit[p] * node;
                   const Index place = packed ? p : s * lanes + of_class % per_slice * node;  // packed: a unit is a row
                   for (int r = 0; r < node; ++r) {
                     place_of_row[row + r] = place + r;
                     row_of_place[place + r] = row + r;
                   }
                   if (place != row) *(volatile unsigned*)moved = 1;
                   if (of_class % per_slice == 0) slice_place[s] = place, slice_position[s] = p;
                   if (p == 0) slice_place[slices] = places, slice_position[slices] = units;
                 });
  rows.as_it_stands = rows.wide && value_of(on, &findings->moved) == 0;
  return order;
}

template SortedRows order_rows(const Cuda&, const Pattern<std::int32_t>&, const Index*, const Array<Index, Device>&,
                               Findings*, SweepOrder&);
template SortedRows order_rows(const Cuda&, const Pattern<std::int64_t>&, const Index*, const Array<Index, Device>&,
                               Findings*, SweepOrder&);

}  // namespace seidel::symgs_detail::device
