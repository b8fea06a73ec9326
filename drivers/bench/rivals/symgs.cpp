// The forward and backward sweep of seidel in natural order, from zero and from a guess; on a GPU also wavefront after
// wavefront.
#include <seidel/drivers/bench/cuda_graph.hpp>
#include <seidel/drivers/bench/kernels/sweeps.hpp>
#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/drivers/bench/rivals/wavefront_sweep.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::drivers {

namespace {

template <class B>
using Default = GaussSeidel<double, std::int32_t, B>;
using ByWavefronts = WavefrontSweep;

template <class B, class Sweep>
struct Kept {
  CsrView<double, std::int32_t, SpaceOf<B>> A;
  Array<double, SpaceOf<B>> guess;  // empty: from zero
  std::unique_ptr<Sweep> sweep;
  std::int64_t k = 1;
  Layout layout = Layout::row_major;
};

template <class B>
void pair(const Default<B>& sweep, const Array<double, SpaceOf<B>>& b, Array<double, SpaceOf<B>>& x, bool from_zero) {
  from_zero ? sweep.symmetric_from_zero(b, x) : sweep.symmetric(b, x);
}
template <std::same_as<ByWavefronts> Sweep>  // a template, so that a build without CUDA asks nobody for it
void pair(const Sweep& sweep, const Array<double, Device>& b, Array<double, Device>& x, bool from_zero) {
  from_zero ? sweep.pair_from_zero(b.data(), x.data()) : sweep.pair(b.data(), x.data());
}

template <class B>
void pair_of_columns(const Default<B>& sweep, const Array<double, SpaceOf<B>>& b, Array<double, SpaceOf<B>>& x,
                     std::int64_t k, Layout layout) {
  const std::int64_t n = sweep.size(), leading = layout == Layout::row_major ? k : n;
  sweep.symmetric_from_zero(MultiVectorView<const double, SpaceOf<B>>{n, k, leading, layout, b.data()},
                            MultiVectorView<double, SpaceOf<B>>{n, k, leading, layout, x.data()});
}

template <class B, class Sweep>
Prepared swept(const SweepTask& task, const Where& where) {
  using Operands = Operands<B, Kept<B, Sweep>>;
  const B on = back_end<B>(where);
  constexpr bool takes_columns = std::is_same_v<Sweep, Default<B>>;
  if (!takes_columns) require_one_column(task);
  Kept<B, Sweep> kept{csr_of(on, task.of), copied_to<SpaceOf<B>>(on, task.guess.span()), nullptr, task.k, task.layout};
  const double setup = seconds_to_make(on, [&] { kept.sweep = std::make_unique<Sweep>(on, kept.A); });
  const std::int64_t bytes = kept.sweep->bytes();
  auto operands = std::make_shared<Operands>(task.b, where, task.of.A.nrows * task.k, std::move(kept));
  Prepared ready = prepared(operands, setup, bytes, [](Operands& o) {
    const auto& kept = o.kept;
    if constexpr (takes_columns)
      if (kept.k > 1) return pair_of_columns<B>(*kept.sweep, o.x, o.y, kept.k, kept.layout);
    pair(*kept.sweep, o.x, o.y, kept.guess.empty());
  });
  if (!task.guess.empty())
    ready.poison = [operands] { copy<B, double>(operands->on, operands->kept.guess.span(), operands->y.span()); };
  return ready;
}

/// The same launches as nodes of one graph.
template <class B, class Sweep>
Prepared swept_as_graph(const SweepTask& task, const Where& where) {
  Prepared ready = swept<B, Sweep>(task, where);
  ready.setup_seconds += seconds_of([&] { ready.run = as_graph(back_end<B>(where), ready.run); });
  return ready;
}

}  // namespace

std::vector<Rival> symgs_rivals() {
  std::vector<Rival> all;
  for (const Kernel* kernel : {&kernels::symgs, &kernels::symgs_guess})
    for_each_back_end([&]<class B>(BackendName on, const B*) {
      all.push_back({kernel, "csr", on, "", Role::exact, "natural order, exact; a forward and a backward sweep",
                     swept<B, Default<B>>});
      if constexpr (!HostBackend<B>) {
        all.push_back({kernel, "csr", on, "wavefronts", Role::exact,
                       "one launch per wide wavefront, one per run of narrow ones; analysed on the host",
                       swept<B, ByWavefronts>});
        all.push_back({kernel, "csr", on, "wavefronts-graph", Role::exact, "the same launches as nodes of one graph",
                       swept_as_graph<B, ByWavefronts>});
      }
    });
  return all;
}

}  // namespace seidel::drivers
