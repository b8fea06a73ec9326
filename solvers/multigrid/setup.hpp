// The hierarchy of smoothed aggregation, from the matrix, and from near-null vectors or a lattice where they are known; or
// that of classical coarsening, or of one that the caller has:
//
//   P_l as in kernels/aggregation/prolongator.hpp, lattice.hpp or classical.hpp, in nodes.hpp, or as the caller says,
//   R_l = P_l',   A_(l+1) = R_l A_l P_l
//
// Source  Vanek, Mandel, Brezina, Algebraic multigrid by smoothed aggregation for second and fourth order elliptic
//         problems, Computing 56, 1996.
#pragma once
#include <algorithm>
#include <memory>
#include <utility>

#include <seidel/formats/convert.hpp>
#include <seidel/kernels/spgemm/spgemm.hpp>
#include <seidel/kernels/symgs/symgs.hpp>
#include <seidel/solvers/multigrid/level_numbers.hpp>
#include <seidel/solvers/multigrid/prolong.hpp>
#include <seidel/solvers/multigrid/single_cycle.hpp>

namespace seidel {

namespace multigrid_detail {

/// Names the first row of A that cannot be divided by its diagonal, if there is one.
template <class B, class Offset>
void refuse_unusable(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A, const RowScales<SpaceOf<B>>& scales) {
  const std::int64_t row = first_nonfinite<B, double>(on, scales.off_diagonal);
  if (row >= 0) symgs_detail::refuse_row(on, A, row);
}

/// Hands P and A P of level l to `cycle`, which has its R and the scales of the next level; what only a cycle in double
/// precision reads is given back, and so is AP, as early as can be: here memory is at its peak.
template <class B, class Offset>
void hand_over(Hierarchy<Offset, SpaceOf<B>>& hierarchy, std::size_t l, Csr<double, Offset, SpaceOf<B>> AP,
               SingleCycle<B>& cycle) {
  auto& level = hierarchy.levels[l];
  cycle.add_correction(l, level.prolongation.view(), level.galerkin ? level.galerkin->AP() : AP.view(),
                       std::as_const(level.inverse_diagonal).span(), level.facts.largest_eigenvalue);
  AP = {};
  if (level.kind != ProlongationKind::own) level.prolongation.values = {};
  level.inverse_diagonal = {};
  cycle.lay_out(l, level.A);
  if (l > 0) level.owned = {};
}

/// Looks at level l: its diagonal, its largest eigenvalue, whether it is dominated; a level that is `solved` directly keeps the
/// eigenvalue that it has. The level before it, and its AP, are handed over to `cycle`, if there is one. In a first setup that
/// comes before level l is laid out, which can then use the memory. With new values memory is kept: it comes after the numbers
/// of level l were asked for, so that the GPU works while the host waits; and the finest level is handed over in finish().
/// Errors  as coarsened(), on the finest.
template <class B, class Offset>
RowScales<SpaceOf<B>> measured(const B& on, Hierarchy<Offset, SpaceOf<B>>& hierarchy, std::size_t l,
                               Csr<double, Offset, SpaceOf<B>> AP, SingleCycle<B>* cycle, bool solved = false) {
  auto& level = hierarchy.levels[l];
  RowScales<SpaceOf<B>> scales = row_scales(on, level.A);
  level.facts.rows = level.A.nrows;
  level.facts.nnz = level.A.nnz();
  LevelNumbers<B> numbers(on);
  blas1::leave_max_abs<double>(on, scales.off_diagonal.data(), level.A.nrows, numbers.max_off_diagonal());
  const bool early = l > 0 && !hierarchy.levels[l - 1].galerkin;
  if (cycle) {
    if (l == 0) cycle->begin();
    const CsrView<double, Offset, SpaceOf<B>> none{};
    cycle->add_level(std::as_const(scales.inverse_diagonal).span(), l > 0 ? hierarchy.levels[l - 1].R() : none,
                     numbers.max_scale());
    if (l > 0) {
      cycle->add_restriction(l - 1, hierarchy.levels[l - 1].R());
      hierarchy.levels[l - 1].restriction = {};
    }
    if (early) hand_over(hierarchy, l - 1, std::move(AP), *cycle);
    if (!solved) {
      cycle->lay_out(l, level.A);
      cycle->start_estimate(numbers.lanczos_steps, numbers.lanczos());
    }
  }
  if (!solved) numbers.send();
  if (cycle && !early && l > 1) hand_over(hierarchy, l - 1, {}, *cycle);
  if (solved) return scales;
  numbers.receive();
  const double max_off_diagonal = numbers.here[0];
  if (l == 0) {
    if (!std::isfinite(max_off_diagonal)) refuse_unusable(on, level.A, scales);
    hierarchy.dominant = all_dominated(max_off_diagonal);
    if (cycle) {
      cycle->take_max_scale(numbers.here[1]);
      cycle->choose_dampings(hierarchy.dominant);
    }
  }
  const double estimate = cycle ? cycle->estimate(numbers.lanczos_steps, numbers.here + 2)
                                : estimate_in_double(on, level.A, scales.inverse_diagonal);
  level.facts.largest_eigenvalue = spectral_bound(estimate, max_off_diagonal);
  return scales;
}

/// What a coarse matrix needs where `level` is of nodes. `values` are those of A_c.
template <class B, class Offset>
void complete(const B& on, const Level<Offset, SpaceOf<B>>& level, const CsrView<double, Offset, SpaceOf<B>>& A_c,
              Span<double, SpaceOf<B>> values) {
  if (level.of_nodes())
    complete_coarse(on, A_c, values, level.kind == ProlongationKind::plain_of_nodes ? plain_correction : 1);
}

/// R = P' of a level, A P, which is returned, and R A P, the matrix of the `coarse` one.
template <class B, class Offset>
Csr<double, Offset, SpaceOf<B>> make_coarse(const B& on, Level<Offset, SpaceOf<B>>& level,
                                            Level<Offset, SpaceOf<B>>& coarse) {
  const auto P = level.prolongation.view();
  level.restriction = transpose(on, P);
  release_scratch(on);  // 30 bytes per entry of P
  auto AP = spgemm(on, level.A, P);
  coarse.owned = spgemm(on, level.R(), AP.view());
  complete(on, level, coarse.owned.view(), coarse.owned.values);
  coarse.A = coarse.owned.view();
  return AP;
}

/// P and what follows from it for new values of level l. The first ones analyse the products once more, and keep that.
template <class B, class Offset>
void update_coarse(const B& on, Hierarchy<Offset, SpaceOf<B>>& hierarchy, std::size_t l) {
  auto &level = hierarchy.levels[l], &coarse = hierarchy.levels[l + 1];
  auto& P = level.prolongation;
  if (!level.of_nodes() && P.values.empty()) P.values = Array<double, SpaceOf<B>>(on, P.col_idx.size());
  switch (level.kind) {
    case ProlongationKind::of_rows:
      if (level.of_entry.empty()) {
        level.of_entry = entries_of_prolongator(on, level.A, level.strong, level.aggregate, P);
        level.strong = {}, level.aggregate = {};
      }
      update_prolongator(on, level.A, level.of_entry, damping(level.facts), P);
      break;
    case ProlongationKind::of_nodes: update_prolongator_of_nodes(on, level, damping(level.facts)); break;
    case ProlongationKind::plain_of_nodes: P.values = copied_to<SpaceOf<B>>(on, level.tentative.view().values); break;
    case ProlongationKind::of_lattice: fill_interpolation(on, level.A, level.lattice, coarse.lattice, P); break;
    case ProlongationKind::classical: update_classical(on, level.A, level.strong, level.aggregate, P); break;
    case ProlongationKind::own: break;
  }
  if (level.galerkin) {
    level.galerkin->update_values(level.A, P.view());
  } else {
    level.restriction = {};
    coarse.owned = {};
    level.galerkin = std::make_unique<GalerkinProduct<Offset, B>>(on, level.A, P.view());
  }
  coarse.A = level.galerkin->coarse();
  complete(on, level, coarse.A, level.galerkin->coarse_values());
}

/// The inverse of the last level, made on the host, if that is `small`, while a GPU does what meanwhile() gives it; then `cycle`
/// is complete, or empty where there is one level only: that is left to double precision.
template <class B, class Offset, class Meanwhile>
void finish(const B& on, Hierarchy<Offset, SpaceOf<B>>& hierarchy, bool small, SingleCycle<B>* cycle,
            const Meanwhile& meanwhile) {
  const auto& last = hierarchy.levels.back();
  const bool single = cycle && hierarchy.levels.size() > 1;
  if (small) {
    auto& here = hierarchy.coarsest;
    if (here.row_ptr.empty())
      here = copied_to<Host>(on, last.A);
    else
      here.values = copied_to<Host>(on, last.A.values);
    meanwhile();
    const double vanishing = single ? level_detail::vanishing_mode : 0;
    OpenMP host{1};  // beside a GPU: 4 and 16 threads took no less of a setup (docs/notes/multigrid.md)
    if constexpr (HostBackend<B>) host = on;
    auto& there = hierarchy.coarsest_inverse;
    const auto inverse = hierarchy.symmetric ? dense_inverse(host, here.view(), vanishing, hierarchy.definite)
                                             : dense_inverse_by_rows(here.view(), vanishing);
    if (there.row_ptr.empty())
      there = copied_to<SpaceOf<B>>(on, inverse.view());
    else
      there.values = copied_to<SpaceOf<B>>(on, inverse.values.span());
  } else {
    meanwhile();
  }
  if (single)
    cycle->finish(hierarchy.coarsest_inverse.view(), last.facts.largest_eigenvalue);
  else if (cycle)
    cycle->clear();
}

}  // namespace multigrid_detail

/// The hierarchy of A, whose arrays must outlive it. A coarsening that fails, which leaves more than half of the rows that
/// need one, is tried again with a smaller strength; where even all couplings leave nine rows of ten, that level is the
/// last one.
///
/// Aggregates are of nodes where a node has several unknowns, or where `modes` are given: near-null vectors, a column each,
/// which are not kept. Without them such nodes have translations. Elsewhere aggregates are of rows. Where a lattice is given,
/// there are none: levels have every second point of it (kernels/aggregation/lattice.hpp). Classical coarsening takes rows on
/// their own, whatever the pattern shows. A `coarsening` is taken in place of all these; its P stays for new values.
///
/// Where A is not symmetric, options.symmetric is false: couplings are strong where they are in (A + A') / 2; P, R A P and what
/// smooths are of A itself.
///
/// Shapes  A is symmetric positive definite, or semidefinite; or else has a symmetric pattern and a positive diagonal; rows of zeros
///         are left alone. `modes` is n x m, column-major,
///         m at most 16; linearly dependent ones do no harm.
/// Cost    about 60 reads of A; memory for A P of the finest level beside what is kept. On a GPU all work is done there, but
///         the inverse of the coarsest matrix; the host waits about 18 times per level, for single numbers.
///         With `cycle` that is made, too, where there are two levels or more: only it holds then what a cycle needs, and
///         the hierarchy what new values need.
/// Errors  ShapeError; ZeroDiagonal, or InputError for a row that cannot be divided by its diagonal, naming it; InputError
///         for modes that are not finite; UsageError for modes, or several unknowns per node, with classical coarsening;
///         ShapeError, or on the host InputError, for a P of the caller that does not fit.
/// Repeats bit for bit on every back end and with any number of threads.
template <class B, class Offset>
Hierarchy<Offset, SpaceOf<B>> coarsened(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                                        const CoarseningOptions& options = {},
                                        const MultiVectorView<const double, SpaceOf<B>>& modes = {},
                                        SingleCycle<B>* cycle = nullptr,
                                        const AnyCoarsening<B, Offset>& coarsening = {}) {
  using namespace multigrid_detail;
  require_square(A.nrows, A.ncols, "amg");
  if (options.lattice.nx > 0 && options.lattice.points() != A.nrows)
    throw ShapeError("gmg: found a lattice of " + to_string(options.lattice) + " points for " +
                     std::to_string(A.nrows) + " rows, expected a point per row");
  Hierarchy<Offset, SpaceOf<B>> hierarchy;
  hierarchy.symmetric = options.symmetric;
  hierarchy.definite = options.definite;
  hierarchy.levels.push_back({.A = A, .lattice = coarsening ? Lattice{} : options.lattice});
  NearNull<SpaceOf<B>> near_null;
  if (options.coarse_row != CoarseRow::row)
    near_null = near_null_of(on, A, options.unknowns_per_node, modes);
  else if (options.unknowns_per_node > 1 || modes.ncols > 0)
    throw UsageError(
        "amg: found several unknowns per node or near-null vectors, expected neither with classical coarsening\n  take "
        "aggregates, or each row on its own");
  Csr<double, Offset, SpaceOf<B>> AP;  // of the level before
  for (std::size_t l = 0;; ++l) {
    auto& level = hierarchy.levels[l];
    RowScales scales = measured(on, hierarchy, l, std::move(AP), cycle);
    options.on_step();
    const bool small = level.A.nrows <= options.coarsest;
    Lattice coarse_lattice;
    if (!small && int(l) + 1 < options.max_levels)
      coarse_lattice = prolong(on, level, l, options, coarsening, near_null, scales);
    level.facts.prolongation_nnz = level.prolongation.nnz();
    const bool last = level.prolongation.row_ptr.empty();
    level.inverse_diagonal = std::move(scales.inverse_diagonal);
    scales = {};
    if (last) {
      finish(on, hierarchy, small, cycle, [] {});
      return hierarchy;
    }
    options.on_step();
    if (cycle && l == 0) cycle->drop(l);  // for now: here memory counts
    hierarchy.levels.push_back({.lattice = coarse_lattice});
    AP = make_coarse(on, hierarchy.levels[l], hierarchy.levels[l + 1]);
  }
}

/// The same hierarchy for new values of A, in the pattern that it had: couplings, aggregates and the pattern of P stay as
/// they were, so that no coarsening is repeated. Where the values differ much, a new one may need fewer iterations.
///
/// Cost    as coarsened() but for couplings, aggregates, the columns of P, the layout of `cycle` and, from the second time on,
///         all patterns; what that takes is held from the first time on (GalerkinProduct). The host waits once per level with
///         `cycle`, while a GPU fills that of the level before. No eigenvalue of a last level that is solved directly is found.
/// Errors  as coarsened(), which leave the hierarchy of no use.
template <class B, class Offset>
void update_values(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A, Hierarchy<Offset, SpaceOf<B>>& hierarchy,
                   SingleCycle<B>* cycle = nullptr) {
  using namespace multigrid_detail;
  auto& levels = hierarchy.levels;
  if (A.nrows != levels[0].A.nrows || A.nnz() != levels[0].A.nnz())
    throw ShapeError("amg: found new values for " + std::to_string(A.nrows) + " rows and " + std::to_string(A.nnz()) +
                     " entries, expected the pattern of " + std::to_string(levels[0].A.nrows) + " and " +
                     std::to_string(levels[0].A.nnz()));
  levels[0].A = A;
  const bool has_inverse = !hierarchy.coarsest_inverse.row_ptr.empty();
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const bool last = l + 1 == levels.size();
    levels[l].inverse_diagonal = measured(on, hierarchy, l, {}, cycle, last && l > 0 && has_inverse).inverse_diagonal;
    if (!last) update_coarse(on, hierarchy, l);
  }
  finish(on, hierarchy, has_inverse, cycle, [&] {
    if (cycle && levels.size() > 1) hand_over(hierarchy, 0, {}, *cycle);
  });
}

// Compiled in the library, so that a program need not.
extern template class SingleCycle<OpenMP>;
extern template Hierarchy<std::int32_t, Host> coarsened(const OpenMP&, const CsrView<double, std::int32_t, Host>&,
                                                        const CoarseningOptions&,
                                                        const MultiVectorView<const double, Host>&,
                                                        SingleCycle<OpenMP>*,
                                                        const AnyCoarsening<OpenMP, std::int32_t>&);
extern template void update_values(const OpenMP&, const CsrView<double, std::int32_t, Host>&,
                                   Hierarchy<std::int32_t, Host>&, SingleCycle<OpenMP>*);
extern template Hierarchy<std::int64_t, Host> coarsened(const OpenMP&, const CsrView<double, std::int64_t, Host>&,
                                                        const CoarseningOptions&,
                                                        const MultiVectorView<const double, Host>&,
                                                        SingleCycle<OpenMP>*,
                                                        const AnyCoarsening<OpenMP, std::int64_t>&);
extern template void update_values(const OpenMP&, const CsrView<double, std::int64_t, Host>&,
                                   Hierarchy<std::int64_t, Host>&, SingleCycle<OpenMP>*);

}  // namespace seidel
