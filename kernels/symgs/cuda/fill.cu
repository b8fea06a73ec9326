// Analysis, last step, and the only one for new values: the entries of A go into the streams of both triangles.
#include <seidel/kernels/symgs/cuda/analysis.cuh>
#include <seidel/kernels/symgs/cuda/colour_parts.cuh>

namespace seidel::symgs_detail::device {

namespace {

template <class Real, class Offset>
struct Filling {
  CsrView<Real, Offset, Device> A;
  const Index *row_of_place, *place_of_row;
  std::byte* stream[2];  // of both triangles
  const Item* items[2];
  const Index* first_item[2];
  Index slices;
  int node;
  bool dense;
  Findings* found;

  __device__ Item item_of(int h, Index s) const { return items[h][first_item[h][h == 0 ? s : slices - 1 - s]]; }
};

/// One lane of a slice: `count` entries, the first at `entry` and on in steps of `step`.
template <class Real, class Offset>
__device__ bool fill_lane(const Filling<Real, Offset>& F, const LaneEntries<Real, int>& to, bool with_columns,
                          int width, Offset entry, int step, int count) {
  constexpr int group = 4;
  bool finite = true;
  const Slots slots(width, count);
  for (int u = count; u < width; ++u) {
    const int slot = slots.of(u);
    if (with_columns) to.columns[slot * to.step] = no_column;
    to.values[slot * to.stride] = 0;
  }
  for (int u = 0; u < count; u += group) {  // a group's loads are under way together
    Real v[group];
    Index c[group];
#pragma unroll
    for (int k = 0; k < group; ++k) {
      const Offset e = entry + (u + k) * step;
      if (u + k < count) v[k] = __ldg(F.A.values.data() + e);
      if (with_columns && u + k < count) c[k] = __ldg(F.A.col_idx.data() + e);
    }
    if (with_columns)
#pragma unroll
      for (int k = 0; k < group; ++k)
        if (u + k < count) c[k] = __ldg(F.place_of_row + c[k]);
#pragma unroll
    for (int k = 0; k < group; ++k)
      if (u + k < count) {
        const int slot = slots.of(u + k);
        if (with_columns) to.columns[slot * to.step] = c[k] - to.base;
        to.values[slot * to.stride] = v[k];
        finite &= is_finite(v[k]);
      }
  }
  return finite;
}

template <bool with_columns, class Real, class Offset>
__device__ void fill_slice(const Filling<Real, Offset>& F, const Item (&item)[2], int lane) {
  if (lane >= item[0].rows()) return;
  const Index row = F.row_of_place[item[0].place + lane];
  Offset diagonal = 0, last = 0;
  int count[2] = {0, 0};
  const int rank = lane % F.node, after = F.node - 1 - rank;  // rows of the node before and after this one
  Real reciprocal = 0;
  bool finite = true;
  if (row >= 0) {
    diagonal = diagonal_of(F.A, row);
    last = F.A.row_ptr[row + 1];
    count[0] = int(diagonal - F.A.row_ptr[row]) - rank;
    count[1] = int(last - 1 - diagonal) - after;
    const Real pivot = F.A.values[diagonal];
    reciprocal = 1 / pivot;
    finite = is_finite(pivot) && is_finite(reciprocal);
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int width = item[h].width();
    const LaneEntries<Real, int> to(F.stream[h], item[h], lane, F.dense ? item[h].rows() : lanes);
    const bool writes_columns = with_columns && (item[h].kind() != Kind::runs || (item[h].watch >> lane & 1));
    const Offset entry = h == 0 ? diagonal - rank - count[0] : last - 1;
    finite &= fill_lane(F, to, writes_columns, width, entry, h == 0 ? 1 : -1, count[h]);
    Real* inner = to.values + width * to.stride;
    *inner = reciprocal;
    for (int q = 0; q < F.node - 1; ++q) {  // to the node's q-th row in the order of the sweep
      const bool before = row >= 0 && q < (h == 0 ? rank : after);
      const Real v = before ? F.A.values[diagonal + (h == 0 ? q - rank : after - q)] : 0;
      inner[(q + 1) * to.stride] = v;
      finite &= is_finite(v);
    }
  }
  if (!finite) atomicMin(&F.found->bad_row, row);
}

/// A long row: its terms follow each other, 32 to a warp's step, in blocks of 2048.
template <bool with_columns, class Real, class Offset>
__device__ void fill_row(const Filling<Real, Offset>& F, const Item (&item)[2], Index place, int lane) {
  const Index row = F.row_of_place[place];
  const Offset diagonal = diagonal_of(F.A, row), first = F.A.row_ptr[row], last = F.A.row_ptr[row + 1];
  const Real pivot = F.A.values[diagonal], reciprocal = 1 / pivot;
  bool finite = is_finite(pivot) && is_finite(reciprocal);
  for (int h = 0; h < 2; ++h) {
    const std::int64_t terms = h == 0 ? diagonal - first : last - 1 - diagonal;
    unsigned at = item[h].at;
    for (std::int64_t begin = 0; begin < terms; begin += sum_block) {
      const int in_block = int(terms - begin < sum_block ? terms - begin : sum_block),
                steps = (in_block + lanes - 1) / lanes;
      const auto to = entries_at<Real>(F.stream[h], at, steps);
      for (int k = lane; k < steps * lanes; k += lanes) {
        const Offset e = h == 0 ? first + Offset(begin + k) : last - 1 - Offset(begin + k);
        const Real v = k < in_block ? F.A.values[e] : 0;
        finite &= is_finite(v);
        to.values[k] = v;
        if (with_columns) to.columns[k] = k < in_block ? F.place_of_row[F.A.col_idx[e]] : -1;
      }
      at += terms_units<Real>(in_block);
    }
    if (lane == 0) *reinterpret_cast<Real*>(F.stream[h] + std::int64_t(at) * unit_bytes) = reciprocal;
  }
  if (!finite) atomicMin(&F.found->bad_row, row);
}

template <bool with_columns, class Real, class Offset>
__global__ void fill_streams(const Filling<Real, Offset> F, const Index* slice_place) {
  const std::int64_t s = (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
  const int lane = threadIdx.x % lanes;
  if (s >= F.slices) return;
  const Item item[2] = {F.item_of(0, Index(s)), F.item_of(1, Index(s))};
  if (item[0].kind() <= Kind::runs)
    fill_slice<with_columns>(F, item, lane);
  else
    fill_row<with_columns>(F, item, slice_place[s], lane);
}

}  // namespace

template <class Real, class Offset>
void fill(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Index* place_of_row, Findings* findings,
          Plan<Real>& plan) {
  auto& [lower, upper] = plan.half;
  const Filling<Real, Offset> F{.A = A,
                                .row_of_place = plan.row_of_place.data(),
                                .place_of_row = place_of_row,
                                .stream = {lower.stream.data(), upper.stream.data()},
                                .items = {lower.items.data(), upper.items.data()},
                                .first_item = {lower.first_item.data(), upper.first_item.data()},
                                .slices = plan.slices,
                                .node = plan.node,
                                .dense = plan.dense,
                                .found = findings};
  const auto kernel = place_of_row ? fill_streams<true, Real, Offset> : fill_streams<false, Real, Offset>;
  launch_over(on, std::int64_t(plan.slices) * lanes, kernel, "filling the triangles", F, plan.slice_place.data());
}

template void fill(const Cuda&, const CsrView<double, std::int32_t, Device>&, const Index*, Findings*, Plan<double>&);
template void fill(const Cuda&, const CsrView<double, std::int64_t, Device>&, const Index*, Findings*, Plan<double>&);
template void fill(const Cuda&, const CsrView<float, std::int32_t, Device>&, const Index*, Findings*, Plan<float>&);
template void fill(const Cuda&, const CsrView<float, std::int64_t, Device>&, const Index*, Findings*, Plan<float>&);

}  // namespace seidel::symgs_detail::device
