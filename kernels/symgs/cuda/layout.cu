// Analysis, fourth step: the size and place of each slice's entries in both triangles, and what each warp does.
#include <seidel/kernels/symgs/cuda/analysis.cuh>
#include <seidel/kernels/symgs/cuda/device.cuh>

namespace seidel::symgs_detail::device {

namespace {

/// Sizes of one triangle's slices in the order of its sweep.
struct Sizes {
  Index* width;    // entries per lane; of a long row, its terms
  Index* items;    // then the first item
  Index* units;    // then the first unit
  unsigned* runs;  // lanes of a slice that begin one; if each wavefront has a launch
};

template <class Offset>
struct Slices {
  Pattern<Offset> A;
  const Index* lower;
  const Index *row_of_place, *place_of_row, *slice_place, *slice_position, *unit, *class_start, *key;
  Index slices, nwavefronts;
  int node, per_wavefront;
  bool dense, packed, wide;

  __device__ bool has_long_row(Index s) const { return per_wavefront > 1 && key[slice_position[s]] % 2 == 1; }
  __device__ int lanes_of(Index s, bool long_row) const {
    return long_row ? 1 : packed ? slice_place[s + 1] - slice_place[s] : lanes;
  }
  /// Whether the row at `place` has its columns in triangle h as far away as the row before it has them.
  __device__ bool repeats(Index place, int h) const {
    const Index row = row_of_place[place], before = row_of_place[place - 1];
    const Offset first = A.row_ptr[row] + (h ? lower[row] + 1 : 0), last = h ? A.row_ptr[row + 1] : first + lower[row];
    const Offset other = A.row_ptr[before] + (h ? lower[before] + 1 : 0),
                 end = h ? A.row_ptr[before + 1] : other + lower[before];
    bool same = last - first == end - other;
    const Offset count = same ? last - first : 0;
#pragma unroll 4
    for (Offset k = 0; k < count; ++k)
      same &= place_of_row[A.col_idx[first + k]] - place_of_row[A.col_idx[other + k]] == 1;
    return same;
  }
};

/// Lists of columns that a slice keeps.
__device__ int lists_of(unsigned runs) { return __popc(runs) <= max_runs ? __popc(runs) : lanes; }

template <class Real, class Offset>
__global__ void measure_slices(const Slices<Offset> S, Sizes forward, Sizes backward, Findings* found) {
  const std::int64_t s = (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
  const int lane = threadIdx.x % lanes;
  if (s > S.slices) return;
  if (s == S.slices) {  // the scans end here
    if (lane == 0) forward.items[s] = backward.items[s] = 0, forward.units[s] = backward.units[s] = 0;
    return;
  }
  const bool long_row = S.has_long_row(Index(s));
  Index terms[2] = {0, 0};
  if (lane < S.lanes_of(Index(s), long_row)) {
    const Index row = S.row_of_place[S.slice_place[s] + lane];
    if (row >= 0) {
      const int rank = lane % S.node;
      const Index left = S.lower[row];
      terms[0] = left - rank;
      terms[1] = Index(S.A.row_ptr[row + 1] - S.A.row_ptr[row] - 1 - left) - (S.node - 1 - rank);
    }
  }
  for (int h = 0; h < 2; ++h) {
    const Sizes& to = h == 0 ? forward : backward;
    const std::int64_t at = h == 0 ? s : S.slices - 1 - s;
    int lists = lanes;
    if (S.wide) {
      const bool begins = lane < S.lanes_of(Index(s), false) && (lane == 0 || !S.repeats(S.slice_place[s] + lane, h));
      const unsigned runs = __ballot_sync(whole_warp, begins);
      lists = lists_of(runs);
      if (lane == 0) to.runs[at] = runs;
    }
    Index width = terms[h];
    for (int by = lanes / 2; by; by /= 2) {
      const Index other = __shfl_xor_sync(whole_warp, width, by);
      if (other > width) width = other;
    }
    if (lane != 0) continue;
    to.width[at] = width;
    to.items[at] = long_row ? row_items(width) : 1;
    const int stride = S.dense ? S.lanes_of(Index(s), long_row) : lanes;
    if (S.dense) lists = stride;
    to.units[at] = Index(long_row ? row_units<Real>(width) : slice_units<Real>(width, S.node, lists, stride));
    if (!long_row && width > peek(&found->slice_width[h])) atomicMax(&found->slice_width[h], width);
    if (long_row && width > sum_block) atomicAdd(&found->sums[h], (unsigned long long)blocks_of(width));
  }
}

/// Place of the row that slice s awaits before all else, or -1: `distance` wavefronts before it, and as far along.
template <class Offset>
__device__ Index watched(const Slices<Offset>& S, Index s, bool backward, float distance) {
  const Index p = backward ? S.slice_position[s + 1] - 1 : S.slice_position[s];
  const Index mine = S.key[p] / S.per_wavefront;
  const auto start = [&](Index w) { return S.class_start[std::int64_t(w) * S.per_wavefront]; };
  const auto size = [&](Index w) { return float(start(w + 1) - start(w)); };
  const float along = (float(p - start(mine)) + 0.5f) / size(mine) + (backward ? distance : -distance);
  const float whole = floorf(along);
  const std::int64_t other = mine + std::int64_t(whole);
  if (other < 0 || other >= S.nwavefronts) return -1;
  Index q = start(Index(other)) + Index((along - whole) * size(Index(other)));
  if (q >= start(Index(other) + 1)) q = start(Index(other) + 1) - 1;
  return S.place_of_row[S.unit[q] * S.node + (backward ? 0 : S.node - 1)];
}

template <class Real, class Offset>
__global__ void list_items(const Slices<Offset> S, bool backward, const Sizes sizes, float distance,
                           unsigned long long* sums, Item* items) {
  const Index at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= S.slices) return;
  const Index s = backward ? S.slices - 1 - at : at, place = S.slice_place[s], width = sizes.width[at];
  const unsigned runs = S.wide ? sizes.runs[at] : 0;
  const bool in_runs = S.wide && lists_of(runs) < lanes;
  const Index watch = in_runs ? Index(runs) : watched(S, s, backward, distance);
  unsigned unit = unsigned(sizes.units[at]);
  Item* to = items + sizes.items[at];
  if (!S.has_long_row(s)) {
    *to = {unit, place, watch, shape_of(in_runs ? Kind::runs : Kind::slice, S.lanes_of(s, false), width)};
  } else if (width <= sum_block) {
    *to = {unit, place, watch, shape_of(Kind::row, 1, width)};
  } else {
    const int blocks = blocks_of(width);
    const Index first = Index(atomicAdd(sums, (unsigned long long)blocks));
    for (int b = 0; b < blocks; ++b) {
      const int terms = width - b * sum_block < sum_block ? width - b * sum_block : sum_block;
      *to++ = {unit, first + b, watch, shape_of(Kind::block, 1, terms)};
      unit += terms_units<Real>(terms);
    }
    *to = {unit, place, first, shape_of(Kind::blocked_row, 1, blocks)};
  }
}

/// `width`: of slices in the order of the sweep.
std::vector<Index> widest_of_wavefronts(const Cuda& on, const Array<Index, Device>& width, bool backward,
                                        const std::vector<Index>& first) {
  auto here = copied_to<Host>(on, width.span());
  if (backward) std::reverse(here.begin(), here.end());
  std::vector<Index> widest;
  for (std::size_t w = 0; w + 1 < first.size(); ++w)
    widest.push_back(*std::max_element(here.begin() + first[w], here.begin() + first[w + 1]));
  return widest;
}

}  // namespace

template <class Real, class Offset>
void lay_out(const Cuda& on, const Pattern<Offset>& A, const Index* lower, const SortedRows& order, float distance,
             Findings* findings, Plan<Real>& plan) {
  const Index slices = plan.slices;
  const Slices<Offset> S{.A = A,
                         .lower = lower,
                         .row_of_place = plan.row_of_place.data(),
                         .place_of_row = order.place_of_row.data(),
                         .slice_place = plan.slice_place.data(),
                         .slice_position = order.slice_position.data(),
                         .unit = order.unit.data(),
                         .class_start = order.class_start.data(),
                         .key = order.key.data(),
                         .slices = slices,
                         .nwavefronts = plan.nwavefronts,
                         .node = plan.node,
                         .per_wavefront = order.classes_per_wavefront,
                         .dense = plan.dense,
                         .packed = plan.packed(),
                         .wide = plan.wide};
  Array<Index, Device> width[2] = {Array<Index, Device>(on, slices), Array<Index, Device>(on, slices)};
  Array<Index, Device> units[2] = {Array<Index, Device>(on, slices + 1), Array<Index, Device>(on, slices + 1)};
  const Index with_runs = plan.wide ? slices : 0;
  Array<unsigned, Device> runs[2] = {Array<unsigned, Device>(on, with_runs), Array<unsigned, Device>(on, with_runs)};
  for (auto& half : plan.half) half.first_item = Array<Index, Device>(on, slices + 1);
  const auto sizes = [&](int h) {
    return Sizes{width[h].data(), plan.half[h].first_item.data(), units[h].data(), runs[h].data()};
  };
  launch_over(on, (std::int64_t(slices) + 1) * lanes, measure_slices<Real, Offset>, "measuring slices", S, sizes(0),
              sizes(1), findings);
  for (int h = 0; h < 2; ++h) {
    exclusive_sum(on, plan.half[h].first_item.span());
    exclusive_sum(on, units[h].span());
  }
  const Findings found = value_of(on, findings);
  set_bytes(on, Span<unsigned long long, Device>(findings->sums, 2), 0);  // now they number the sums
  for (int h = 0; h < 2; ++h) {
    Triangle<Real>& half = plan.half[h];
    half.width = found.slice_width[h];
    if (plan.in_parts) half.widths = widest_of_wavefronts(on, width[h], h == 1, plan.first_slice);
    half.stream_bytes = std::int64_t(value_of(on, units[h].data() + slices)) * unit_bytes;
    half.items = Array<Item, Device>(on, value_of(on, half.first_item.data() + slices));
    half.sums = Array<Real, Device>(on, std::int64_t(found.sums[h]));
    launch_over(on, slices, list_items<Real, Offset>, "listing items", S, h == 1, sizes(h), distance,
                &findings->sums[h], half.items.data());
  }
}

template void lay_out(const Cuda&, const Pattern<std::int32_t>&, const Index*, const SortedRows&, float, Findings*,
                      Plan<double>&);
template void lay_out(const Cuda&, const Pattern<std::int64_t>&, const Index*, const SortedRows&, float, Findings*,
                      Plan<double>&);
template void lay_out(const Cuda&, const Pattern<std::int32_t>&, const Index*, const SortedRows&, float, Findings*,
                      Plan<float>&);
template void lay_out(const Cuda&, const Pattern<std::int64_t>&, const Index*, const SortedRows&, float, Findings*,
                      Plan<float>&);

}  // namespace seidel::symgs_detail::device
