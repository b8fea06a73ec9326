// A vector that carries its back end, so that solvers name none.
#pragma once
#include <array>
#include <tuple>

#include <seidel/formats/runtime/array.hpp>
#include <seidel/kernels/blas1/blas1.hpp>
#include <seidel/kernels/blas1/lanczos.hpp>

namespace seidel {

/// What is taken beside the elements of a vector.
HaloRoom halo_room(const auto&) { return {}; }
template <Backend B>
HaloRoom halo_room(const Distributed<B>& on) {
  return on.rows().room;
}

/// n elements in the memory of back end B. Movable; copies are made by copy().
template <class Real_, Backend B>
class Vector {
 public:
  using Real = Real_;
  using Space = typename B::Space;

  /// Zeros.
  Vector(B on, std::int64_t n)
      : on_(std::move(on)),
        room_(halo_room(on_)),
        data_(on_, room_.before + n + room_.after),
        span_(data_.span().subspan(room_.before, n)) {
    blas1::reserve_sums(on_, n);
    fill(on_, span_, Real(0));
  }
  Vector(B on, Array<Real, Space> data) : Vector(std::move(on), data.span()) { data_ = std::move(data); }
  /// Views elements that somebody else owns, and that must outlive this.
  Vector(B on, Span<Real, Space> view) : on_(std::move(on)), span_(view) { blas1::reserve_sums(on_, span_.size()); }

  const B& on() const { return on_; }
  std::int64_t size() const { return span_.size(); }
  Span<Real, Space> span() { return span_; }
  Span<const Real, Space> span() const { return span_; }
  /// What there is beside the elements.
  const HaloRoom& room() const { return room_; }

 private:
  B on_;
  HaloRoom room_;
  Array<Real, Space> data_;  // empty where the elements are somebody else's
  Span<Real, Space> span_;
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
/// The number of elements of all processes; v.size() is that of those here.
std::int64_t global_size(const auto& v) { return v.size(); }
/// The number of the first element here among those of all processes.
std::int64_t first_element(const auto&) { return 0; }
/// x_i in (-1, 1), never 0, a hash of i and the seed. Cost  writes x.
template <class Real, class B>
void fill_hashed(Vector<Real, B>& x, std::uint64_t seed) {
  blas1::for_each_element(x.on(), x.size(), blas1::FillHashed<Real>{seed, first_element(x.on()), x.span().data()});
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
void multiply_add(const Vector<Real, B>& d, const Vector<Real, B>& x, Vector<Real, B>& y) {
  multiply_add<B, Real>(x.on(), d.span(), x.span(), y.span());
}
template <class Real, class B>
Real max_abs(const Vector<Real, B>& x) {
  return max_abs<B, Real>(x.on(), x.span());
}

// Sums come in groups: what is asked for together costs one pass and, on a GPU, one wait.
//
//   const auto [norm_r, rz] = sums(norm2_of(r), dot_of(r, z));

template <class V>
struct DotOf {
  const V &x, &y;
  auto finished(typename V::Real sum) const { return sum; }
};
template <class V>
struct Norm2Of {
  const V &x, &y;  // the same
  auto finished(typename V::Real sum) const { return blas1::norm2_from(x.on(), x.span().data(), x.size(), sum); }
};
/// x'y, to be asked for in sums(). Errors  ShapeError.
template <class Real, class B>
DotOf<Vector<Real, B>> dot_of(const Vector<Real, B>& x, const Vector<Real, B>& y) {
  blas1::require_equal_sizes(x.size(), y.size(), "dot");
  return {x, y};
}
/// sqrt(x'x), to be asked for in sums().
template <class Real, class B>
Norm2Of<Vector<Real, B>> norm2_of(const Vector<Real, B>& x) {
  return {x, x};
}

/// One to three terms, of vectors of one size.
/// Cost    reads each vector once; synchronises on Cuda, once but for norms of extreme entries.
/// Errors  ShapeError.
template <template <class> class... Term, class V>
std::array<typename V::Real, sizeof...(Term)> sums(const Term<V>&... terms) {
  using Real = typename V::Real;
  static_assert(sizeof...(Term) <= blas1::max_sums);
  const V& first = std::get<0>(std::tie(terms...)).x;
  (blas1::require_equal_sizes(first.size(), terms.x.size(), "sums"), ...);
  std::array<Real, sizeof...(Term)> sum;
  blas1::run_pass(first.on(), first.size(),
                  blas1::Dots<Real, sizeof...(Term)>{{terms.x.span().data()...}, {terms.y.span().data()...}},
                  sum.data());
  auto next = sum.begin();
  ((*next = terms.finished(*next), ++next), ...);
  return sum;
}

template <class Real, class B>
Real dot(const Vector<Real, B>& x, const Vector<Real, B>& y) {
  return sums(dot_of(x, y))[0];
}
template <class Real, class B>
Real norm2(const Vector<Real, B>& x) {
  return sums(norm2_of(x))[0];
}

/// *sum = x'y, in memory of the back end, or page-locked memory. Cost  reads x and y; does not wait. Errors  ShapeError.
template <class Real, class B>
void leave_dot(const Vector<Real, B>& x, const Vector<Real, B>& y, Real* sum) {
  blas1::require_equal_sizes(x.size(), y.size(), "dot");
  blas1::leave_sums(x.on(), x.size(), blas1::Dots<Real, 1>{{x.span().data()}, {y.span().data()}}, sum);
}
/// The number that leave(Real* sum) leaves, on the back end of x. Waits for it.
template <class Real, class B, class Leave>
Real brought(const Vector<Real, B>& x, const Leave& leave) {
  if constexpr (requires { x.on().staging(); }) {
    Real* const sum = reinterpret_cast<Real*>(x.on().staging());
    leave(sum);
    x.on().synchronize();
    return *sum;
  } else {
    Real sum;
    leave(&sum);
    return sum;
  }
}

namespace vector_detail {
template <class V, class... Vs>
void require_equal_sizes(const char* operation, const V& first, const Vs&... rest) {
  (blas1::require_equal_sizes(first.size(), rest.size(), operation), ...);
}
/// Of a pass whose sums are y'y and a product.
template <class Real, class B, class Pass>
std::array<Real, 2> norm2_and_dot(const Vector<Real, B>& y, const Pass& pass) {
  std::array<Real, 2> sum;
  blas1::run_pass(y.on(), y.size(), pass, sum.data());
  return {norm2_of(y).finished(sum[0]), sum[1]};
}
}  // namespace vector_detail

// Updates that a solver needs together, in one pass; each element as by the operations named, one after the other. The
// vectors of one call are all different. Errors  ShapeError.

/// x += a p, then p = z + b p. Cost  reads x, z, p; writes x, p.
template <class Real, class B>
void move_and_turn(std::type_identity_t<Real> a, Vector<Real, B>& x, const Vector<Real, B>& z,
                   std::type_identity_t<Real> b, Vector<Real, B>& p) {
  vector_detail::require_equal_sizes("move_and_turn", x, z, p);
  blas1::for_each_element(x.on(), x.size(),
                          blas1::MoveAndTurn<Real>{a, x.span().data(), z.span().data(), b, p.span().data()});
}

/// y += a x, then y += b z. Cost  reads x, y, z; writes y.
template <class Real, class B>
void axpy_twice(std::type_identity_t<Real> a, const Vector<Real, B>& x, std::type_identity_t<Real> b,
                const Vector<Real, B>& z, Vector<Real, B>& y) {
  vector_detail::require_equal_sizes("axpy_twice", x, z, y);
  blas1::for_each_element(x.on(), x.size(),
                          blas1::AxpyTwice<Real>{a, x.span().data(), b, z.span().data(), y.span().data()});
}

/// p += c v, then p = r + b p. Cost  reads p, r, v; writes p.
template <class Real, class B>
void axpy_xpby(std::type_identity_t<Real> c, const Vector<Real, B>& v, const Vector<Real, B>& r,
               std::type_identity_t<Real> b, Vector<Real, B>& p) {
  vector_detail::require_equal_sizes("axpy_xpby", v, r, p);
  blas1::for_each_element(p.on(), p.size(),
                          blas1::AxpyXpby<Real>{c, v.span().data(), r.span().data(), b, p.span().data()});
}

/// y += a x; returns ||y|| and u'y. Cost  reads u, x, y; writes y; synchronises on Cuda as sums() does.
template <class Real, class B>
std::array<Real, 2> axpy_norm2_dot(std::type_identity_t<Real> a, const Vector<Real, B>& x, Vector<Real, B>& y,
                                   const Vector<Real, B>& u) {
  vector_detail::require_equal_sizes("axpy_norm2_dot", x, y, u);
  return vector_detail::norm2_and_dot(y, blas1::AxpySums<Real>{a, x.span().data(), y.span().data(), u.span().data()});
}

/// y += a x, z = d y (entry by entry); returns ||y|| and y'z.
/// Cost  reads d, x, y; writes y, z; synchronises on Cuda as sums() does.
template <class Real, class B>
std::array<Real, 2> axpy_multiply_norm2_dot(std::type_identity_t<Real> a, const Vector<Real, B>& x, Vector<Real, B>& y,
                                            const Vector<Real, B>& d, Vector<Real, B>& z) {
  vector_detail::require_equal_sizes("axpy_multiply_norm2_dot", x, y, d, z);
  return vector_detail::norm2_and_dot(
      y, blas1::AxpyMultiplySums<Real>{a, x.span().data(), y.span().data(), d.span().data(), z.span().data()});
}

/// r += a q, y += a w, z = d y (entry by entry); returns ||r|| and y'z.
/// Cost  reads d, q, r, w, y; writes r, y, z; synchronises on Cuda as sums() does.
template <class Real, class B>
std::array<Real, 2> axpys_multiply_norm2_dot(std::type_identity_t<Real> a, const Vector<Real, B>& q, Vector<Real, B>& r,
                                             const Vector<Real, B>& w, Vector<Real, B>& y, const Vector<Real, B>& d,
                                             Vector<Real, B>& z) {
  vector_detail::require_equal_sizes("axpys_multiply_norm2_dot", q, r, w, y, d, z);
  return vector_detail::norm2_and_dot(
      r, blas1::AxpysMultiplySums<Real>{a, q.span().data(), r.span().data(), w.span().data(), y.span().data(),
                                        d.span().data(), z.span().data()});
}

}  // namespace seidel
