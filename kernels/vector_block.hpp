// Vectors of one size, side by side in memory, so that what is done with all of them is one pass.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <seidel/formats/multivector.hpp>
#include <seidel/kernels/vector.hpp>

namespace seidel {

/// `count` vectors like `model`, zero at first; each can be used as a Vector.
template <class Real, Backend B>
class VectorBlock {
 public:
  VectorBlock(const Vector<Real, B>& model, std::int64_t count)
      : stride_((model.size() + alignment - 1) / alignment * alignment), data_(model.on(), stride_ * count) {
    blas1::reserve_sums(model.on(), model.size(),
                        std::max(count + 1, 2 * std::min<std::int64_t>(count, blas1::passes_at_once)));
    vectors_.reserve(std::size_t(count));
    for (std::int64_t k = 0; k < count; ++k) {
      vectors_.emplace_back(model.on(), data_.span().subspan(k * stride_, model.size()));
      fill(vectors_.back(), Real(0));
    }
  }

  Vector<Real, B>& operator[](std::size_t k) { return vectors_[k]; }
  const Vector<Real, B>& operator[](std::size_t k) const { return vectors_[k]; }
  /// Its first k vectors.
  blas1::Columns<Real> first(std::size_t k) const { return {data_.data(), stride_, size(), std::int64_t(k)}; }
  /// `count` of its vectors, from `first` on.
  MultiVectorView<const Real, SpaceOf<B>> columns(std::size_t first, std::size_t count) const {
    return {size(), std::int64_t(count), stride_, Layout::column_major, data_.data() + std::int64_t(first) * stride_};
  }
  MultiVectorView<Real, SpaceOf<B>> columns(std::size_t first, std::size_t count) {
    return {size(), std::int64_t(count), stride_, Layout::column_major, data_.data() + std::int64_t(first) * stride_};
  }

 private:
  std::int64_t size() const { return vectors_.empty() ? 0 : vectors_[0].size(); }
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

namespace vector_detail {
/// Runs pass(j) for the vectors j of `which`, and gives its sums to take(j, sums).
template <class Real, class B, class MakePass, class Take>
void run_passes(const VectorBlock<Real, B>& like, std::span<const int> which, const MakePass& pass, const Take& take) {
  using Pass = decltype(pass(0));
  constexpr std::size_t most = blas1::passes_at_once;
  for (std::size_t base = 0; base < which.size(); base += most) {
    const auto some = which.subspan(base, std::min(most, which.size() - base));
    std::array<Pass, most> passes;
    std::array<Real, most * Pass::nsums> sums;
    for (std::size_t p = 0; p < some.size(); ++p) passes[p] = pass(some[p]);
    blas1::run_passes(like[0].on(), like[0].size(), passes.data(), int(some.size()), sums.data());
    for (std::size_t p = 0; p < some.size(); ++p) take(some[p], &sums[p * Pass::nsums]);
  }
}
}  // namespace vector_detail

// What vectors of several blocks need at the same time, each as it would be alone. `which` are places in the blocks, as j is;
// what is returned stands at result[j].
//
// Cost    of each vector as in vector.hpp; together they synchronise on Cuda once for each 16 vectors, more often where entries
//         are extreme.

/// x_j'y_j.
template <class Real, class B>
void dots(const VectorBlock<Real, B>& x, const VectorBlock<Real, B>& y, std::span<const int> which, Real* result) {
  vector_detail::run_passes(
      x, which, [&](int j) { return blas1::Dots<Real, 1>{{x[j].span().data()}, {y[j].span().data()}}; },
      [&](int j, const Real* sums) { result[j] = sums[0]; });
}

/// ||x_j|| and x_j'y_j.
template <class Real, class B>
void norms2_and_dots(const VectorBlock<Real, B>& x, const VectorBlock<Real, B>& y, std::span<const int> which,
                     Real* norm, Real* dot) {
  vector_detail::run_passes(
      x, which,
      [&](int j) {
        const Real* const of_x = x[j].span().data();
        return blas1::Dots<Real, 2>{{of_x, of_x}, {of_x, y[j].span().data()}};
      },
      [&](int j, const Real* sums) { norm[j] = norm2_of(x[j]).finished(sums[0]), dot[j] = sums[1]; });
}

/// y_j += a_j x_j, z_j = d y_j (entry by entry); ||y_j|| and y_j'z_j.
template <class Real, class B>
void axpy_multiply_norms2_and_dots(const Real* a, const VectorBlock<Real, B>& x, VectorBlock<Real, B>& y,
                                   const Vector<Real, B>& d, VectorBlock<Real, B>& z, std::span<const int> which,
                                   Real* norm, Real* dot) {
  vector_detail::run_passes(
      x, which,
      [&](int j) {
        return blas1::AxpyMultiplySums<Real>{a[j], x[j].span().data(), y[j].span().data(), d.span().data(),
                                             z[j].span().data()};
      },
      [&](int j, const Real* sums) { norm[j] = norm2_of(y[j]).finished(sums[0]), dot[j] = sums[1]; });
}

}  // namespace seidel
