// The forward and backward sweep of seidel in natural order, from zero and from a guess.
#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::drivers {

namespace {

template <class B>
struct Kept {
  Array<double, SpaceOf<B>> guess;  // empty: from zero
  GaussSeidel<double, std::int32_t, B> sweep;
  std::int64_t k;
  Layout layout;
};

template <class B>
void pair(Operands<B, Kept<B>>& o) {
  const auto& [guess, sweep, k, layout] = o.kept;
  if (!guess.empty()) return sweep.symmetric(o.x, o.y);
  if (k == 1) return sweep.symmetric_from_zero(o.x, o.y);
  const std::int64_t n = sweep.size(), leading = layout == Layout::row_major ? k : n;
  sweep.symmetric_from_zero(MultiVectorView<const double, SpaceOf<B>>{n, k, leading, layout, o.x.data()},
                            MultiVectorView<double, SpaceOf<B>>{n, k, leading, layout, o.y.data()});
}

template <class B>
Prepared swept(const SweepTask& task, const Where& where) {
  const B on = back_end<B>(where);
  const auto A = csr_of(on, task.of);
  std::optional<GaussSeidel<double, std::int32_t, B>> sweep;
  const double setup = seconds_to_make(on, [&] { sweep.emplace(on, A); });
  const std::int64_t bytes = sweep->bytes();
  const auto operands = std::make_shared<Operands<B, Kept<B>>>(
      task.b, where, task.b.size(),
      Kept<B>{copied_to<SpaceOf<B>>(on, task.guess.span()), std::move(*sweep), task.k, task.layout});
  Prepared ready = prepared(operands, setup, bytes, pair<B>);
  if (!task.guess.empty())
    ready.poison = [operands] { copy<B, double>(operands->on, operands->kept.guess, operands->y); };
  return ready;
}

}  // namespace

std::vector<Rival> symgs_rivals() {
  std::vector<Rival> all;
  for (const Kernel* kernel : {&kernels::symgs, &kernels::symgs_guess})
    add_ours(all, *kernel, "csr", "natural order, exact; a forward and a backward sweep",
             []<class B>(const B*) { return swept<B>; });
  return all;
}

}  // namespace seidel::drivers
