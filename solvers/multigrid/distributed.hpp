// Algebraic multigrid where several processes share the rows.
//
// The steps of setup.hpp, with these differences: aggregates do not cross from process to process, and the last matrix is brought
// to every process, each of which solves with all of it by AmgPreconditioner. P is smoothed along all couplings, and A_c = P' A P is
// that of the whole matrix.
//
// Source  as setup.hpp; Tuminaro, Tong, Parallel smoothed aggregation multigrid: aggregation strategies on massively parallel
//         machines, Proc. Supercomputing, 2000, for aggregates that do not cross.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seidel/formats/convert.hpp>
#include <seidel/formats/runtime/replay.hpp>
#include <seidel/kernels/distributed/matrix.hpp>
#include <seidel/kernels/distributed/numbers.hpp>
#include <seidel/kernels/distributed/rows.hpp>
#include <seidel/kernels/spgemm/spgemm.hpp>
#include <seidel/solvers/preconditioners/amg.hpp>

namespace seidel {

/// z = M^-1 r by a V cycle in single precision, as AmgPreconditioner's. Symmetric positive definite where A is. x has the same bits
/// for the same number of processes; where all of A is small enough to be brought to each, those of one process.
///
/// Cost    made: on each level about the work of coarsened() for the rows here, and a dozen messages to the processes whose rows
///         these couple with. Applied: allocates nothing; messages of three to five products per level, and one to all for the last.
///         GPUs that Processes::exchange_on() connects are not waited for.
/// Errors  as coarsened(), on all processes, and InputError for a negative diagonal entry; UsageError for what one process alone
///         does: W and K cycles, symgs as smoother, levels in double precision, classical coarsening.
template <class Offset, Backend B>
class DistributedAmg {
  using Space = SpaceOf<B>;
  using Matrix = DistributedMatrix<Offset, B>;
  using NearNull = multigrid_detail::NearNull<Space>;
  using Modes = MultiVectorView<const double, Space>;
  using Values = Array<double, Space>;

 public:
  using V = Vector<double, Distributed<B>>;

  /// options.coarsening.unknowns_per_node must be known, the same on all processes. `modes`, the rows here of near-null vectors,
  /// need not outlive the call.
  DistributedAmg(const Matrix& A, const AmgOptions& options, const Modes& modes)
      : on_(A.on()), options_(options.coarsening), smoother_(options.smoother) {
    if (options.smoother == AmgSmoother::symgs || options.cycle != AmgCycle::v || options.storage == AmgStorage::fp64 ||
        options_.coarse_row == CoarseRow::row)
      throw UsageError(
          "amg: found symgs as smoother, a W or K cycle, levels in fp64 or classical coarsening for several processes, "
          "expected none of these: one process alone has them");
    NearNull near_null{.unknowns_per_node = options_.unknowns_per_node, .modes = modes};
    Between between;
    std::optional<Matrix> level = A;
    for (; level && !is_last(*level); options_.first = FirstLevel::smoothed)
      level = coarser(*level, near_null, between);
    if (level) finish(*level, options, near_null, between);
    take_vectors();
  }

  void apply(const V& r, V& z) const {
    if (stages_.empty()) {
      gather_from_all<double>(local(), all(), r.span(), whole_counts_, whole_b_->span());
      whole_->apply(*whole_b_, *whole_x_);
      return copy<B, double>(local(), std::as_const(*whole_x_).span().subspan(on_.rows().first(), z.size()), z.span());
    }
    const Stage& finest = *stages_.front();
    find_scale_of_all(r);
    double* const scale = scale_of_call_.data();
    enter_cycle(local(), r.span(), finest.scales.scale.span(), scale, finest.b.own());
    const auto down = [&] { descend(0); };
    is_direct_ ? replay_.run(local(), down) : down();
    ascend(0, ScaledResult{z.span().data(), finest.scales.scale.data(), twice_the_shift_, scale + 1});
  }
  bool is_symmetric() const { return options_.symmetric; }
  std::vector<LevelFacts> levels() const { return facts_; }
  std::int64_t bytes() const {  // of this process
    std::int64_t bytes = whole_ ? whole_->bytes() : 0;
    for (const auto& stage : stages_) bytes += stage->bytes();
    return bytes;
  }
  std::string describe() const {
    return "amg by smoothed aggregation within each process, " + plural(std::int64_t(facts_.size()), "level") +
           (stages_.empty() ? "" : ", " + std::to_string(stages_.size()) + " of them shared");
  }

 private:
  /// Levels with fewer rows are brought to all processes: messages cost more than the work that they share. One number for all back
  /// ends, since x depends on it: GPUs gain 5 % at most by 50,000 (docs/notes/multigrid.md).
  static constexpr std::int64_t rows_per_process = 1000;

  /// [before; own; after] of a vector in single precision.
  struct Shared {
    std::int64_t before = 0, size = 0;
    Array<float, Space> whole = {};
    Shared() = default;
    Shared(const B& on, const Halo& halo) : before(halo.before), size(halo.own), whole(on, halo.columns()) {}
    Span<float, Space> own() { return whole.span().subspan(before, size); }
  };
  /// S and S^-1 of a level.
  struct Scales {
    Values scale = {}, inverse = {};
  };
  /// A level whose rows processes share, scaled to a unit diagonal as SingleCycle has it, and what leads to the next one.
  struct Stage {
    std::int64_t bytes() const {
      std::int64_t bytes = A.bytes() + R.bytes() + Q.bytes() + 8 * scales.scale.size();
      for (const Shared* v : {&b, &t[0], &t[1], &before, &coarse_x, &restricted}) bytes += 4 * v->whole.size();
      return bytes;
    }

    std::shared_ptr<const HaloExchange<B>> of_rows, of_coarse;  // the latter of columns of Q; none where there is no next level
    LevelMatrix<Space> A = {}, R = {}, Q = {};  // R has the rows of P here, and one for each column of Q
    Scales scales = {};
    std::vector<float> dampings = {};
    mutable Shared b = {}, t[2] = {}, before = {}, coarse_x = {}, restricted = {};
  };
  /// Of a stage, until the scales of the next level are known.
  struct Between {
    Csr<double, Offset, Space> P = {}, R = {}, AP = {};  // columns as in Q
    Values inverse_diagonal = {}, sizes = {};            // of the stage; of the modes of the next level
  };
  /// The rows here, with a row for each of their other columns (with_rows_of_others()), and what they are measured by.
  struct Square {
    Csr<double, Offset, Space> A;
    RowScales<Space> scales;
  };
  /// The next level as the rows of a process show it.
  struct Prolongation {
    RowShares coarse;              // rows
    Csr<double, Offset, Space> P;  // with columns of the whole
    double correction = 1;         // by which the coarse matrix is divided
  };

  const Processes& all() const { return on_.rows().all; }
  const B& local() const { return on_.local(); }
  std::int64_t size_of(const Matrix& A) const { return A.on().rows().shares.n(); }
  bool is_last(const Matrix& A) const {
    return size_of(A) <= std::max<std::int64_t>(options_.coarsest, rows_per_process * all().size());
  }
  double over_all(double mine, const auto& op) const {
    const Array<double> found = of_all(all(), Array<double>(1, mine));
    return std::accumulate(found.begin() + 1, found.end(), found[0], op);
  }
  std::int64_t sum(std::int64_t mine) const { return std::int64_t(over_all(double(mine), std::plus<>())); }
  double largest(double mine) const {
    return over_all(mine, [](double a, double b) { return std::max(a, b); });
  }

  /// Makes a stage of a level, and returns the next level; none where that is not worth it: then this is the last. `between` is
  /// of the stage before, then of this one.
  std::optional<Matrix> coarser(const Matrix& A, NearNull& near_null, Between& between) {
    LevelFacts& facts = facts_.emplace_back();
    facts.rows = size_of(A);
    facts.nnz = sum(A.rows().nnz());
    Square square = square_of(A);
    const V inverse = look_at(A, square, facts);
    Scales scales = scales_of(A, inverse, between);
    if (!stages_.empty()) connect(*stages_.back(), scales.scale, between);
    Stage& stage = *stages_.emplace_back(std::make_unique<Stage>(
        Stage{.of_rows = A.halo_exchange(), .of_coarse = {}, .scales = std::move(scales)}));
    const auto scale_of_columns = with_halo_of(*stage.of_rows, stage.scales.scale);
    for (const double damping : dampings_of(smoother_, dominant_))
      stage.dampings.push_back(float(damping / facts.largest_eigenvalue));
    together(all(), [&] {
      const auto rows = A.rows();
      stage.A = level_matrix(local(), rows.nrows, rows.ncols, multigrid_detail::lanes_for(rows),
                             level_detail::ScaledRows<Offset, Space>{rows, stage.scales.scale, scale_of_columns, true,
                                                                     Index(A.halo().before)});
    });

    const bool of_nodes = near_null.unknowns_per_node > 1 || largest(double(near_null.modes.ncols)) > 0;
    Prolongation to =
        of_nodes ? of_aggregated_nodes(A, inverse, near_null, facts) : of_aggregated_rows(A, square, facts);
    square = {};
    facts.lone = sum(facts.lone);
    facts.prolongation_nnz = sum(to.P.nnz());
    if (!multigrid_detail::is_worth_a_level(to.coarse.n(), facts.rows)) return {};
    const auto P_of_columns = rows_of_columns(local(), all(), A.halo(), to.P.view());
    const Distributed<B> on(local(), std::make_shared<SharedRows>(all(), to.coarse));
    together(all(), [&] {
      between.P = std::move(to.P);
      between.AP = spgemm(local(), A.rows(), P_of_columns.view());
    });
    const auto columns_of_all = copied_to<Space>(local(), std::as_const(between.AP.col_idx));
    Halo halo = find_halo(local(), all(), to.coarse, between.AP);
    Csr<double, Offset, Space> contributions;
    together(all(), [&] {
      renumber(local(), halo, on.rows().first(), between.P);
      between.R = transpose(local(), std::as_const(between.P).view());
      CsrView<double, Offset, Space> AP = std::as_const(between.AP).view();
      AP.ncols = Index(to.coarse.n()), AP.col_idx = columns_of_all;
      contributions = spgemm(local(), std::as_const(between.R).view(), AP);
      between.inverse_diagonal = copied_to<Space>(local(), inverse.span());
      stage.of_coarse = std::make_shared<HaloExchange<B>>(local(), all(), std::move(halo));
    });
    const HaloExchange<B>& of_coarse = *stage.of_coarse;
    Values sizes(local(), of_coarse.halo().columns());
    sizes_of_modes(local(), std::as_const(between.R).view(), std::as_const(stage.scales.inverse).span(), sizes.span());
    between.sizes = Values(local(), of_coarse.halo().own);
    of_coarse.template add_back<double>(sizes, between.sizes.span());
    auto coarse = added_rows(local(), all(), of_coarse.halo(), std::as_const(contributions).view());
    if (of_nodes)
      complete_coarse(local(), std::as_const(coarse).view(), coarse.values.span(), to.correction,
                      Index(on.rows().first()));
    return Matrix(on, std::move(coarse));
  }

  Square square_of(const Matrix& A) {
    Square square;
    together(all(), [&] {
      square.A = with_rows_of_others(local(), A.halo(), A.rows());
      square.scales = row_scales(local(), square.A.view());
    });
    return square;
  }
  /// 1 / a_ii, 0 where a smoother must leave a row alone.
  V inverse_diagonal_of(const Matrix& A, const Square& square) const {
    V inverse = A.domain();
    copy<B, double>(local(), square.scales.inverse_diagonal.span().subspan(A.halo().before, A.halo().own),
                    inverse.span());
    return inverse;
  }
  /// That; the largest eigenvalue, and whether the finest level is dominated by its diagonal.
  V look_at(const Matrix& A, const Square& square, LevelFacts& facts) {
    const Halo& halo = A.halo();
    double off_diagonal = 0;
    together(all(), [&] {
      const auto ratios = square.scales.off_diagonal.span().subspan(halo.before, halo.own);
      off_diagonal = max_abs<B, double>(local(), ratios);
      if (facts_.size() == 1 && !std::isfinite(off_diagonal))
        throw InputError("amg: row " + std::to_string(A.on().rows().first() + first_nonfinite(local(), ratios) + 1) +
                         " cannot be divided by its diagonal entry");
    });
    off_diagonal = largest(off_diagonal);
    if (facts_.size() == 1) dominant_ = off_diagonal <= 1 + 1e-10;
    V inverse = inverse_diagonal_of(A, square), start = A.domain();
    fill_hashed(start, 1);
    facts.largest_eigenvalue = multigrid_detail::spectral_bound(
        estimate_largest_eigenvalue(A, &inverse, start, LevelNumbers<B>::lanczos_steps), off_diagonal);
    return inverse;
  }

  Scales scales_of(const Matrix& A, const V& inverse, const Between& between) {
    const bool finest = stages_.empty();
    Scales scales;
    double max_scale = 0;
    together(all(), [&] {
      scales = {Values(local(), A.nrows()), Values(local(), A.nrows())};
      scale_to_unit_diagonal(local(), {.inverse_diagonal = inverse.span(),
                                       .sizes = between.sizes,
                                       .of_negative = finest ? std::numeric_limits<double>::quiet_NaN() : 0,
                                       .scale = scales.scale,
                                       .inverse_scale = scales.inverse});
      const auto found = std::as_const(scales.scale).span();
      max_scale = max_abs<B, double>(local(), found);
      if (!std::isfinite(max_scale))
        throw InputError("amg: found a negative diagonal entry in row " +
                         std::to_string(A.on().rows().first() + first_nonfinite(local(), found) + 1) +
                         ", expected a positive definite matrix\n  give -A");
    });
    if (finest) max_scale_ = largest(max_scale);
    return scales;
  }
  /// Makes R and Q of a stage, now that the scales of the next level are known.
  void connect(Stage& stage, const Values& coarse_scale, Between& between) {
    const auto scale_of_columns = with_halo_of(*stage.of_coarse, coarse_scale);
    together(all(), [&] {
      const auto P = std::as_const(between.P).view(), R = std::as_const(between.R).view(),
                 AP = std::as_const(between.AP).view();
      stage.R = level_matrix(local(), R.nrows, R.ncols, multigrid_detail::short_row_lanes,
                             level_detail::ScaledRows<Offset, Space>{R, scale_of_columns, stage.scales.inverse});
      stage.Q = level_matrix(
          local(), AP.nrows, AP.ncols, multigrid_detail::lanes_for(AP),
          level_detail::CorrectionRows<Offset, Space>{AP, P, stage.dampings[0], between.inverse_diagonal,
                                                      stage.scales.inverse, scale_of_columns});
      stage.scales.inverse = {};
      between = {};
    });
  }
  Values with_halo_of(const HaloExchange<B>& of, const Values& own) const {
    const Halo& halo = of.halo();
    Values whole(local(), halo.columns());
    copy<B, double>(local(), own.span(), whole.span().subspan(halo.before, halo.own));
    of.bring(whole.span());
    return whole;
  }

  /// Dealt out as processes have coarse rows.
  RowShares shares_of(std::int64_t coarse_rows) const {
    const Array<std::int64_t> counts = of_all(all(), Array<std::int64_t>(1, coarse_rows));
    return RowShares(std::vector<std::int64_t>(counts.begin(), counts.end()));
  }

  /// By aggregates of rows, which see the couplings of their rows to others; rows of others have none, so they join nothing.
  Prolongation of_aggregated_rows(const Matrix& A, Square& square, LevelFacts& facts) {
    using namespace multigrid_detail;
    const Halo& halo = A.halo();
    const std::size_t l = stages_.size() - 1;
    Csr<double, Offset, Space> couplings;
    Level<Offset, Space> level{.A = square.A.view()};
    level.facts.largest_eigenvalue = facts.largest_eigenvalue;
    RowScales<Space> measures;
    Array<Index, Space> neighbour;
    Aggregates<Space> found;
    const auto take_largest = [&](RowScales<Space>& of) {  // those of the rows of others
      const V own(A.on(), Span<double, Space>(of.largest_coupling.data() + halo.before, halo.own));
      copy<B, double>(local(), A.with_halo(own), of.largest_coupling.span());
    };
    together(all(), [&] {
      if (options_.symmetric) return;
      const auto half = with_symmetric_part(local(), halo, A.rows());
      couplings = with_rows_of_others(local(), halo, half.view());
      measures = row_scales(local(), std::as_const(couplings).view());
    });
    RowScales<Space>& of_couplings = options_.symmetric ? square.scales : measures;
    take_largest(of_couplings);
    Index count = 0;
    together(all(), [&] {
      neighbour = Array<Index, Space>(local(), level.A.nnz());
      found =
          aggregated_rows<B, Offset>(local(), level, l, options_, options_.symmetric ? level.A : couplings.view(),
                                     of_couplings, neighbour.span());
      if (is_worth_a_level(found.count, halo.own)) count = found.count;
    });
    facts.strength = level.facts.strength;
    facts.lone = level.facts.lone;

    Prolongation to{.coarse = shares_of(count), .P = {}};
    if (to.coarse.n() == 0) return to;
    V of_row = A.domain();  // aggregates among those of all processes
    if (count > 0) {
      const auto numbers = numbered<B>(local(), found.of_row.span().subspan(halo.before, halo.own),
                                       to.coarse.first(all().rank()));
      copy<B, double>(local(), numbers.span(), of_row.span());
    } else {
      fill(of_row, -1);
    }
    const auto of_all_rows = A.with_halo(of_row);
    together(all(), [&] {
      const Aggregates<Space> aggregates{Index(to.coarse.n()), indices<B>(local(), of_all_rows), 0, 0};
      const auto P =
          prolongator(local(), level.A, packed_strong<B>(local(), neighbour).span(), aggregates, damping(facts));
      to.P = rows_between(local(), P.view(), halo.before, halo.own);
    });
    return to;
  }

  /// By aggregates of the nodes of this process. Then near_null is that of the next level.
  Prolongation of_aggregated_nodes(const Matrix& A, const V& inverse, NearNull& near_null, LevelFacts& facts) {
    using namespace multigrid_detail;
    const Halo& halo = A.halo();
    const bool finest = stages_.size() == 1, plain = finest && options_.first == FirstLevel::plain;
    Csr<double, Offset, Space> T{
        Index(halo.own), 0, copied_to<Space>(local(), Array<Offset>(halo.own + 1, Offset(0))), {}, {}};
    Level<Offset, Space> level;
    facts.unknowns_per_node = near_null.unknowns_per_node;
    Index unknowns = 0;
    together(all(), [&] {
      if (halo.own == 0) return;
      Csr<double, Offset, Space> half;
      const auto block = own_block(local(), halo, A.rows());
      level.A = block.view();
      level.facts.largest_eigenvalue = facts.largest_eigenvalue;
      if (finest) near_null = near_null_of(local(), level.A, near_null.unknowns_per_node, near_null.modes);
      if (!options_.symmetric) half = symmetric_part(local(), level.A);
      const auto couplings = options_.symmetric ? level.A : half.view();
      const auto scales = row_scales(local(), level.A);
      const auto found = aggregated_nodes(local(), level, couplings, near_null, options_.strength);
      const Index m = Index(near_null.modes.ncols);
      if (!is_worth_a_level(found.count * std::int64_t(m), halo.own)) return;
      auto made = tentative(local(), level.A, scales.inverse_diagonal.span(), found.of_row, found.count,
                            near_null.unknowns_per_node, near_null.modes);
      T = std::move(made.T);
      near_null.take(std::move(made.coarse_modes));
      near_null.blocks = Blocks::full;
      unknowns = m;
    });
    near_null.unknowns_per_node = Index(largest(unknowns));
    facts.strength = level.facts.strength;
    facts.lone = level.facts.lone;
    Prolongation to{.coarse = shares_of(T.ncols), .P = std::move(T), .correction = plain ? plain_correction : 1};
    move_columns<B>(local(), Index(to.coarse.first(all().rank())), to.P.col_idx.span());
    to.P.ncols = Index(to.coarse.n());
    if (plain) return to;
    const auto T_of_columns = rows_of_columns(local(), all(), halo, std::as_const(to.P).view());
    together(all(), [&] {
      auto P = spgemm(local(), A.rows(), T_of_columns.view());
      smooth_rows(local(), P.view(), P.values.span(), inverse.span(), damping(facts),
                  std::as_const(to.P).view());
      to.P = std::move(P);
    });
    return to;
  }

  /// Brings the last level to every process.
  void finish(const Matrix& A, AmgOptions options, const NearNull& near_null, Between& between) {
    const std::int64_t n = size_of(A), k = std::int64_t(largest(double(near_null.modes.ncols)));
    for (int p = 0; p < all().size(); ++p) whole_counts_.push_back(A.on().rows().shares.rows(p));
    const auto rows = copied_to<Host>(local(), A.rows());
    const Csr<double, Offset> whole = whole_of(all(), A.on().rows().first(), A.halo(), rows.view(), n);
    Array<double> modes(n * k);
    for (std::int64_t j = 0; j < k; ++j) {
      Array<double> part(A.nrows());
      if (!part.empty())
        part = copied_to<Host>(local(),
                               Span<const double, Space>(&near_null.modes.data[near_null.modes.at(0, j)], part.size()));
      std::ranges::copy(of_all(all(), part), modes.begin() + j * n);
    }
    options.coarsening = options_;
    options.coarsening.unknowns_per_node = near_null.unknowns_per_node;
    together(all(), [&] {
      whole_A_ = std::make_unique<Csr<double, Offset, Space>>(copied_to<Space>(local(), whole.view()));
      const auto there = copied_to<Space>(local(), modes);
      whole_ = std::make_unique<AmgPreconditioner<Offset, B>>(local(), std::as_const(*whole_A_).view(), options,
                                                              Modes{n, k, n, Layout::column_major, there.data()});
      whole_b_.emplace(local(), n);
      whole_x_.emplace(local(), n);
    });
    for (const LevelFacts& level : whole_->levels()) facts_.push_back(level);
    if (stages_.empty()) return;
    const Scales scales = scales_of(A, inverse_diagonal_of(A, square_of(A)), between);
    connect(*stages_.back(), scales.scale, between);
    last_first_ = A.on().rows().first();
    last_b_ = Array<float, Space>(local(), A.nrows());
    whole_scaled_b_ = Array<float, Space>(local(), n);
    whole_inverse_scale_ = Values(local(), n);
    gather_from_all<double>(local(), all(), scales.inverse.span(), whole_counts_, whole_inverse_scale_.span());
  }

  /// Of all stages, and of what each apply() begins with.
  void take_vectors() {
    if (stages_.empty()) return;
    for (const auto& stage : stages_) {
      const auto of_rows = [&] { return Shared(local(), stage->of_rows->halo()); };
      stage->b = of_rows();
      for (std::size_t k = 0; k < stage->dampings.size(); ++k) stage->t[k] = of_rows();
      if (stage->dampings.size() > 1) stage->before = of_rows();
      if (stage->of_coarse) {
        stage->coarse_x = Shared(local(), stage->of_coarse->halo());
        stage->restricted = Shared(local(), stage->of_coarse->halo());
      } else {  // nothing corrects it
        stage->Q = {.nrows = stage->A.nrows, .step_ptr = Array<Index, Space>(local(), no_steps(stage->A.nrows))};
      }
    }
    Values& scale = stages_.front()->scales.scale;
    const double exponent = max_scale_ > 0 ? std::ilogb(max_scale_) : 0;  // as in SingleCycle
    axpby<B, double>(local(), 0, scale, std::exp2(-exponent), scale.span());
    twice_the_shift_ = std::exp2(2 * exponent);
    scale_of_call_ = Values(local(), 2);
    maximum_ = Values(local(), 1);
    maxima_ = Values(local(), all().size());
    one_ = Values(local(), std::vector<double>{1});
    is_direct_ = is_direct(local(), all());
  }
  static std::vector<Index> no_steps(Index nrows) {
    return std::vector<Index>(std::size_t((nrows + slice_places - 1) / slice_places + 1));
  }

  /// scale_of_call_ as blas1::find_scale() finds it, of the elements of all processes.
  void find_scale_of_all(const V& r) const {
    blas1::leave_max_abs(local(), r.span().data(), r.size(), maximum_.data());
    gather_from_all<double>(local(), all(), maximum_, std::vector<std::int64_t>(std::size_t(all().size()), 1),
                            maxima_.span());
    blas1::find_scale(local(), maxima_.data(), maxima_.size(), scale_of_call_.data());
  }

  static std::array<float*, 2> residuals(const Stage& at) { return {at.t[0].own().data(), at.t[1].own().data()}; }
  /// One with A^, of a vector of the stage.
  auto product_with_A(const Stage& at) const {
    return [&](const float* x, const Combination& c, const auto& y) {
      const Halo& halo = at.of_rows->halo();
      const Span<float, Space> whole(const_cast<float*>(x) - halo.before, halo.columns());  // its own elements are only read
      at.of_rows->bring(whole);
      level_product(local(), at.A.view(), whole.data(), c, y);
    };
  }

  /// The sweeps of level l before the correction, and x of the next level.
  void descend(std::size_t l) const {
    const Stage& at = *stages_[l];
    const float* const residual = multigrid_detail::residuals_of_sweeps(
        at.dampings, at.b.own().data(), residuals(at).data(), product_with_A(at));
    if (!at.of_coarse) return;
    const bool before_last = l + 1 == stages_.size();
    level_product(local(), at.R.view(), residual, Combination{}, at.restricted.whole.data());
    at.of_coarse->template add_back<float>(at.restricted.whole,
                                           before_last ? last_b_.span() : stages_[l + 1]->b.own());
    if (before_last) {
      solve_last(at.coarse_x.own());
    } else {
      descend(l + 1);
      ascend(l + 1, at.coarse_x.own().data());
    }
    at.of_coarse->bring(at.coarse_x.whole.span());
  }
  /// What those sweeps did, the correction, and the sweeps after it.
  void ascend(std::size_t l, const auto& x) const {
    const Stage& at = *stages_[l];
    multigrid_detail::sweeps_after(
        at.dampings, at.b.own().data(), residuals(at).data(),
        [&](const Combination& sum, const auto& y) {
          level_product(local(), at.Q.view(), at.coarse_x.whole.data(), sum, y);
        },
        product_with_A(at), at.before.own().data(), x);
  }
  /// By each process for all of them.
  void solve_last(Span<float, Space> x) const {
    gather_from_all<float>(local(), all(), last_b_, whole_counts_, whole_scaled_b_.span());
    leave_cycle(local(), std::as_const(whole_scaled_b_).span(), whole_inverse_scale_.span(), whole_b_->span());
    whole_->apply(*whole_b_, *whole_x_);
    enter_cycle(local(), std::as_const(*whole_x_).span().subspan(last_first_, x.size()),
                whole_inverse_scale_.span().subspan(last_first_, x.size()), one_.data(), x);
  }

  Distributed<B> on_;
  CoarseningOptions options_;
  AmgSmoother smoother_;
  bool dominant_ = false;
  double max_scale_ = 0, twice_the_shift_ = 1;  // of the finest level, as in SingleCycle
  std::vector<LevelFacts> facts_;
  std::vector<std::unique_ptr<Stage>> stages_;
  // the level that every process has all of, and the rows here
  std::unique_ptr<Csr<double, Offset, Space>> whole_A_;
  std::unique_ptr<AmgPreconditioner<Offset, B>> whole_;
  std::vector<std::int64_t> whole_counts_;
  std::int64_t last_first_ = 0;
  Values whole_inverse_scale_, one_;
  mutable std::optional<Vector<double, B>> whole_b_, whole_x_;
  mutable Array<float, Space> last_b_, whole_scaled_b_;
  mutable Values scale_of_call_, maximum_, maxima_;
  bool is_direct_ = false;
  mutable Replay replay_;  // of what does not depend on where r and z are
};

}  // namespace seidel
