// What multigrid asks of a smoother, and one type for all. No base class: any type with these members fits.
#pragma once
#include <functional>
#include <memory>
#include <utility>

#include <seidel/solvers/concepts.hpp>

namespace seidel {

/// Reduces the error of x as a solution of A x = b where it oscillates: smooth() from a guess x; smooth_from_zero() does the
/// same from x = 0, which it need not be given. Returns nothing to the host.
template <class S, class V>
concept Smoother = requires(const S& s, const V& b, V& x) {
  s.smooth(b, x);
  s.smooth_from_zero(b, x);
};

/// Owns any smoother of vectors of type V. Copies share it. Cost  one indirect call per application.
template <class V>
class AnySmoother {
 public:
  template <Smoother<V> S>
  requires(!std::same_as<S, AnySmoother>) AnySmoother(S smoother)
      : AnySmoother(std::make_shared<S>(std::move(smoother))) {}
  /// One that the caller keeps, too.
  template <Smoother<V> S>
  explicit AnySmoother(std::shared_ptr<S> smoother)
      : smooth_([smoother](const V& b, V& x) { smoother->smooth(b, x); }),
        smooth_from_zero_([smoother](const V& b, V& x) { smoother->smooth_from_zero(b, x); }) {}

  void smooth(const V& b, V& x) const { smooth_(b, x); }
  void smooth_from_zero(const V& b, V& x) const { smooth_from_zero_(b, x); }

 private:
  std::function<void(const V&b, V&x)> smooth_, smooth_from_zero_;
};

}  // namespace seidel
