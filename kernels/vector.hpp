// A vector that carries its back end, so that solvers name none.
#pragma once
#include <seidel/formats/runtime/array.hpp>
#include <seidel/kernels/blas1/blas1.hpp>

namespace seidel {

/// n elements in the memory of back end B, zero at first. Movable; copies are made by copy().
template <class Real_, Backend B>
class Vector {
 public:
  using Real = Real_;
  using Space = typename B::Space;

  Vector(B on, std::int64_t n) : Vector(std::move(on), Array<Real, Space>(n)) { fill(on_, data_.span(), Real(0)); }
  Vector(B on, Array<Real, Space> data) : on_(std::move(on)), data_(std::move(data)) {
    blas1::reserve_sum(on_, data_.size());
  }

  const B& on() const { return on_; }
  std::int64_t size() const { return data_.size(); }
  Span<Real, Space> span() { return data_.span(); }
  Span<const Real, Space> span() const { return data_.span(); }

 private:
  B on_;
  Array<Real, Space> data_;
};

/// A zero vector of the same size on the same back end.
template <class Real, class B>
Vector<Real, B> like(const Vector<Real, B>& v) {
  return {v.on(), v.size()};
}

// As on spans (blas1/blas1.hpp): formulas, cost, errors.
template <class Real, class B>
void fill(Vector<Real, B>& x, std::type_identity_t<Real> value) {
  fill<B, Real>(x.on(), x.span(), value);
}
template <class Real, class B>
void copy(const Vector<Real, B>& x, Vector<Real, B>& y) {
  copy<B, Real>(x.on(), x.span(), y.span());
}
template <class Real, class B>
void axpy(std::type_identity_t<Real> a, const Vector<Real, B>& x, Vector<Real, B>& y) {
  axpy<B, Real>(x.on(), a, x.span(), y.span());
}
template <class Real, class B>
void axpby(std::type_identity_t<Real> a, const Vector<Real, B>& x, std::type_identity_t<Real> b, Vector<Real, B>& y) {
  axpby<B, Real>(x.on(), a, x.span(), b, y.span());
}
template <class Real, class B>
void xpby(const Vector<Real, B>& x, std::type_identity_t<Real> b, Vector<Real, B>& y) {
  xpby<B, Real>(x.on(), x.span(), b, y.span());
}
template <class Real, class B>
void multiply(const Vector<Real, B>& d, const Vector<Real, B>& x, Vector<Real, B>& y) {
  multiply<B, Real>(x.on(), d.span(), x.span(), y.span());
}
template <class Real, class B>
Real dot(const Vector<Real, B>& x, const Vector<Real, B>& y) {
  return dot<B, Real>(x.on(), x.span(), y.span());
}
template <class Real, class B>
Real norm2(const Vector<Real, B>& x) {
  return norm2<B, Real>(x.on(), x.span());
}
template <class Real, class B>
Real max_abs(const Vector<Real, B>& x) {
  return max_abs<B, Real>(x.on(), x.span());
}

}  // namespace seidel
