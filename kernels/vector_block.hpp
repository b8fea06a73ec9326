// Vectors of one size, side by side in memory, so that what is done with all of them is one pass.
#pragma once
#include <vector>

#include <seidel/kernels/vector.hpp>

namespace seidel {

/// `count` vectors like `model`, zero at first; each can be used as a Vector.
template <class Real, Backend B>
class VectorBlock {
 public:
  VectorBlock(const Vector<Real, B>& model, std::int64_t count)
      : stride_((model.size() + alignment - 1) / alignment * alignment), data_(model.on(), stride_ * count) {
    blas1::reserve_sums(model.on(), model.size(), count + 1);
    vectors_.reserve(std::size_t(count));
    for (std::int64_t k = 0; k < count; ++k) {
      vectors_.emplace_back(model.on(), data_.span().subspan(k * stride_, model.size()));
      fill(vectors_.back(), Real(0));
    }
  }

  Vector<Real, B>& operator[](std::size_t k) { return vectors_[k]; }
  const Vector<Real, B>& operator[](std::size_t k) const { return vectors_[k]; }
  /// Its first k vectors.
  blas1::Columns<Real> first(std::size_t k) const {
    return {data_.data(), stride_, vectors_.empty() ? 0 : vectors_[0].size(), std::int64_t(k)};
  }

 private:
  static constexpr std::int64_t alignment = 256 / sizeof(Real);  // of device memory

  std::int64_t stride_;
  Array<Real, SpaceOf<B>> data_;
  std::vector<Vector<Real, B>> vectors_;
};

/// A block of zero vectors of the same size on the same back end.
template <class Real, class B>
VectorBlock<Real, B> block_like(const Vector<Real, B>& v, std::size_t count) {
  return {v, std::int64_t(count)};
}

/// h_i = v_i'w for the first k vectors of the block; returns ||w||. h has room for k + 1 numbers.
/// Cost    reads these vectors once, w once for each 8 of them or less; synchronises on Cuda once, more often where entries
///         of w are extreme.
/// Errors  ShapeError.
template <class Real, class B>
Real project(const VectorBlock<Real, B>& v, std::size_t k, const Vector<Real, B>& w, Real* h) {
  blas1::require_equal_sizes(v.first(k).n, w.size(), "project");
  blas1::project(w.on(), v.first(k), w.span().data(), h);
  return norm2_of(w).finished(h[k]);
}

/// w += c_0 v_0 + ... + c_(k-1) v_(k-1), each product added by a fused multiply-add, in this order.
/// Cost    reads these vectors and w once, writes w.
/// Errors  ShapeError.
template <class Real, class B>
void add_combination(const VectorBlock<Real, B>& v, std::size_t k, const Real* c, Vector<Real, B>& w) {
  blas1::require_equal_sizes(v.first(k).n, w.size(), "add_combination");
  blas1::add_combination(w.on(), v.first(k), Real(1), c, Real(1), w.span().data());
}

/// w = scale (w - c_0 v_0 - ... - c_(k-1) v_(k-1)), as add_combination.
template <class Real, class B>
void subtract_combination(const VectorBlock<Real, B>& v, std::size_t k, const Real* c, std::type_identity_t<Real> scale,
                          Vector<Real, B>& w) {
  blas1::require_equal_sizes(v.first(k).n, w.size(), "subtract_combination");
  blas1::add_combination(w.on(), v.first(k), Real(-1), c, scale, w.span().data());
}

}  // namespace seidel
