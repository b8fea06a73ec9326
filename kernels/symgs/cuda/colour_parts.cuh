// Rows of up to 128 terms that a lane sums alone, in slices where some row has more than 64: those are added as a
// warp's lanes would add them.
#pragma once
#include <seidel/kernels/symgs/cuda/slices.cuh>

namespace seidel::symgs_detail::device {

inline constexpr int max_in_parts = 4 * lanes;
inline constexpr int pairs_of_parts = lanes / 2;  // parts l and l + 16, the first that are added
inline constexpr int max_of_pair = max_in_parts / pairs_of_parts;
/// Pairs come in such an order that few of the tree's sums wait: by l with its four bits reversed.
__device__ constexpr int part_of(int pair) {
  return (pair & 1) << 3 | (pair & 2) << 1 | (pair & 4) >> 1 | (pair & 8) >> 3;
}

/// Where the terms of a row stand among its slice's `width` slots; those from `count` on are slots that hold nothing.
/// In a slice of more than 64 terms the slots are in the order in which pairs of parts take them; a row that has no
/// more than 64 is added from left to right, so that its terms come first and in order.
struct Slots {
  int width, count;
  unsigned longer = 0;  // pairs that have one slot more than others

  __device__ Slots(int width, int count) : width(width), count(count) {
    for (int i = 0; i < pairs_of_parts; ++i) longer |= unsigned(part_of(i) < width % pairs_of_parts) << i;
  }
  __device__ int of(int term) const {
    if (width <= short_sum) return term < count ? term + width - count : term - count;
    if (count <= short_sum) return term;
    const int pair = part_of(term % pairs_of_parts);
    return pair * (width / pairs_of_parts) + __popc(longer & ((1u << pair) - 1)) + term / pairs_of_parts;
  }
};

/// A lane's row in a slice of more than 64 slots, at most 16 `most`, summed with an x that is all there.
template <class Columns, int most>
class RowInParts {
  using Real = typename Columns::Real;
  using Value = typename Columns::Value;

 public:
  /// Asks for the first entries.
  __device__ RowInParts(const LaneEntries<const Real>& A, int width, bool active)
      : A_(A), width_(width), active_(active) {
    take(0);
  }
  __device__ Value sum(const Columns& strip, const Real* x) {
    Value waiting[5], in_order{};
    int terms = 0;
#pragma unroll
    for (int pair = 0; pair < pairs_of_parts; ++pair) {
      Index c[most];
      Real v[most];
      Value g[most], s[2] = {};
#pragma unroll
      for (int k = 0; k < most; ++k) c[k] = c_[k], v[k] = v_[k];
      if (pair + 1 < pairs_of_parts) take(pair + 1);  // under way while these are added
#pragma unroll
      for (int k = 0; k < most; ++k) g[k] = c[k] >= 0 ? strip.load(x, c[k]) : Value{};
#pragma unroll
      for (int k = 0; k < most; ++k)
        if (c[k] >= 0) {
          s[k % 2] = fused(v[k], g[k], s[k % 2]);
          in_order = fused(v[k], g[k], in_order);
          ++terms;
        }
      Value sum = s[0] + s[1];
      int level = 0;
#pragma unroll
      for (int bits = pair; bits & 1; bits >>= 1) sum = waiting[level++] + sum;
      waiting[level] = sum;
    }
    return terms > short_sum ? waiting[4] : in_order;
  }

 private:
  __device__ void take(int pair) {
    const int slots = (width_ - part_of(pair) + pairs_of_parts - 1) / pairs_of_parts;
#pragma unroll
    for (int k = 0; k < most; ++k) c_[k] = active_ && k < slots ? A_.column(slot_ + k) : no_column;
#pragma unroll
    for (int k = 0; k < most; ++k) v_[k] = active_ && k < slots ? A_.value(slot_ + k) : Real(0);
    slot_ += slots;
  }

  const LaneEntries<const Real>& A_;
  int width_, slot_ = 0;
  bool active_;
  Index c_[most];
  Real v_[most];
};

}  // namespace seidel::symgs_detail::device
