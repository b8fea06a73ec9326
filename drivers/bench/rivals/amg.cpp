// Smoothed aggregation as the program takes it unless told otherwise.
#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/solvers/preconditioners/amg.hpp>

namespace seidel::drivers {

namespace {

template <class B>
using Amg = AmgPreconditioner<std::int32_t, B>;

template <class B>
struct Kept {
  CsrView<double, std::int32_t, SpaceOf<B>> A;
  std::unique_ptr<Amg<B>> amg;

  void make(const B& on) {
    amg.reset();  // so that there is never more than one
    amg = std::make_unique<Amg<B>>(on, A);
  }
};

template <class B>
using AmgOperands = Operands<B, Kept<B>>;

template <class B>
void cycle(AmgOperands<B>& o) {
  const Vector<double, B> r(o.on, o.x.span());
  Vector<double, B> z(o.on, o.y.span());
  o.kept.amg->apply(r, z);
}

template <class B>
std::shared_ptr<AmgOperands<B>> operands_of(const MultigridTask& task, const Where& where) {
  return std::make_shared<AmgOperands<B>>(task.r, where, task.of.A.nrows,
                                          Kept<B>{csr_of(back_end<B>(where), task.of), nullptr});
}

/// The answer is a cycle with what was set up.
template <class B>
Prepared with_cycle_as_answer(std::shared_ptr<AmgOperands<B>> operands, Prepared ready) {
  ready.answer = [operands, answer = ready.answer] {
    if (operands->kept.amg) cycle<B>(*operands);
    return answer();
  };
  return ready;
}

template <class B>
Prepared setup(const MultigridTask& task, const Where& where) {
  const auto o = operands_of<B>(task, where);
  Prepared ready = prepared(o, 0, 0, [](AmgOperands<B>& all) { all.kept.make(all.on); });
  ready.poison = [o] { o->kept.amg.reset(), poison(o->on, o->y); };
  return with_cycle_as_answer<B>(o, std::move(ready));
}

/// Other values are what poisons it.
template <class B>
Prepared values(const MultigridTask& task, const Where& where) {
  const auto o = operands_of<B>(task, where);
  const double seconds = seconds_to_make(o->on, [&] {
    o->kept.make(o->on);
    o->kept.amg->update_values(o->kept.A);
  });
  Prepared ready =
      prepared(o, seconds, o->kept.amg->bytes(), [](AmgOperands<B>& all) { all.kept.amg->update_values(all.kept.A); });
  ready.poison = [o] {
    auto other = copied_to<SpaceOf<B>>(o->on, o->kept.A);
    axpy<B, double>(o->on, 2, o->kept.A.values, other.values);
    o->kept.amg->update_values(other.view());
  };
  return with_cycle_as_answer<B>(o, std::move(ready));
}

template <class B>
Prepared one_cycle(const MultigridTask& task, const Where& where) {
  const auto o = operands_of<B>(task, where);
  const double seconds = seconds_to_make(o->on, [&] { o->kept.make(o->on); });
  return prepared(o, seconds, o->kept.amg->bytes(), cycle<B>);
}

}  // namespace

std::vector<Rival> amg_rivals() {
  std::vector<Rival> all;
  add_ours(all, kernels::amg, "csr",
           "smoothed aggregation, levels in single precision; allocates the hierarchy each time",
           []<class B>(const B*) { return setup<B>; });
  add_ours(all, kernels::amg_values, "csr", "couplings, aggregates and all patterns are kept; allocates nothing",
           []<class B>(const B*) { return values<B>; });
  add_ours(all, kernels::amg_cycle, "csr", "a V cycle in single precision",
           []<class B>(const B*) { return one_cycle<B>; });
  return all;
}

}  // namespace seidel::drivers
