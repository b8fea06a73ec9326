// Algebraic multigrid as preconditioner.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/multigrid/setup.hpp>
#include <seidel/solvers/preconditioners/symgs.hpp>
#include <seidel/solvers/smoothers/jacobi.hpp>
#include <seidel/solvers/smoothers/smoother.hpp>

namespace seidel {

/// How the levels are kept, and cycled through. The iteration around them is in double precision either way.
enum class AmgStorage {
  automatic,  // fp32, but for symgs and for a smoother of the caller
  fp32,  // scaled to a unit diagonal (multigrid/single_cycle.hpp), but a level that is alone; the smoother is a polynomial
  fp64,
};

struct AmgOptions {
  CoarseningOptions coarsening = {};
  AmgSmoother smoother = AmgSmoother::automatic;
  AmgStorage storage = AmgStorage::automatic;
  AmgCycle cycle = AmgCycle::v;
};

struct MethodChoice;
/// As the choice says; for so many unknowns per node, 0 for those that A shows, unless it says that, too.
AmgOptions amg_options(const MethodChoice& choice, Index unknowns_per_node);
/// amg.coarsening=classical
void take_classical_coarsening(Settings& settings);

/// What the caller does in a way of his own; what is left empty is done as the options say.
template <class Offset, Backend B>
struct AmgParts {
  using View = CsrView<double, Offset, SpaceOf<B>>;

  /// Any Coarsening (multigrid/coarsening.hpp).
  AnyCoarsening<B, Offset> coarsening = {};
  /// Makes any Smoother (smoothers/smoother.hpp) for the matrix of a level, which stays until new values come. It must be
  /// symmetric if M is to be.
  std::function<AnySmoother<Vector<double, B>>(const B& on, const View& A)> smoother = {};
};

/// z = M^-1 r by one cycle of multigrid (solvers/multigrid/setup.hpp), from z = 0: on each level
///
///   smooth x for A x = b;  b_c = R (b - A x);  x_c from the next level;  x += P x_c;  smooth x again
///
/// All smoothers are symmetric where A is, so that M is, and positive definite for A that is; for A with few negative eigenvalues
/// M has some, too, unless options.coarsening.definite makes it so. With a K cycle it is so about as nearly as
/// the coarser levels are solved well, and not linear: cg and gmres are flexible then.
///
/// Cost    of a V cycle in single precision as SingleCycle; in double precision on each level two products with its matrix
///         with jacobi, four with chebyshev, one each with P and R, and about ten passes over vectors. All levels together
///         hold 1.05 to 1.7 times the entries of A. Allocates nothing, and but for a K cycle (multigrid/k_cycle.hpp) returns nothing
///         to the host.
/// Errors  as coarsened(); UsageError for symgs in single precision; of symgs as SymgsPreconditioner. In single precision
///         InputError for a diagonal entry below 0.
/// Source  as coarsened(); Trottenberg, Oosterlee, Schueller, Multigrid, Academic Press 2001, for the cycle.
template <class Offset, Backend B>
class AmgPreconditioner {
 public:
  using V = Vector<double, B>;
  using View = CsrView<double, Offset, SpaceOf<B>>;

  /// For A in the memory of B, which must outlive this. `modes`, in the same memory, are near-null vectors as coarsened()
  /// takes them; they need not outlive the call.
  AmgPreconditioner(B on, const View& A, const AmgOptions& options = {},
                    const MultiVectorView<const double, SpaceOf<B>>& modes = {}, const AmgParts<Offset, B>& parts = {})
      : on_(on),
        options_(options),
        smoother_(parts.smoother),
        described_(parts.coarsening ? "amg by a coarsening of the caller"
                   : options.coarsening.lattice.nx > 0
                       ? "amg on a lattice of " + to_string(options.coarsening.lattice) + " points"
                   : options.coarsening.coarse_row == CoarseRow::row ? "amg by classical coarsening"
                                                                     : "amg by smoothed aggregation"),
        near_null_vectors_(modes.ncols) {
    const bool polynomial = options.smoother != AmgSmoother::symgs && !smoother_;
    if (options.storage == AmgStorage::fp32 && !polynomial)
      throw UsageError(std::string("amg: ") + (smoother_ ? "a smoother of one's own" : "symgs") +
                       " smooths in double precision only\n  take storage fp64, or jacobi or chebyshev");
    if (polynomial && options.storage != AmgStorage::fp64)
      single_.emplace(on, options.smoother, options.cycle);
    hierarchy_ = std::make_unique<Hierarchy<Offset, SpaceOf<B>>>(
        coarsened<B, Offset>(on, A, options.coarsening, modes, single(), parts.coarsening));
    make_stages();
  }

  /// For new values of A in the same pattern (multigrid/setup.hpp), which must outlive this. Sweeps of symgs are analysed again
  /// where the arrays of a pattern are others: on the finest level those of the caller, on the others the first time.
  void update_values(const View& A) {
    seidel::update_values<B, Offset>(on_, A, *hierarchy_, single());
    make_stages();
  }

  void apply(const V& r, V& z) const { is_single() ? single_->apply(r.span(), z.span()) : cycle(0, From::zero, r, z); }
  /// For several vectors of two blocks (concepts.hpp): in single precision, unless in a K cycle, the matrices are read once for 8.
  void apply_columns(const VectorBlock<double, B>& r, VectorBlock<double, B>& z, std::size_t first,
                     std::size_t count) const {
    if (is_single() && is_linear() && count > 1)
      return single_->apply(r.columns(first, count), z.columns(first, count));
    for (std::size_t j = first; j < first + count; ++j) apply(r[j], z[j]);
  }
  bool is_symmetric() const { return options_.coarsening.symmetric; }
  bool is_linear() const { return options_.cycle != AmgCycle::k; }
  std::string describe() const {
    return described_ + ", " + plural(std::int64_t(hierarchy_->levels.size()), "level") +
           (near_null_vectors_ > 0 ? ", " + plural(near_null_vectors_, "near-null vector") : "");
  }

  std::vector<LevelFacts> levels() const {
    std::vector<LevelFacts> facts;
    for (const auto& level : hierarchy_->levels) {
      const std::size_t l = facts.size();
      facts.push_back(level.facts);
      facts.back().bytes = bytes_of(*hierarchy_, l) + (is_single() ? single_->bytes(l) : stages_[l]->bytes);
    }
    return facts;
  }
  /// Held beside A, but for what a smoother of the caller holds.
  std::int64_t bytes() const {
    std::int64_t bytes = 0;
    for (const LevelFacts& level : levels()) bytes += level.bytes;
    return bytes;
  }

 private:
  using Matrix = MatrixOperator<View, B>;
  enum class From { zero, guess };
  SingleCycle<B>* single() { return single_ ? &*single_ : nullptr; }
  bool is_single() const { return single_ && !single_->empty(); }

  /// What a cycle in double precision needs of a level.
  struct Stage {
    /// `before`: that of the same level with other values; null: none.
    Stage(const B& on, const Level<Offset, SpaceOf<B>>& level, const AmgPreconditioner& amg, Stage* before)
        : A(on, level.A),
          R(on, level.R()),
          P(on, level.prolongation.view()),
          b(on, level.A.nrows),
          x(on, level.A.nrows),
          r(on, level.A.nrows),
          bytes(3 * 8 * A.nrows()),
          smoother(amg.smoother_ ? amg.smoother_(on, level.A)
                                 : smoother_of(on, level, amg.options_.smoother, amg.hierarchy_->dominant, before)) {}

    bool has_pattern_of(const View& other) const {
      const View A_here = A.view();
      return A_here.row_ptr.data() == other.row_ptr.data() && A_here.col_idx.data() == other.col_idx.data();
    }
    AnySmoother<V> smoother_of(const B& on, const Level<Offset, SpaceOf<B>>& level, AmgSmoother kind, bool dominant,
                               Stage* before) {
      if (kind == AmgSmoother::symgs) {
        if (before && before->has_pattern_of(level.A)) {
          symgs = std::move(before->symgs);
          symgs->update_values(level.A);
        } else {
          symgs = std::make_shared<SymgsPreconditioner<double, Offset, B>>(on, level.A);
        }
        bytes += symgs->bytes();
        return AnySmoother<V>(symgs);
      }
      std::vector<V> weights;
      for (const double damping : dampings_of(kind, dominant)) {
        weights.emplace_back(on, level.A.nrows);
        axpy<B, double>(on, damping / level.facts.largest_eigenvalue, level.inverse_diagonal, weights.back().span());
      }
      bytes += 8 * A.nrows() * std::int64_t(weights.size() + 1);
      return JacobiSmoother<V, Matrix>(A, std::move(weights));
    }

    Matrix A, R, P;
    mutable V b, x, r;
    mutable std::optional<KrylovVectors<V>> krylov;
    std::int64_t bytes;
    std::shared_ptr<SymgsPreconditioner<double, Offset, B>> symgs;  // where it smooths: kept for new values
    AnySmoother<V> smoother;
  };

  void make_stages() {
    const auto before = std::exchange(stages_, {});
    coarsest_.reset();
    if (is_single()) return;
    for (const auto& level : hierarchy_->levels) {
      Stage* const old = before.empty() ? nullptr : before[stages_.size()].get();
      Stage& stage = *stages_.emplace_back(std::make_unique<Stage>(on_, level, *this, old));
      if (options_.cycle != AmgCycle::k) continue;
      stage.krylov = {like(stage.b), like(stage.b), like(stage.b)};
      stage.bytes += 3 * 8 * stage.A.nrows();
    }
    if (!hierarchy_->coarsest_inverse.row_ptr.empty()) coarsest_.emplace(on_, hierarchy_->coarsest_inverse.view());
  }

  void cycle(std::size_t l, From from, const V& b, V& x) const {
    const Stage& at = *stages_[l];
    const bool last = l + 1 == stages_.size();
    if (last && coarsest_) return coarsest_->apply(b, x);
    if (from == From::zero)
      at.smoother.smooth_from_zero(b, x);
    else
      at.smoother.smooth(b, x);
    if (!last) {
      const Stage& coarse = *stages_[l + 1];
      at.A.residual(x, b, at.r);
      at.R.apply(at.r, coarse.b);
      const AmgCycle visits = l + 2 < stages_.size() ? options_.cycle : AmgCycle::v;
      if (visits == AmgCycle::k)
        krylov_visits(
            coarse.A, [&](const V& r, V& z) { cycle(l + 1, From::zero, r, z); }, *coarse.krylov, coarse.b, coarse.x);
      else
        cycle(l + 1, From::zero, coarse.b, coarse.x);
      if (visits == AmgCycle::w) cycle(l + 1, From::guess, coarse.b, coarse.x);
      at.P.apply(coarse.x, at.r);
      axpy(1, at.r, x);
    }
    at.smoother.smooth(b, x);
  }

  B on_;
  AmgOptions options_;
  decltype(AmgParts<Offset, B>::smoother) smoother_;
  std::string described_;  // how levels are made
  std::int64_t near_null_vectors_;
  std::optional<SingleCycle<B>> single_;
  std::unique_ptr<Hierarchy<Offset, SpaceOf<B>>> hierarchy_;  // the stages view it
  std::vector<std::unique_ptr<Stage>> stages_;                // a smoother keeps the address of its matrix
  std::optional<Matrix> coarsest_;
};

// Compiled in the library, so that a program need not.
extern template class AmgPreconditioner<std::int32_t, OpenMP>;
extern template class AmgPreconditioner<std::int64_t, OpenMP>;

}  // namespace seidel
