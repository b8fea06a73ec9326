// The cycle of a multigrid method where several processes share the rows: that of single_cycle.hpp, whose formulas and letters hold.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <seidel/formats/runtime/replay.hpp>
#include <seidel/kernels/distributed/exchange.hpp>
#include <seidel/solvers/any.hpp>
#include <seidel/solvers/multigrid/single_sweeps.hpp>

namespace seidel {

/// [before; own; after] of a vector in single precision.
template <Backend B>
struct SharedVector {
  std::int64_t before = 0, size = 0;
  Array<float, SpaceOf<B>> whole = {};

  SharedVector() = default;
  SharedVector(const B& on, const Halo& halo) : before(halo.before), size(halo.own), whole(on, halo.columns()) {}
  Span<float, SpaceOf<B>> own() { return whole.span().subspan(before, size); }
};

/// A level whose rows processes share, scaled to a unit diagonal, and what leads to the next one.
template <Backend B>
struct SharedLevel {
  using Space = SpaceOf<B>;

  std::shared_ptr<const HaloExchange<B>> of_rows;  // of the columns of A^
  Array<double, Space> scale = {};                 // S
  std::vector<float> dampings = {};
  LevelMatrix<Space> A = {};                              // A^ without its diagonal of ones
  std::shared_ptr<const HaloExchange<B>> of_coarse = {};  // of the columns of Q; none where there is no next level
  LevelMatrix<Space> R = {}, Q = {};                      // R of the rows of P here: a row for each column of Q
  mutable SharedVector<B> b = {}, t[2] = {}, before = {}, coarse_x = {}, restricted = {};

  void take_vectors(const B& on) {
    const auto of = [&](const std::shared_ptr<const HaloExchange<B>>& exchange) {
      return SharedVector<B>(on, exchange->halo());
    };
    b = of(of_rows);
    for (std::size_t k = 0; k < dampings.size(); ++k) t[k] = of(of_rows);
    if (dampings.size() > 1) before = of(of_rows);
    if (of_coarse) {
      coarse_x = of(of_coarse), restricted = of(of_coarse);
    } else {  // nothing corrects it
      Q = multigrid_detail::without_entries(on, A.nrows);
    }
  }
  std::int64_t bytes() const {
    std::int64_t bytes = A.bytes() + R.bytes() + Q.bytes() + 8 * scale.size();
    for (const auto* v : {&b, &t[0], &t[1], &before, &coarse_x, &restricted}) bytes += 4 * v->whole.size();
    return bytes;
  }
};

/// A level that every process has all of, and solves with for itself.
template <Backend B>
class WholeLevel {
  using Space = SpaceOf<B>;
  using V = Vector<double, B>;

 public:
  /// `kept`: what M needs for as long as it is used.
  WholeLevel(const B& on, const Processes& all, RowShares shares, AnyPreconditioner<V> M,
             std::shared_ptr<const void> kept)
      : on_(on),
        all_(&all),
        shares_(std::move(shares)),
        kept_(std::move(kept)),
        M_(std::move(M)),
        b_(on, shares_.n()),
        x_(on, shares_.n()) {}

  /// x = M b of the rows here.
  void apply(Span<const double, Space> b, Span<double, Space> x) const {
    gather_from_all<double>(on_, *all_, b, shares_.counts(), b_.span());
    M_.apply(b_, x_);
    copy<B, double>(on_, own(x_), x);
  }
  /// The same in a cycle, where the level is scaled: `inverse_scale` is S^-1 of the rows here.
  void take_scale(Span<const double, Space> inverse_scale) {
    inverse_scale_ = Array<double, Space>(on_, shares_.n());
    one_ = Array<double, Space>(on_, std::vector<double>{1});
    here_ = Array<float, Space>(on_, inverse_scale.size());
    everywhere_ = Array<float, Space>(on_, shares_.n());
    gather_from_all<double>(on_, *all_, inverse_scale, shares_.counts(), inverse_scale_.span());
  }
  Span<float, Space> scaled_b() const { return here_.span(); }
  void apply_scaled(Span<float, Space> x) const {
    gather_from_all<float>(on_, *all_, here_, shares_.counts(), everywhere_.span());
    leave_cycle(on_, std::as_const(everywhere_).span(), inverse_scale_.span(), b_.span());
    M_.apply(b_, x_);
    enter_cycle(on_, own(x_), own(inverse_scale_), one_.data(), x);
  }
  std::int64_t bytes() const { return M_.bytes(); }

 private:
  Span<const double, Space> own(const auto& v) const {
    return v.span().subspan(shares_.first(all_->rank()), shares_.rows(all_->rank()));
  }

  B on_;
  const Processes* all_;
  RowShares shares_;
  std::shared_ptr<const void> kept_;
  AnyPreconditioner<V> M_;
  mutable V b_, x_;
  Array<double, Space> inverse_scale_, one_;
  mutable Array<float, Space> here_, everywhere_;
};

/// A V cycle for levels that processes share, then one that each has all of, where there is one.
///
/// Cost    as SingleCycle, and per level three exchanges, five with two sweeps; one to all for the last level and one for the scale
///         of r. Takes no memory but lists of a few words per process; GPUs that exchange directly are not waited for.
/// Repeats bit for bit for the same number of processes.
template <Backend B>
class DistributedCycle {
  using Space = SpaceOf<B>;
  using Level = SharedLevel<B>;

 public:
  /// `max_scale`: the largest of the scales of the finest level, of all processes. Every process calls it.
  DistributedCycle(const B& on, const Processes& all, std::vector<Level> levels, std::optional<WholeLevel<B>> last,
                   double max_scale)
      : on_(on),
        all_(&all),
        levels_(std::move(levels)),
        last_(std::move(last)),
        one_each_(std::size_t(all.size()), 1),
        scale_of_call_(on, 2),
        maximum_(on, 1),
        maxima_(on, all.size()),
        is_direct_(is_direct(on, all)) {
    if (levels_.empty()) return;
    for (Level& level : levels_) level.take_vectors(on_);
    twice_the_shift_ = multigrid_detail::shift_scale(on_, max_scale, levels_.front().scale);
  }

  /// z = M^-1 r.
  void apply(Span<const double, Space> r, Span<double, Space> z) const {
    if (levels_.empty()) return last_->apply(r, z);
    const Level& finest = levels_.front();
    double* const scale = scale_of_call_.data();
    blas1::leave_max_abs(on_, r.data(), r.size(), maximum_.data());
    gather_from_all<double>(on_, *all_, maximum_, one_each_, maxima_.span());
    blas1::find_scale(on_, maxima_.data(), maxima_.size(), scale);
    enter_cycle(on_, r, finest.scale.span(), scale, finest.b.own());
    const auto down = [&] { descend(0); };
    is_direct_ ? replay_.run(on_, down) : down();
    ascend(0, ScaledResult{z.data(), finest.scale.data(), twice_the_shift_, scale + 1});
  }
  std::size_t shared_levels() const { return levels_.size(); }
  /// Of this process.
  std::int64_t bytes(std::size_t level) const { return levels_[level].bytes(); }
  std::int64_t bytes() const {
    std::int64_t bytes = last_ ? last_->bytes() : 0;
    for (const Level& level : levels_) bytes += level.bytes();
    return bytes;
  }

 private:
  static std::array<float*, 2> residuals(const Level& at) { return {at.t[0].own().data(), at.t[1].own().data()}; }
  /// One with A^, of a vector of the level.
  auto product_with_A(const Level& at) const {
    return [&](const float* x, const Combination& c, const auto& y) {
      const Halo& halo = at.of_rows->halo();
      const Span<float, Space> whole(const_cast<float*>(x) - halo.before,
                                     halo.columns());  // its own elements are only read
      at.of_rows->bring(whole);
      level_product(on_, at.A.view(), whole.data(), c, y);
    };
  }

  /// The sweeps of level l before the correction, and x of the next level.
  void descend(std::size_t l) const {
    const Level& at = levels_[l];
    const float* const residual =
        multigrid_detail::residuals_of_sweeps(at.dampings, at.b.own().data(), residuals(at).data(), product_with_A(at));
    if (!at.of_coarse) return;
    const bool before_last = l + 1 == levels_.size();
    level_product(on_, at.R.view(), residual, Combination{}, at.restricted.whole.data());
    at.of_coarse->template add_back<float>(at.restricted.whole,
                                           before_last ? last_->scaled_b() : levels_[l + 1].b.own());
    if (before_last) {
      last_->apply_scaled(at.coarse_x.own());
    } else {
      descend(l + 1);
      ascend(l + 1, at.coarse_x.own().data());
    }
    at.of_coarse->bring(at.coarse_x.whole.span());
  }
  /// What those sweeps did, the correction, and the sweeps after it.
  void ascend(std::size_t l, const auto& x) const {
    const Level& at = levels_[l];
    multigrid_detail::sweeps_after(
        at.dampings, at.b.own().data(), residuals(at).data(),
        [&](const Combination& sum, const auto& y) {
          level_product(on_, at.Q.view(), at.coarse_x.whole.data(), sum, y);
        },
        product_with_A(at), at.before.own().data(), x);
  }

  B on_;
  const Processes* all_;
  std::vector<Level> levels_;
  std::optional<WholeLevel<B>> last_;
  double twice_the_shift_ = 1;
  std::vector<std::int64_t> one_each_;
  mutable Array<double, Space> scale_of_call_, maximum_, maxima_;
  bool is_direct_;
  mutable Replay replay_;  // of what does not depend on where r and z are
};

}  // namespace seidel
