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
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seidel/formats/convert.hpp>
#include <seidel/kernels/distributed/matrix.hpp>
#include <seidel/kernels/distributed/rows.hpp>
#include <seidel/kernels/spgemm/spgemm.hpp>
#include <seidel/solvers/multigrid/distributed_cycle.hpp>
#include <seidel/solvers/preconditioners/amg.hpp>

namespace seidel {

/// z = M^-1 r by a V cycle in single precision (distributed_cycle.hpp). Symmetric positive definite where A is. x has the same bits
/// for the same number of processes; where all of A is small enough to be brought to each, those of one process.
///
/// Cost    made: on each level about the work of coarsened() for the rows here, and a dozen messages to the processes whose rows
///         these couple with. Applied: as DistributedCycle.
/// Errors  as coarsened(), on all processes, and InputError for a negative diagonal entry; UsageError for what one process alone
///         does: W and K cycles, symgs as smoother, levels in double precision, classical coarsening, those of a lattice.
///         options.coarsening.max_levels counts the levels of which each process has the whole.
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
    const std::string found = options.smoother == AmgSmoother::symgs  ? "symgs as smoother"
                              : options.cycle != AmgCycle::v          ? "a W or K cycle"
                              : options.storage == AmgStorage::fp64   ? "levels in fp64"
                              : options_.coarse_row == CoarseRow::row ? "classical coarsening"
                              : options_.lattice.nx > 0               ? "levels of a lattice"
                                                                      : "";
    if (!found.empty())
      throw UsageError("amg: found " + found +
                       " for several processes, which one process alone has\n  leave that out, or "
                       "take one process");
    NearNull near_null{.unknowns_per_node = options_.unknowns_per_node, .modes = modes};
    Between between;
    std::optional<Matrix> level = A;
    std::optional<WholeLevel<B>> last;
    for (; level && !is_last(*level); options_.first = FirstLevel::smoothed)
      level = coarser(*level, near_null, between);
    if (level) last = whole_level(*level, options, near_null, between);
    together(all(), [&] { cycle_.emplace(local(), all(), std::move(levels_), std::move(last), max_scale_); });
    for (std::size_t l = 0; l < cycle_->shared_levels(); ++l) facts_[l].bytes = cycle_->bytes(l);
  }

  void apply(const V& r, V& z) const { cycle_->apply(r.span(), z.span()); }
  bool is_symmetric() const { return options_.symmetric; }
  std::vector<LevelFacts> levels() const { return facts_; }
  std::int64_t bytes() const { return cycle_->bytes(); }  // of this process
  std::string describe() const {
    return "amg by smoothed aggregation within each process, " + plural(std::int64_t(facts_.size()), "level") +
           (cycle_->shared_levels() == 0 ? "" : ", " + std::to_string(cycle_->shared_levels()) + " of them shared");
  }

 private:
  /// Levels with fewer rows are brought to all processes: messages cost more than the work that they share. One number for all back
  /// ends, since x depends on it: GPUs gain 5 % at most by 50,000 (docs/notes/multigrid.md).
  static constexpr std::int64_t rows_per_process = 1000;

  /// S and S^-1 of a level.
  struct Scales {
    Values scale, inverse;
  };
  /// Of a level, until the scales of the next one are known.
  struct Between {
    Csr<double, Offset, Space> P = {}, R = {}, AP = {};  // columns as in Q
    Values inverse_diagonal = {}, inverse_scale = {};
    Values sizes = {};  // of the modes of the next level
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
  std::int64_t sum(std::int64_t mine) const { return std::int64_t(sum_of_all(all(), double(mine))); }
  double largest(double mine) const { return largest_of_all(all(), mine); }

  /// Makes a level of the cycle, and returns the next matrix; none where that is not worth it: then this is the last level.
  /// `between` is of the level before, then of this one.
  std::optional<Matrix> coarser(const Matrix& A, NearNull& near_null, Between& between) {
    LevelFacts& facts = facts_.emplace_back();
    facts.rows = size_of(A);
    facts.nnz = sum(A.rows().nnz());
    Square square = square_of(A);
    const V inverse = look_at(A, square, facts);
    Values inverse_scale = add_level(A, inverse, facts, between);

    const bool of_nodes = near_null.unknowns_per_node > 1 || largest(double(near_null.modes.ncols)) > 0;
    Prolongation to =
        of_nodes ? of_aggregated_nodes(A, inverse, near_null, facts) : of_aggregated_rows(A, square, facts);
    square = {};
    facts.lone = sum(facts.lone);
    facts.prolongation_nnz = sum(to.P.nnz());
    if (!multigrid_detail::is_worth_a_level(to.coarse.n(), facts.rows)) return {};
    const auto P_of_columns = rows_of_columns(local(), all(), A.halo(), std::as_const(to.P).view());
    const Distributed<B> on(local(), std::make_shared<SharedRows>(all(), to.coarse));
    Array<Index, Space> columns_of_all;  // of A P, before they are renumbered
    together(all(), [&] {
      between.P = std::move(to.P);
      between.AP = spgemm(local(), A.rows(), P_of_columns.view());
      columns_of_all = copied_to<Space>(local(), std::as_const(between.AP.col_idx));
    });
    Halo halo = find_halo(local(), all(), to.coarse, between.AP);
    Csr<double, Offset, Space> contributions;
    Values sizes;
    together(all(), [&] {
      renumber(local(), halo, on.rows().first(), between.P);
      between.R = transpose(local(), std::as_const(between.P).view());
      const auto R = std::as_const(between.R).view();
      CsrView<double, Offset, Space> AP = std::as_const(between.AP).view();
      AP.ncols = Index(to.coarse.n()), AP.col_idx = columns_of_all;
      contributions = spgemm(local(), R, AP);
      between.inverse_diagonal = copied_to<Space>(local(), inverse.span());
      between.inverse_scale = std::move(inverse_scale);
      between.sizes = Values(local(), halo.own);
      sizes = Values(local(), halo.columns());
      sizes_of_modes(local(), R, std::as_const(between.inverse_scale).span(), sizes.span());
      levels_.back().of_coarse = std::make_shared<HaloExchange<B>>(local(), all(), std::move(halo));
    });
    const HaloExchange<B>& of_coarse = *levels_.back().of_coarse;
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
    if (facts_.size() == 1) dominant_ = multigrid_detail::all_dominated(off_diagonal);
    V inverse = inverse_diagonal_of(A, square), start = A.domain();
    fill_hashed(start, 1);
    facts.largest_eigenvalue = multigrid_detail::spectral_bound(
        estimate_largest_eigenvalue(A, &inverse, start, LevelNumbers<B>::lanczos_steps), off_diagonal);
    return inverse;
  }

  /// The scales of a level, after which R and Q of the level before can be made.
  Scales scales_of(const Matrix& A, const V& inverse, Between& between) {
    const bool finest = levels_.empty();
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
    if (finest)
      max_scale_ = largest(max_scale);
    else
      connect(levels_.back(), scales.scale, between);
    return scales;
  }
  void connect(SharedLevel<B>& level, const Values& coarse_scale, Between& between) {
    const auto scale_of_columns = level.of_coarse->with_halo(coarse_scale);
    together(all(), [&] {
      const auto P = std::as_const(between.P).view(), R = std::as_const(between.R).view(),
                 AP = std::as_const(between.AP).view();
      level.R = level_matrix(local(), R.nrows, R.ncols, multigrid_detail::short_row_lanes,
                             level_detail::ScaledRows<Offset, Space>{R, scale_of_columns, between.inverse_scale});
      level.Q =
          level_matrix(local(), AP.nrows, AP.ncols, multigrid_detail::lanes_for(AP),
                       level_detail::CorrectionRows<Offset, Space>{AP, P, level.dampings[0], between.inverse_diagonal,
                                                                   between.inverse_scale, scale_of_columns});
      between = {};
    });
  }
  /// Returns S^-1.
  Values add_level(const Matrix& A, const V& inverse, const LevelFacts& facts, Between& between) {
    Scales scales = scales_of(A, inverse, between);
    const auto scale_of_columns = A.halo_exchange()->with_halo(scales.scale);
    auto& level = levels_.emplace_back(SharedLevel<B>{.of_rows = A.halo_exchange(), .scale = std::move(scales.scale)});
    for (const double damping : dampings_of(smoother_, dominant_))
      level.dampings.push_back(float(damping / facts.largest_eigenvalue));
    together(all(), [&] {
      const auto rows = A.rows();
      level.A = level_matrix(
          local(), rows.nrows, rows.ncols, multigrid_detail::lanes_for(rows),
          level_detail::ScaledRows<Offset, Space>{rows, level.scale, scale_of_columns, true, Index(A.halo().before)});
    });
    return std::move(scales.inverse);
  }

  /// By aggregates of rows, which see the couplings of their rows to others; rows of others have none, so they join nothing.
  Prolongation of_aggregated_rows(const Matrix& A, Square& square, LevelFacts& facts) {
    using namespace multigrid_detail;
    const Halo& halo = A.halo();
    const std::size_t l = levels_.size() - 1;
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
      found = aggregated_rows<B, Offset>(local(), level, l, options_, options_.symmetric ? level.A : couplings.view(),
                                         of_couplings, neighbour.span());
      if (is_worth_a_level(found.count, halo.own))
        count = found.count;
      else
        found.of_row = moved_to<Space>(local(), Array<Index>(level.A.nrows, aggregation_detail::in_no_aggregate));
    });
    facts.strength = level.facts.strength;
    facts.lone = level.facts.lone;

    Prolongation to{.coarse = shares_of(all(), count), .P = {}};
    if (to.coarse.n() == 0) return to;
    found.count = Index(to.coarse.n());  // among those of all processes
    move_columns<B>(local(), Index(to.coarse.first(all().rank())), found.of_row.span().subspan(halo.before, halo.own));
    A.halo_exchange()->bring(found.of_row.span());
    together(all(), [&] {
      const auto P = prolongator(local(), level.A, packed_strong<B>(local(), neighbour).span(), found, damping(facts));
      to.P = rows_between(local(), P.view(), halo.before, halo.own);
    });
    return to;
  }

  /// By aggregates of the nodes of this process. Then near_null is that of the next level.
  Prolongation of_aggregated_nodes(const Matrix& A, const V& inverse, NearNull& near_null, LevelFacts& facts) {
    using namespace multigrid_detail;
    const Halo& halo = A.halo();
    const bool finest = levels_.size() == 1, plain = finest && options_.first == FirstLevel::plain;
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
    Prolongation to{.coarse = shares_of(all(), T.ncols), .P = std::move(T), .correction = plain ? plain_correction : 1};
    move_columns<B>(local(), Index(to.coarse.first(all().rank())), to.P.col_idx.span());
    to.P.ncols = Index(to.coarse.n());
    if (plain) return to;
    const auto T_of_columns = rows_of_columns(local(), all(), halo, std::as_const(to.P).view());
    together(all(), [&] {
      auto P = spgemm(local(), A.rows(), T_of_columns.view());
      smooth_rows(local(), P.view(), P.values.span(), inverse.span(), damping(facts), std::as_const(to.P).view());
      to.P = std::move(P);
    });
    return to;
  }

  /// The last level, brought to every process.
  WholeLevel<B> whole_level(const Matrix& A, AmgOptions options, const NearNull& near_null, Between& between) {
    const std::int64_t n = size_of(A), k = std::int64_t(largest(double(near_null.modes.ncols)));
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
    std::optional<WholeLevel<B>> last;
    together(all(), [&] {
      const auto kept = std::make_shared<const Csr<double, Offset, Space>>(copied_to<Space>(local(), whole.view()));
      const auto there = copied_to<Space>(local(), modes);
      AmgPreconditioner<Offset, B> M(local(), kept->view(), options,
                                     Modes{n, k, n, Layout::column_major, there.data()});
      for (const LevelFacts& level : M.levels()) facts_.push_back(level);
      last.emplace(local(), all(), A.on().rows().shares, std::move(M), kept);
    });
    if (levels_.empty()) return std::move(*last);
    const Scales scales = scales_of(A, inverse_diagonal_of(A, square_of(A)), between);
    last->take_scale(scales.inverse.span());
    return std::move(*last);
  }

  Distributed<B> on_;
  CoarseningOptions options_;
  AmgSmoother smoother_;
  bool dominant_ = false;
  double max_scale_ = 0;  // of the finest level
  std::vector<LevelFacts> facts_;
  std::vector<SharedLevel<B>> levels_;  // while they are made
  std::optional<DistributedCycle<B>> cycle_;
};

}  // namespace seidel
