// The entry `amg`.
#include <seidel/solvers/preconditioners/amg.hpp>

#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/solvers/multigrid/distributed.hpp>
#include <seidel/solvers/preconditioners/make.hpp>

namespace seidel {

namespace {

enum Detail { strength, smoother, cycle, coarsest, block, first, storage, coarsening };
constexpr std::string_view smoothers[] = {"auto", "jacobi", "chebyshev", "symgs"};  // as AmgSmoother
constexpr std::string_view cycles[] = {"v", "w", "k"};                              // as AmgCycle
constexpr std::string_view first_levels[] = {"plain", "smoothed"};                  // as FirstLevel
constexpr std::string_view storages[] = {"auto", "fp32", "fp64"};                   // as AmgStorage
enum CoarseningChoice { of_aggregates, of_lattice, classical };
constexpr std::string_view coarsenings[] = {"aggregates", "lattice", "classical"};  // as CoarseningChoice
constexpr Setting details[] = {
    {.key = "amg.strength",
     .help =
         "amg.strength=T  couplings of at least T times the largest ones of both rows are strong (classical: of either "
         "row), 0 < T < 1 (0.25)",
     .usual = 0.25,
     .max = 1},
    {.key = "amg.smoother",
     .help =
         "amg.smoother=S  jacobi, chebyshev, symgs, or auto: jacobi if all rows are dominated by their diagonal, else "
         "chebyshev (auto)",
     .words = smoothers},
    {.key = "amg.cycle",
     .help = "amg.cycle=C     v; w, which visits the coarser levels twice; or k, which does so as iterations of cg (v)",
     .words = cycles},
    {.key = "amg.coarsest",
     .help = "amg.coarsest=N  a level of no more rows is solved directly (256)",
     .usual = 256,
     .min = 1,
     .max = 4000,
     .whole = true},
    {.key = "amg.block",
     .help = "amg.block=N     unknowns per node, 1 to 16 (as many as A shows)",
     .min = 1,
     .max = max_unknowns_per_node,
     .whole = true},
    {.key = "amg.first",
     .help = "amg.first=F     prolongation of nodes to the finest level: plain, or smoothed, which takes longer to set "
             "up and "
             "fewer iterations (plain)",
     .words = first_levels},
    {.key = "amg.storage",
     .help =
         "amg.storage=S   levels in fp32 under an iteration in double, fp64, or auto: fp32 unless symgs smooths (auto)",
     .words = storages},
    {.key = "amg.coarsening",
     .help = "amg.coarsening=C  aggregates; lattice: every second point of the lattice that the rows must show; or "
             "classical: some of the rows, which takes fewer iterations, more memory and a longer setup "
             "(aggregates)",
     .words = coarsenings}};

CoarseningChoice coarsening_of(const Settings& set) { return CoarseningChoice(int(set[details[coarsening]])); }

/// That of A, if it is wanted. Errors  InputError where there is none.
template <class Offset>
Lattice lattice_of(const CsrView<double, Offset, Host>& A, const Settings& set) {
  if (coarsening_of(set) != of_lattice) return {};
  const FoundLattice found = find_lattice(OpenMP{}, A);
  if (found.lattice.nx == 0)
    throw InputError("gmg: found no lattice: " + found.otherwise +
                     "\n  take amg with aggregates, which needs no lattice");
  return found.lattice;
}

}  // namespace

void take_classical_coarsening(Settings& settings) { settings.set(details[coarsening], classical); }

AmgOptions amg_options(const MethodChoice& choice, Index unknowns_per_node) {
  const Settings& set = choice.settings;
  return {.coarsening = {.strength = set[details[strength]],
                         .coarsest = Index(set[details[coarsest]]),
                         .unknowns_per_node = Index(set.find(details[block]).value_or(unknowns_per_node)),
                         .first = FirstLevel(int(set[details[first]])),
                         .coarse_row = coarsening_of(set) == classical ? CoarseRow::row : CoarseRow::aggregate,
                         .symmetric = choice.symmetric,
                         .definite = choice.method == Method::minres ? Definite::made : Definite::as_it_is,
                         .on_step = choice.on_step},
          .smoother = AmgSmoother(int(set[details[smoother]])),
          .storage = AmgStorage(int(set[details[storage]])),
          .cycle = AmgCycle(int(set[details[cycle]]))};
}

namespace {

constexpr auto prepared = []<Backend B, class Offset>(const B& on, const HereAndThere<B, Offset>& A,
                                                      const MethodChoice& choice) {
  const Settings& set = choice.settings;
  if (!choice.symmetric && AmgCycle(int(set[details[cycle]])) == AmgCycle::k)
    throw InputError(
        "amg: found a K cycle for a matrix that is not symmetric, expected a V or W cycle: a K cycle iterates by cg on "
        "the coarser levels");
  const auto& known = A.near_null.vectors;
  const auto vectors = copied_to<SpaceOf<B>>(on, HostSpan<const double>(known.data, known.nrows * known.ncols));
  AmgOptions options = amg_options(choice, A.near_null.unknowns_per_node);
  options.coarsening.lattice = lattice_of(A.here, set);
  return made_of<B>(AmgPreconditioner<Offset, B>(
      on, A.there, options, {known.nrows, known.ncols, known.nrows, Layout::column_major, vectors.data()}));
};

constexpr auto prepared_distributed = []<class Offset, Backend B>(const DistributedMatrix<Offset, B>& A,
                                                                  const NearNullVectors& near_null,
                                                                  const MethodChoice& choice) {
  if (coarsening_of(choice.settings) == of_lattice)
    throw UsageError("gmg: found several processes, expected one\n  take amg with aggregates");
  const B& on = A.on().local();
  const auto& known = near_null.vectors;
  Array<double, SpaceOf<B>> vectors;
  together(A.on().rows().all,
           [&] { vectors = copied_to<SpaceOf<B>>(on, HostSpan<const double>(known.data, known.nrows * known.ncols)); });
  return made_of<Distributed<B>>(
      DistributedAmg<Offset, B>(A, amg_options(choice, near_null.unknowns_per_node),
                                {known.nrows, known.ncols, known.nrows, Layout::column_major, vectors.data()}));
};

std::vector<MemoryPart> memory_of(const SystemSize& A, const MethodChoice& choice) {
  // Measured, with 5 to 75 entries per row: 165 to 205 bytes per row in double precision; in single precision, which holds the finest matrix once more, 215 to
  // 315 with up to 7 entries, 1050 with 75. What the setup takes for a time is given back before the vectors of the method are
  // taken, and is no more than they are.
  const AmgSmoother smooths = AmgSmoother(int(choice.settings[details[smoother]]));
  const bool single =
      smooths != AmgSmoother::symgs && AmgStorage(int(choice.settings[details[storage]])) != AmgStorage::fp64;
  std::vector<MemoryPart> parts = {{.what = "the coarser levels and their vectors, for amg",
                                    .bytes = single ? 230 * A.nrows + 12 * A.nnz : 210 * A.nrows,
                                    .min_bytes = 40 * A.nrows}};
  const CoarseningChoice kind = coarsening_of(choice.settings);
  if (kind == of_lattice) parts.front().bytes += 70 * A.nrows;                   // where a direction is not halved
  if (kind == classical) parts.front().bytes += (single ? 280 : 170) * A.nrows;  // measured: 130 to 370, 70 to 200
  if (smooths == AmgSmoother::symgs) parts.front().bytes += sweep_memory(A, 8).bytes * 3 / 2;  // of all levels
  return parts;
}

}  // namespace

constinit const PreconditionerKind PreconditionerKind::amg = {
    .name = "amg",
    .help = "algebraic multigrid: a cycle of smoothed aggregation",
    .needs_diagonal = true,
    .needs_positive = true,
    .is_linear = [](const Settings& set) { return AmgCycle(int(set[details[cycle]])) != AmgCycle::k; },
    .settings = details,
    .name_with = [](const Settings& set) -> std::string_view {
      return coarsening_of(set) == of_lattice ? "gmg" : "amg";
    },
    .memory = memory_of,
    .make = preconditioners_detail::makes(prepared),
    .make_distributed = preconditioners_detail::makes_distributed(prepared_distributed)};

template class SingleCycle<OpenMP>;
template Hierarchy<std::int32_t, Host> coarsened(const OpenMP&, const CsrView<double, std::int32_t, Host>&,
                                                 const CoarseningOptions&, const MultiVectorView<const double, Host>&,
                                                 SingleCycle<OpenMP>*, const AnyCoarsening<OpenMP, std::int32_t>&);
template void update_values(const OpenMP&, const CsrView<double, std::int32_t, Host>&, Hierarchy<std::int32_t, Host>&,
                            SingleCycle<OpenMP>*);
template Hierarchy<std::int64_t, Host> coarsened(const OpenMP&, const CsrView<double, std::int64_t, Host>&,
                                                 const CoarseningOptions&, const MultiVectorView<const double, Host>&,
                                                 SingleCycle<OpenMP>*, const AnyCoarsening<OpenMP, std::int64_t>&);
template void update_values(const OpenMP&, const CsrView<double, std::int64_t, Host>&, Hierarchy<std::int64_t, Host>&,
                            SingleCycle<OpenMP>*);
template class AmgPreconditioner<std::int32_t, OpenMP>;
template class AmgPreconditioner<std::int64_t, OpenMP>;

}  // namespace seidel
