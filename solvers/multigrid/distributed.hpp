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
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seidel/formats/convert.hpp>
#include <seidel/kernels/distributed/matrix.hpp>
#include <seidel/kernels/distributed/rows.hpp>
#include <seidel/kernels/spgemm/spgemm.hpp>
#include <seidel/solvers/preconditioners/amg.hpp>

namespace seidel {

/// z = M^-1 r by a V cycle, as AmgPreconditioner's in double precision. Symmetric positive definite where A is. x has the same bits
/// for the same number of processes; where all of A is small enough to be brought to each, those of one process.
///
/// Cost    made: on each level about the work of coarsened() for the rows here, and a dozen messages to the processes whose rows
///         these couple with. Applied: allocates nothing; messages of four to six products per level, and one to all for the last.
/// Errors  as coarsened(), on all processes; UsageError for what one process alone does: W and K cycles, symgs as smoother,
///         levels in single precision, classical coarsening.
template <class Offset, Backend B>
class DistributedAmg {
  using Space = SpaceOf<B>;
  using Matrix = DistributedMatrix<Offset, B>;
  using NearNull = multigrid_detail::NearNull<Space>;
  using Modes = MultiVectorView<const double, Space>;

 public:
  using V = Vector<double, Distributed<B>>;

  /// options.coarsening.unknowns_per_node must be known, the same on all processes. `modes`, the rows here of near-null vectors,
  /// need not outlive the call.
  DistributedAmg(const Matrix& A, const AmgOptions& options, const Modes& modes)
      : on_(A.on()), options_(options.coarsening), smoother_(options.smoother) {
    if (options.smoother == AmgSmoother::symgs || options.cycle != AmgCycle::v || options.storage == AmgStorage::fp32 ||
        options_.coarse_row == CoarseRow::row)
      throw UsageError(
          "amg: found symgs as smoother, a W or K cycle, levels in fp32 or classical coarsening for several processes, "
          "expected none of these: one process alone has them");
    NearNull near_null{.unknowns_per_node = options_.unknowns_per_node, .modes = modes};
    for (Matrix level = A; !is_last(level);) {
      std::optional<Matrix> next = coarser(level, near_null);
      if (!next) return;
      level = std::move(*next);
      options_.first = FirstLevel::smoothed;
      if (is_last(level)) last_.emplace(level);
    }
    if (stages_.empty()) last_.emplace(A);
    finish(options, near_null);
  }

  void apply(const V& r, V& z) const { cycle(0, r, z); }
  bool is_symmetric() const { return options_.symmetric; }
  std::vector<LevelFacts> levels() const { return facts_; }
  std::int64_t bytes() const {  // of this process
    std::int64_t bytes = whole_ ? whole_->bytes() : 0;
    for (const auto& stage : stages_)
      bytes += 12 * (stage->A.rows().nnz() + (stage->P ? 2 * stage->P->rows().nnz() : 0)) + 6 * 8 * stage->A.nrows();
    return bytes;
  }
  std::string describe() const {
    return "amg by smoothed aggregation within each process, " + plural(std::int64_t(facts_.size()), "level") +
           (stages_.empty() ? "" : ", " + std::to_string(stages_.size()) + " of them shared");
  }

 private:
  /// So few that messages cost more than the work that they share.
  static constexpr std::int64_t rows_per_process = 1000;

  /// A level whose rows processes share, and what leads to the next one, where there is one.
  struct Stage {
    explicit Stage(Matrix matrix) : A(std::move(matrix)), x(A.domain()), b(A.range()), r(A.range()) {}
    Matrix A;
    std::optional<JacobiSmoother<V, Matrix>> smoother;
    std::optional<Matrix> P;
    Csr<double, Offset, Space> R;  // of the rows of P here
    std::optional<Product<double, Offset, B>> R_product;
    mutable Array<double, Space> restricted;
    mutable V x, b, r;
  };
  /// The rows here, with a row for each of their other columns (with_rows_of_others()), and what they are measured by.
  struct Square {
    Csr<double, Offset, Space> A;
    RowScales<Space> scales;
  };
  /// The next level as the rows of a process show it.
  struct Prolongation {
    RowShares coarse;       // rows
    Csr<double, Offset> P;  // with columns of the whole
    double correction = 1;  // by which the coarse matrix is divided
  };

  const Processes& all() const { return on_.rows().all; }
  const B& local() const { return on_.local(); }
  OpenMP host() const { return host_of(local()); }
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

  /// Makes a stage of a level, and returns the next level; none where that is not worth it: then this is the last.
  std::optional<Matrix> coarser(const Matrix& A, NearNull& near_null) {
    Stage& stage = *stages_.emplace_back(std::make_unique<Stage>(A));
    LevelFacts& facts = facts_.emplace_back();
    facts.rows = size_of(A);
    facts.nnz = sum(A.rows().nnz());
    Square square;
    const V inverse = measure(A, facts, square);
    std::vector<V> weights;
    for (const double damping : dampings_of(smoother_, dominant_)) {
      weights.push_back(A.domain());
      axpy(damping / facts.largest_eigenvalue, inverse, weights.back());
    }
    stage.smoother.emplace(stage.A, std::move(weights));

    const bool of_nodes = near_null.unknowns_per_node > 1 || largest(double(near_null.modes.ncols)) > 0;
    Prolongation to =
        of_nodes ? of_aggregated_nodes(A, inverse, near_null, facts) : of_aggregated_rows(A, square, facts);
    facts.lone = sum(facts.lone);
    facts.prolongation_nnz = sum(to.P.nnz());
    if (!multigrid_detail::is_worth_a_level(to.coarse.n(), facts.rows)) return {};
    const auto P_of_columns = rows_of_columns(all(), A.halo(), to.P);
    const Distributed<B> on(local(), std::make_shared<SharedRows>(all(), to.coarse));
    stage.P.emplace(A.on(), on, std::move(to.P));
    Csr<double, Offset> contributions;
    together(all(), [&] {
      stage.R = transpose(local(), stage.P->rows_there());
      stage.R_product.emplace(local(), std::as_const(stage.R).view());
      stage.restricted = Array<double, Space>(local(), stage.R.nrows);
      Csr<double, Offset, Space> there;
      const auto AP = spgemm(local(), A.rows_there(), brought_to(local(), P_of_columns.view(), there));
      contributions = copied_to<Host>(local(), spgemm(local(), std::as_const(stage.R).view(), AP.view()).view());
    });
    Csr<double, Offset> coarse = added_rows(host(), all(), stage.P->halo(), contributions);
    if (of_nodes) complete(coarse, on.rows().first(), to.correction);
    return Matrix(on, std::move(coarse));
  }

  /// 1 / a_ii, 0 where a smoother must leave a row alone; the largest eigenvalue, and whether the finest level is dominated by its
  /// diagonal.
  V measure(const Matrix& A, LevelFacts& facts, Square& square) {
    const Halo& halo = A.halo();
    double off_diagonal = 0;
    together(all(), [&] {
      square.A = copied_to<Space>(local(), with_rows_of_others(host(), halo, A.rows()).view());
      square.scales = row_scales(local(), square.A.view());
      const auto ratios = std::as_const(square.scales.off_diagonal).span().subspan(halo.before, halo.own);
      off_diagonal = max_abs<B, double>(local(), ratios);
      if (facts_.size() == 1 && !std::isfinite(off_diagonal))
        throw InputError("amg: row " + std::to_string(A.on().rows().first() + first_nonfinite(local(), ratios) + 1) +
                         " cannot be divided by its diagonal entry");
    });
    off_diagonal = largest(off_diagonal);
    if (facts_.size() == 1) dominant_ = off_diagonal <= 1 + 1e-10;
    V inverse = A.domain(), start = A.domain();
    copy<B, double>(local(), std::as_const(square.scales.inverse_diagonal).span().subspan(halo.before, halo.own),
                    inverse.span());
    fill_hashed(start, 1);
    facts.largest_eigenvalue = multigrid_detail::spectral_bound(
        estimate_largest_eigenvalue(A, &inverse, start, LevelNumbers<B>::lanczos_steps), off_diagonal);
    return inverse;
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
    Csr<double, Offset, Space> couplings_there;
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
      const auto half = with_symmetric_part(host(), halo, with_rows_of_others(host(), halo, A.rows()));
      couplings_there = copied_to<Space>(local(), half.view());
      measures = row_scales(local(), couplings_there.view());
    });
    RowScales<Space>& of_couplings = options_.symmetric ? square.scales : measures;
    take_largest(of_couplings);
    Index count = 0;
    together(all(), [&] {
      neighbour = Array<Index, Space>(local(), level.A.nnz());
      found =
          aggregated_rows<B, Offset>(local(), level, l, options_, options_.symmetric ? level.A : couplings_there.view(),
                                     of_couplings, neighbour.span());
      if (is_worth_a_level(found.count, halo.own)) count = found.count;
    });
    facts.strength = level.facts.strength;
    facts.lone = level.facts.lone;

    Prolongation to{.coarse = shares_of(count), .P = {}};
    const std::int64_t first = to.coarse.first(all().rank());
    Array<double> numbers(halo.own);  // of aggregates among those of all processes
    const Array<Index> of_row =
        copied_to<Host>(local(), std::as_const(found.of_row).span().subspan(halo.before, halo.own));
    for (std::int64_t i = 0; i < halo.own; ++i)
      numbers[i] = count > 0 && of_row[i] >= 0 ? double(first + of_row[i]) : -1;
    const V here(A.on(), copied_to<Space>(local(), numbers));
    const Array<double> of_all_rows = copied_to<Host>(local(), A.with_halo(here));
    together(all(), [&] {
      Array<Index> of_rows(of_all_rows.size());
      std::copy(of_all_rows.begin(), of_all_rows.end(), of_rows.begin());
      const Aggregates<Space> aggregates{Index(to.coarse.n()), copied_to<Space>(local(), of_rows), 0, 0};
      const auto P =
          prolongator(local(), level.A, packed_strong<B>(local(), neighbour).span(), aggregates, damping(facts));
      to.P = rows_between(copied_to<Host>(local(), P.view()), halo.before, halo.own);
    });
    return to;
  }

  /// By aggregates of the nodes of this process. Then near_null is that of the next level.
  Prolongation of_aggregated_nodes(const Matrix& A, const V& inverse, NearNull& near_null, LevelFacts& facts) {
    using namespace multigrid_detail;
    const Halo& halo = A.halo();
    const bool finest = stages_.size() == 1, plain = finest && options_.first == FirstLevel::plain;
    Csr<double, Offset> T{Index(halo.own), 0, Array<Offset>(halo.own + 1, Offset(0)), {}, {}};
    Level<Offset, Space> level;
    facts.unknowns_per_node = near_null.unknowns_per_node;
    Index unknowns = 0;
    together(all(), [&] {
      if (halo.own == 0) return;
      Csr<double, Offset, Space> there, half;
      const Csr<double, Offset> block = own_block(host(), halo, A.rows());
      level.A = brought_to(local(), block.view(), there);
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
      T = copied_to<Host>(local(), made.T.view());
      near_null.take(std::move(made.coarse_modes));
      near_null.blocks = Blocks::full;
      unknowns = m;
    });
    near_null.unknowns_per_node = Index(largest(unknowns));
    facts.strength = level.facts.strength;
    facts.lone = level.facts.lone;
    Prolongation to{.coarse = shares_of(T.ncols), .P = std::move(T), .correction = plain ? plain_correction : 1};
    for (Index& c : to.P.col_idx) c += Index(to.coarse.first(all().rank()));
    to.P.ncols = Index(to.coarse.n());
    if (plain) return to;
    const auto T_of_columns = rows_of_columns(all(), halo, to.P);
    together(all(), [&] {
      Csr<double, Offset, Space> there, tentative_there;
      auto P = spgemm(local(), A.rows_there(), brought_to(local(), T_of_columns.view(), there));
      smooth_rows(local(), P.view(), P.values.span(), inverse.span(), damping(facts),
                  brought_to(local(), std::as_const(to.P).view(), tentative_there));
      to.P = copied_to<Host>(local(), P.view());
    });
    return to;
  }

  /// As complete_coarse(), of rows whose diagonal begins at `first`.
  static void complete(Csr<double, Offset>& A, std::int64_t first, double correction) {
    for (Index i = 0; i < A.nrows; ++i) {
      bool is_zero = true;
      for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        A.values[k] *= 1 / correction;
        is_zero = is_zero && A.values[k] == 0;
      }
      for (Offset k = A.row_ptr[i]; is_zero && k < A.row_ptr[i + 1]; ++k)
        if (A.col_idx[k] == first + i) A.values[k] = 1;
    }
  }

  /// Brings the last level to every process.
  void finish(AmgOptions options, const NearNull& near_null) {
    const std::int64_t n = size_of(last_->A), k = std::int64_t(largest(double(near_null.modes.ncols)));
    const Csr<double, Offset> whole =
        whole_of(all(), last_->A.on().rows().first(), last_->A.halo(), last_->A.rows(), n);
    Array<double> modes(n * k);
    for (std::int64_t j = 0; j < k; ++j) {
      Array<double> part(last_->A.nrows());
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
      whole_b_here_ = Array<double>(n);
    });
    for (const LevelFacts& level : whole_->levels()) facts_.push_back(level);
  }

  void cycle(std::size_t l, const V& b, V& x) const {
    if (l == stages_.size()) return solve_last(b, x);
    const Stage& at = *stages_[l];
    at.smoother->smooth_from_zero(b, x);
    if (at.P) {
      const bool before_last = l + 1 == stages_.size();
      V &coarse_b = before_last ? last_->b : stages_[l + 1]->b, &coarse_x = before_last ? last_->x : stages_[l + 1]->x;
      at.A.residual(x, b, at.r);
      if (at.R.nrows > 0) at.R_product->apply(std::as_const(at.r).span(), at.restricted.span());
      at.P->add_halo(std::as_const(at.restricted).span(), coarse_b);
      cycle(l + 1, coarse_b, coarse_x);
      at.P->apply(coarse_x, at.r);
      axpy(1, at.r, x);
    }
    at.smoother->smooth(b, x);
  }
  /// By each process for all of them.
  void solve_last(const V& b, V& x) const {
    const SharedRows& rows = last_->A.on().rows();
    std::vector<int> counts;
    for (int p = 0; p < all().size(); ++p) counts.push_back(int(rows.shares.rows(p)));
    if constexpr (HostBackend<B>) {
      all().gather(b.span(), counts, whole_b_->span().data());
    } else {
      const Array<double> mine = copied_to<Host>(local(), b.span());
      all().gather(mine, counts, whole_b_here_.data());
      copy(local(), std::as_const(whole_b_here_).span(), whole_b_->span());
    }
    whole_->apply(*whole_b_, *whole_x_);
    copy<B, double>(local(), std::as_const(*whole_x_).span().subspan(rows.first(), x.size()), x.span());
  }

  /// The level that every process has all of.
  struct Last {
    explicit Last(Matrix matrix) : A(std::move(matrix)), b(A.range()), x(A.domain()) {}
    Matrix A;
    mutable V b, x;
  };

  Distributed<B> on_;
  CoarseningOptions options_;
  AmgSmoother smoother_;
  bool dominant_ = false;
  std::vector<LevelFacts> facts_;
  std::vector<std::unique_ptr<Stage>> stages_;  // a smoother keeps the address of its matrix
  std::optional<Last> last_;
  std::unique_ptr<Csr<double, Offset, Space>> whole_A_;
  std::unique_ptr<AmgPreconditioner<Offset, B>> whole_;
  mutable std::optional<Vector<double, B>> whole_b_, whole_x_;
  mutable Array<double> whole_b_here_;
};

}  // namespace seidel
