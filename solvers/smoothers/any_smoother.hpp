// One type for all smoothers.
#pragma once
#include <memory>
#include <utility>

#include <seidel/solvers/smoothers/smoother.hpp>

namespace seidel {

/// Owns any smoother of vectors of type V. Copies share it. Cost  one virtual call per application.
template <class V>
class AnySmoother {
 public:
  template <Smoother<V> S>
  requires(!std::same_as<S, AnySmoother>) AnySmoother(S smoother)
      : AnySmoother(std::make_shared<S>(std::move(smoother))) {}
  /// One that the caller keeps, too.
  template <Smoother<V> S>
  explicit AnySmoother(std::shared_ptr<S> smoother) : held_(std::make_shared<Held<S>>(std::move(smoother))) {}

  void smooth(const V& b, V& x) const { held_->smooth(b, x); }
  void smooth_from_zero(const V& b, V& x) const { held_->smooth_from_zero(b, x); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual void smooth(const V& b, V& x) const = 0;
    virtual void smooth_from_zero(const V& b, V& x) const = 0;
  };
  template <class S>
  struct Held final : Base {
    explicit Held(std::shared_ptr<S> s) : smoother(std::move(s)) {}
    void smooth(const V& b, V& x) const override { smoother->smooth(b, x); }
    void smooth_from_zero(const V& b, V& x) const override { smoother->smooth_from_zero(b, x); }
    std::shared_ptr<S> smoother;
  };
  std::shared_ptr<const Base> held_;
};

}  // namespace seidel
