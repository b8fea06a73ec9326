// The cycle of a multigrid method in single precision, its vector operations done by the products.
//
// All levels are scaled to a unit diagonal: A^ = S A S with S = D^(-1/2), P^ = S_l^-1 P S_(l+1), R^ = P^'. So D is read
// nowhere, nothing overflows, and a sweep of Jacobi from zero is x = w b. Of sweeps damped by w_1 ... w_K only residuals are
// followed on the way down,
//
//   t_0 = b,   t_k = t_(k-1) - w_k A^ t_(k-1),   b_c = R^ t_K
//
// and on the way up the correction and the first sweep after it are one product, with Q = (I - w_1 A^) P^:
//
//   x = w_1 t_0 + ... + w_K t_(K-1) + w_1 t_K + Q x_c,   then x = x + w_k (b - A^ x) for k = 2 ... K
//
// Rows without a positive diagonal have S = 0 and are left alone.
#pragma once
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/replay.hpp>
#include <seidel/kernels/level_products/level_products.hpp>
#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/finite.hpp>
#include <seidel/solvers/lanczos.hpp>
#include <seidel/solvers/multigrid/dampings.hpp>
#include <seidel/solvers/multigrid/k_cycle.hpp>
#include <seidel/solvers/multigrid/single_sweeps.hpp>

namespace seidel {

/// Made level by level, finest first, while a hierarchy is: begin(), then for each level add_level() and lay_out(); for each but
/// the last, once the next one has been added, add_restriction() and add_correction(); at the end finish().
///
/// Cost    of a V cycle with one sweep: one product each with A^, R^ and Q, which has the entries of A P, on each level.
///         Allocates nothing, and but for a K cycle (krylov_visits) returns nothing to the host.
/// Repeats bit for bit on every back end and with any number of threads.
template <Backend B>
class SingleCycle {
 public:
  using Space = SpaceOf<B>;
  template <class Offset>
  using View = CsrView<double, Offset, Space>;
  static constexpr int max_sweeps = 2;

  /// `smoother` is a polynomial.
  SingleCycle(const B& on, AmgSmoother smoother, AmgCycle cycle) : on_(on), smoother_(smoother), cycle_(cycle) {}

  /// Forgets all levels.
  void clear() {
    levels_.clear();
    replay_ = columns_replay_ = {};
    held_columns_ = 1;
  }
  bool empty() const { return levels_.empty(); }

  void begin() {
    former_ = std::move(levels_);
    clear();
  }
  /// `dominant`: every row of the finest A is weakly dominated by its diagonal.
  void choose_dampings(bool dominant) { dampings_ = dampings_of(smoother_, dominant); }

  /// Takes the diagonal of the next level: 1 / a_ii, 0 for rows that are to be left alone; on coarser levels those with a
  /// negative one, or that vanish (vanishing_mode), are left alone, too. R leads to it; of the finest level it has no rows.
  /// Leaves the largest scale of the finest level in *max_scale: NaN if a diagonal entry is negative.
  template <class Offset>
  void add_level(Span<const double, Space> inverse_diagonal, const View<Offset>& R, double* max_scale) {
    const bool finest = levels_.empty();
    const std::int64_t n = inverse_diagonal.size();
    Level level{.scale = Array<double, Space>(on_, n), .inverse_scale = Array<double, Space>(on_, n)};
    Array<double, Space> sizes(on_, R.nrows);
    if (!finest) sizes_of_modes(on_, R, levels_.back().inverse_scale.span(), sizes.span());
    scale_to_unit_diagonal(on_, {.inverse_diagonal = inverse_diagonal,
                                 .sizes = sizes,
                                 .of_negative = finest ? std::numeric_limits<double>::quiet_NaN() : 0,
                                 .scale = level.scale,
                                 .inverse_scale = level.inverse_scale});
    if (finest) blas1::leave_max_abs<double>(on_, level.scale.data(), n, max_scale);
    if (levels_.size() < former_.size()) level.take_vectors(former_[levels_.size()]);
    levels_.push_back(std::move(level));
  }
  /// Takes what add_level() left. Errors  InputError for the first row with a negative diagonal entry.
  void take_max_scale(double max_scale) {
    if (!std::isfinite(max_scale)) refuse_negative(first_nonfinite<B, double>(on_, levels_.front().scale));
    max_scale_ = max_scale;
  }

  /// Takes the matrix of level l, whose diagonal it has; it may be dropped, and taken again, unless it is small (kinds of rows).
  template <class Offset>
  void lay_out(std::size_t l, const View<Offset>& A) {
    Level& level = levels_[l];
    if (level.A.nrows == 0)
      lay_out(l, &Level::A, A.ncols, multigrid_detail::lanes_for(A),
              level_detail::ScaledRows<Offset, Space>{A, level.scale, level.scale, true});
  }
  void drop(std::size_t l) {
    if (!levels_[l].A.kinds) levels_[l].A = {};
  }

  /// Takes Lanczos steps on the last level. `found` has room for their numbers, in the memory of the back end. A GPU is not
  /// waited for.
  void start_estimate(int steps, double* found) const {
    if constexpr (HostBackend<B>) {
      *found = step_by_step(steps);
    } else {
      auto start = lanczos_start();
      take_lanczos_steps(UnitDiagonal{on_, levels_.back().A}, start, steps, reinterpret_cast<float*>(found));
    }
  }
  /// From what they found, now on the host: an estimate from below of the largest eigenvalue of the last level.
  double estimate(int steps, double* found) const {
    if constexpr (HostBackend<B>) return *found;
    const auto estimated = estimate_from(blas1::LanczosNumbers<float>{reinterpret_cast<float*>(found)}, steps);
    return estimated ? *estimated : step_by_step(steps);
  }

  /// Takes R from level l to the next one.
  template <class Offset>
  void add_restriction(std::size_t l, const View<Offset>& R) {
    lay_out(l, &Level::R, R.ncols, multigrid_detail::short_row_lanes,
            level_detail::ScaledRows<Offset, Space>{R, levels_[l + 1].scale, levels_[l].inverse_scale});
  }

  /// Takes P and A P of level l, which has its R; its diagonal and lambda.
  template <class Offset>
  void add_correction(std::size_t l, const View<Offset>& P, const View<Offset>& AP,
                      Span<const double, Space> inverse_diagonal, double lambda) {
    Level& fine = levels_[l];
    set_dampings(fine, lambda);
    lay_out(l, &Level::Q, P.ncols, multigrid_detail::lanes_for(AP),
            level_detail::CorrectionRows<Offset, Space>{AP, P, fine.dampings[0], inverse_diagonal, fine.inverse_scale,
                                                        levels_[l + 1].scale});
    fine.inverse_scale = {};
  }

  /// The last level has been added. `inverse`: of its A, every entry stored; without rows where it is smoothed instead.
  template <class Offset>
  void finish(const View<Offset>& inverse, double lambda) {
    Level& last = levels_.back();
    set_dampings(last, lambda);
    solved_ = inverse.nrows > 0;
    if (solved_) {
      lay_out(levels_.size() - 1, &Level::Q, inverse.ncols, slice_places,
              level_detail::ScaledRows<Offset, Space>{inverse, last.inverse_scale, last.inverse_scale});
      last.A = {};
    } else {
      last.Q = multigrid_detail::without_entries(on_, last.A.nrows);
    }
    last.inverse_scale = {};
    for (std::size_t l = 1; l < levels_.size(); ++l) levels_[l].scale = {};
    twice_the_shift_ = multigrid_detail::shift_scale(on_, max_scale_, levels_.front().scale);
    take_vectors();
    former_.clear();
  }

  /// z = M^-1 r.
  void apply(Span<const double, Space> r, Span<double, Space> z) const {
    columns_ = 1;
    const Level& finest = levels_.front();
    double* const scale = scale_of_call_.data();
    blas1::find_scale(on_, r.data(), r.size(), scale);
    enter_cycle(on_, r, finest.scale.span(), scale, finest.b.span().subspan(0, r.size()));
    const float* const b = finest.b.data();
    const auto down = [&] { descend(0, b); };
    cycle_ == AmgCycle::k ? down() : replay_.run(on_, down);
    ascend(0, b, ScaledResult{z.data(), finest.scale.data(), twice_the_shift_, scale + 1});
  }

  /// Z = M^-1 R for several columns, in column-major layout; each has the bits that it has alone. Not for a K cycle, whose
  /// iterations are of one column.
  /// Cost    reads the matrices once for 8 columns. Takes memory where there are more columns than ever before.
  void apply(const MultiVectorView<const double, Space>& R, const MultiVectorView<double, Space>& Z) const {
    const int k = padded_columns<Space>(R.ncols);
    if (k > held_columns_) {
      held_columns_ = k;
      take_vectors();
    }
    columns_ = k;
    if (std::exchange(replayed_columns_, k) != k) columns_replay_ = {};
    const Level& finest = levels_.front();
    double* const scale = scale_of_call_.data();
    blas1::find_scale(on_, blas1::Columns<double>{R.data, R.leading_dimension, R.nrows, R.ncols}, scale);
    enter_cycle(on_, R, finest.scale.span(), scale, finest.b.span());
    const float* const b = finest.b.data();
    columns_replay_.run(on_, [&] { descend(0, b); });
    ascend(0, b, ScaledColumns<Space>{Z, finest.scale.data(), twice_the_shift_, scale + 1});
  }

  /// Of level l.
  std::int64_t bytes(std::size_t l) const {
    const Level& level = levels_[l];
    std::int64_t bytes = level.A.bytes() + level.R.bytes() + level.Q.bytes() + 8 * level.scale.size();
    for (const auto* v :
         {&level.b, &level.x, &level.t[0], &level.t[1], &level.before, &level.second_b, &level.second_x})
      bytes += 4 * v->size();
    return bytes + (level.krylov ? 3 * 4 * level.b.size() : 0);
  }

 private:
  struct Level {
    Array<double, Space> scale = {}, inverse_scale = {};  // S and S^-1; kept is S of the finest, shifted to at most 1
    LevelMatrix<Space> A = {};                            // A^ without its diagonal of ones
    LevelMatrix<Space> R = {}, Q = {};  // on the last level Q is the inverse of A^, or without entries
    std::vector<float> dampings = {};
    // of held_columns_ columns
    mutable Array<float, Space> b = {}, x = {}, t[max_sweeps] = {}, before = {}, second_b = {}, second_x = {};
    mutable std::optional<KrylovVectors<Vector<float, B>>> krylov = {};

    std::array<float*, max_sweeps> residuals() const { return {t[0].data(), t[1].data()}; }
    void take_vectors(Level& of) {
      b = std::move(of.b), x = std::move(of.x), before = std::move(of.before);
      second_b = std::move(of.second_b), second_x = std::move(of.second_x);
      for (int k = 0; k < max_sweeps; ++k) t[k] = std::move(of.t[k]);
    }
  };

  /// A^ as an operator.
  struct UnitDiagonal {
    B on;
    const LevelMatrix<Space>& A;
    std::int64_t nrows() const { return A.nrows; }
    std::int64_t ncols() const { return A.ncols; }
    void apply(const Vector<float, B>& x, Vector<float, B>& y) const {
      level_product(on, A.view(), x.span().data(), {.terms = {{1, x.span().data()}}}, y.span().data());
    }
  };

  /// Lays out `rows` as a matrix of level l. If there was one before begin(), only its values are new.
  void lay_out(std::size_t l, LevelMatrix<Space> Level::*which, Index ncols, int lanes, const auto& rows) {
    LevelMatrix<Space>& M = levels_[l].*which;
    if (l < former_.size()) M = std::move(former_[l].*which);
    if (M.nrows > 0)
      refill(on_, rows, M);
    else
      M = level_matrix(on_, rows.stored.nrows, ncols, lanes, rows);
  }

  Vector<float, B> lanczos_start() const {
    Vector<float, B> x(on_, Array<float, Space>(on_, levels_.back().A.nrows));
    start_of_level(on_, levels_.back().scale.span(), x.span());
    return x;
  }
  /// With waits in each step.
  double step_by_step(int steps) const {
    return estimate_largest_eigenvalue<Vector<float, B>>(UnitDiagonal{on_, levels_.back().A}, nullptr, lanczos_start(),
                                                         steps);
  }

  static void refuse_negative(std::int64_t row) {
    if (row >= 0)
      throw InputError("amg: found a negative diagonal entry in row " + std::to_string(row + 1) +
                       ", expected a positive definite matrix\n  give -A, or keep the levels in double precision");
  }

  void set_dampings(Level& level, double lambda) const {
    for (const double damping : dampings_) level.dampings.push_back(float(damping / lambda));
  }

  /// For held_columns_.
  void take_vectors() const {
    replay_ = columns_replay_ = {};
    scale_of_call_ = Array<double, Space>(on_, 2 * held_columns_);
    for (const Level& level : levels_) take_vectors(level, &level == &levels_.front());
  }
  void take_vectors(const Level& level, bool finest) const {
    const auto vector = [&] { return Array<float, Space>(on_, std::int64_t(level.Q.nrows) * held_columns_); };
    const auto take = [&](Array<float, Space>& v) {
      if (v.size() != std::int64_t(level.Q.nrows) * held_columns_) v = vector();
    };
    take(level.b);
    if (!finest) take(level.x);
    if (level.A.nrows == 0) return;
    if (!finest && cycle_ == AmgCycle::w) take(level.second_b), take(level.second_x);
    if (!finest && cycle_ == AmgCycle::k) {
      const auto another = [&] { return Vector<float, B>(on_, vector()); };
      level.krylov = {another(), another(), another()};
    }
    for (std::size_t k = 0; k < dampings_.size(); ++k) take(level.t[k]);
    if (dampings_.size() > 1) take(level.before);
  }

  /// Of one vector, or of columns_ of them.
  template <class Result>
  void product(const LevelView<Space>& A, const float* x, const Combination& c, const Result& y) const {
    if constexpr (!std::is_same_v<Result, ScaledResult>)
      if (columns_ > 1) return level_product(on_, A, columns_, x, c, y);
    if constexpr (!std::is_same_v<Result, ScaledColumns<Space>>) level_product(on_, A, x, c, y);
  }

  /// The cycle for A^ x = b on level l, from zero.
  void run(std::size_t l, const float* b, float* x) const {
    descend(l, b);
    ascend(l, b, x);
  }

  bool is_solved(std::size_t l) const { return solved_ && l + 1 == levels_.size(); }

  /// The sweeps before the correction, and x of the next level.
  void descend(std::size_t l, const float* b) const {
    if (is_solved(l)) return;
    const Level& at = levels_[l];
    const float* const residual = multigrid_detail::residuals_of_sweeps(
        at.dampings, b, at.residuals().data(), [&](auto... args) { product(at.A.view(), args...); });
    if (l + 1 == levels_.size()) return;
    product(at.R.view(), residual, Combination{}, levels_[l + 1].b.data());
    solve_coarse(l + 1);
  }

  /// What those sweeps did, the correction, and the sweeps after it.
  void ascend(std::size_t l, const float* b, const auto& x) const {
    const Level& at = levels_[l];
    if (is_solved(l)) return product(at.Q.view(), b, Combination{}, x);
    const float* const correction = l + 1 < levels_.size() ? levels_[l + 1].x.data() : nullptr;
    multigrid_detail::sweeps_after(
        at.dampings, b, at.residuals().data(),
        [&](const Combination& sum, const auto& y) { product(at.Q.view(), correction, sum, y); },
        [&](auto... args) { product(at.A.view(), args...); }, at.before.data(), x);
  }

  /// x of a level from its b, in as many visits as the cycle has.
  void solve_coarse(std::size_t l) const {
    const Level& at = levels_[l];
    const bool last = l + 1 == levels_.size();
    if (cycle_ == AmgCycle::k && !last) {
      using V = Vector<float, B>;
      V b(on_, at.b.span()), x(on_, at.x.span());
      const auto visit = [&](const V& r, V& z) { run(l, r.span().data(), z.span().data()); };
      return krylov_visits(UnitDiagonal{on_, at.A}, visit, *at.krylov, b, x);
    }
    run(l, at.b.data(), at.x.data());
    if (cycle_ == AmgCycle::v || last) return;
    product(at.A.view(), at.x.data(), {.product = -1, .terms = {{1, at.b.data()}, {-1, at.x.data()}}},
            at.second_b.data());
    run(l, at.second_b.data(), at.second_x.data());
    const std::int64_t entries = std::int64_t(at.Q.nrows) * columns_;
    axpy<B, float>(on_, 1, at.second_x.span().subspan(0, entries), at.x.span().subspan(0, entries));
  }

  B on_;
  AmgSmoother smoother_;
  AmgCycle cycle_;
  std::vector<double> dampings_;  // of the sweeps, each to be divided by lambda
  double max_scale_ = 0;          // of the finest level
  std::vector<Level> levels_, former_;
  bool solved_ = false;  // the last level has its inverse
  double twice_the_shift_ = 1;
  mutable Array<double, Space> scale_of_call_;
  mutable int columns_ = 1, held_columns_ = 1;  // in the cycle that runs; for which there is memory
  mutable Replay replay_, columns_replay_;      // of what does not depend on where r and z are; of many columns:
  mutable int replayed_columns_ = 0;            // so many
};

}  // namespace seidel
