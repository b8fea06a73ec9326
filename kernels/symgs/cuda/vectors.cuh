// What a thread has of a row: a number where a sweep is of one right-hand side, four where it is of strips of eight.
#pragma once
#include <seidel/kernels/cuda_sum.cuh>
#include <seidel/kernels/symgs/cuda/device.cuh>
#include <seidel/kernels/symgs/row.hpp>

namespace seidel::symgs_detail::device {

inline constexpr int strip_columns = 8;
inline constexpr int max_strips = 4;  // at once: so many share each entry of A, and each wait for a wavefront
/// Rows of a slice that go to a warp, where two lanes share a row and no node is split; warps that a slice takes.
SEIDEL_HD inline int strip_rows(int node) { return lanes / 2 / node * node; }
SEIDEL_HD inline int strip_warps(int node) { return ceil_div(lanes / node * node, strip_rows(node)); }

/// Four of a strip's columns, each with the arithmetic of one.
template <class Real>
struct Four {
  Real at[4];
};
template <class Real, class Function>
__device__ Four<Real> four_of(const Function& f) {
  return {f(0), f(1), f(2), f(3)};
}
template <class Real>
__device__ Four<Real> operator+(const Four<Real>& a, const Four<Real>& b) {
  return four_of<Real>([&](int e) { return a.at[e] + b.at[e]; });
}
template <class Real>
__device__ Four<Real> operator-(const Four<Real>& a, const Four<Real>& b) {
  return four_of<Real>([&](int e) { return a.at[e] - b.at[e]; });
}
template <class Real>
__device__ Four<Real> operator*(const Four<Real>& a, Real b) {
  return four_of<Real>([&](int e) { return a.at[e] * b; });
}
using seidel::swept;
template <class Real>
__device__ Four<Real> swept(const Four<Real>& t, const Four<Real>& upper, Real reciprocal, Real omega,
                            const Four<Real>& old) {
  return four_of<Real>([&](int e) { return seidel::swept(t.at[e], upper.at[e], reciprocal, omega, old.at[e]); });
}
template <class Real>
__device__ Real fused(Real a, Real b, Real sum) {
  return std::fma(a, b, sum);
}
template <class Real>
__device__ Four<Real> fused(Real a, const Four<Real>& b, const Four<Real>& sum) {
  return four_of<Real>([&](int e) { return std::fma(a, b.at[e], sum.at[e]); });
}

__device__ inline double from_lane(double v, int lane) { return __shfl_sync(whole_warp, v, lane); }
__device__ inline float from_lane(float v, int lane) { return __shfl_sync(whole_warp, v, lane); }
template <class Real>
__device__ Four<Real> from_lane(const Four<Real>& v, int lane) {
  return four_of<Real>([&](int e) { return from_lane(v.at[e], lane); });
}

template <class Real>
using Two = std::conditional_t<sizeof(Real) == 8, double2, float2>;

/// One right-hand side: a vector has an entry a place.
template <class Scalar>
struct Single {
  using Real = Scalar;
  using Value = Real;
  static constexpr int lanes_per_row = 1;

  __device__ static Single part(int, int, int) { return {}; }
  __device__ const Real* of_first_column(const Real* v, Index place) const { return v + place; }
  __device__ static Value everywhere(Real v) { return v; }
  __device__ static bool is_unset(Value v) { return Unset<Real>::is(v); }
  __device__ Value load(const Real* v, Index place) const { return v[place]; }
  __device__ Value load_once(const Real* v, Index place) const { return __ldcs(v + place); }
  __device__ void store_once(Real* v, Index place, Value to) const { __stcs(v + place, to); }
  __device__ Value look(const Real* v, Index place) const { return peek(v + place); }
  __device__ void set(Real* v, Index place, Value to) const { put(v + place, to); }
  /// Stores what others may await; returns what is there then.
  __device__ Value give(Real* v, Index place, Value to) const { return publish(v + place, to); }
  /// From the lane whose row is `rows` later.
  __device__ Value shuffle(Value v, int rows) const { return __shfl_sync(whole_warp, v, int(threadIdx.x) + rows); }
  __device__ Value right_side(const Real* b, Index row, std::int64_t, std::int64_t, int) const {
    return load_kept(b + row);
  }
};

/// Eight right-hand sides: a vector has eight entries a place for each strip. Two lanes share a row of a strip, one has
/// columns 0, 1, 4, 5, the other 2, 3, 6, 7, so that together they ask for a whole sector of 32 bytes at a time.
template <class Scalar>
struct Strip {
  using Real = Scalar;
  using Value = Four<Real>;
  static constexpr int lanes_per_row = 2;
  int first, columns;  // this lane's first column, of all that there are

  __device__ static Strip part(int half, int strip, int strips) {
    return {strip_columns * strip + 2 * half, strip_columns * strips};
  }
  __device__ const Real* of_first_column(const Real* v, Index place) const {
    return v + std::int64_t(place) * columns + first;
  }
  __device__ static Value everywhere(Real v) { return {v, v, v, v}; }
  __device__ static bool is_unset(const Value& v) {
    using U = Unset<Real>;
    return U::is(v.at[0]) || U::is(v.at[1]) || U::is(v.at[2]) || U::is(v.at[3]);
  }
  __device__ Value load(const Real* v, Index place) const {
    const auto p = at(v, place);
    return {p[0].x, p[0].y, p[2].x, p[2].y};
  }
  __device__ Value load_once(const Real* v, Index place) const {
    const auto a = __ldcs(at(v, place)), b = __ldcs(at(v, place) + 2);
    return {a.x, a.y, b.x, b.y};
  }
  __device__ void store_once(Real* v, Index place, const Value& to) const {
    __stcs(at(v, place), {to.at[0], to.at[1]}), __stcs(at(v, place) + 2, {to.at[2], to.at[3]});
  }
  __device__ Value look(const Real* v, Index place) const {
    const auto a = peek(at(v, place)), b = peek(at(v, place) + 2);
    return {a.x, a.y, b.x, b.y};
  }
  __device__ void set(Real* v, Index place, const Value& to) const {
    put(at(v, place), {to.at[0], to.at[1]}), put(at(v, place) + 2, {to.at[2], to.at[3]});
  }
  __device__ Value give(Real* v, Index place, Value to) const {
    for (Real& one : to.at)
      if (Unset<Real>::is(one)) one = Real(NAN);
    set(v, place, to);
    return to;
  }
  __device__ Value shuffle(const Value& v, int rows) const {
    return four_of<Real>(
        [&](int e) { return __shfl_sync(whole_warp, v.at[e], int(threadIdx.x) + rows * lanes_per_row); });
  }
  /// `there`: columns that b has; the others are 0.
  __device__ Value right_side(const Real* b, Index row, std::int64_t row_step, std::int64_t column_step,
                              int there) const {
    return four_of<Real>(
        [&](int e) { return column(e) < there ? load_kept(b + row * row_step + column(e) * column_step) : Real(0); });
  }
  __device__ int column(int e) const { return first + e / 2 * 4 + e % 2; }

 private:
  __device__ const Two<Real>* at(const Real* v, Index place) const {
    return reinterpret_cast<const Two<Real>*>(of_first_column(v, place));
  }
  __device__ Two<Real>* at(Real* v, Index place) const {
    return reinterpret_cast<Two<Real>*>(v + std::int64_t(place) * columns + first);
  }
};

}  // namespace seidel::symgs_detail::device
