// What rivals of transposition share: A and room for A', both taken before anything is timed.
#pragma once
#include <variant>

#include <seidel/drivers/bench/rivals/operands.hpp>

namespace seidel::drivers {

/// A and its transpose on a back end, and whatever else a rival keeps.
template <class B, class Kept = std::monostate>
struct Transposition {
  Transposition(const TransposeTask& task, const Where& where)
      : on(back_end<B>(where)),
        A(csr_of(on, task.of)),
        T{A.ncols, A.nrows, Array<std::int32_t, SpaceOf<B>>(on, A.ncols + std::int64_t(1)),
          Array<Index, SpaceOf<B>>(on, A.nnz()), Array<double, SpaceOf<B>>(on, A.nnz())} {}
  B on;
  CsrView<double, std::int32_t, SpaceOf<B>> A;
  Csr<double, std::int32_t, SpaceOf<B>> T;
  Kept kept;
};

/// A Prepared whose operation is run(transposition), which leaves A' in its T.
template <class B, class Kept, class Run>
Prepared prepared(std::shared_ptr<Transposition<B, Kept>> o, std::int64_t workspace_bytes, Run run) {
  return {.run = [o, run] { run(*o); },
          .poison = [o] { poison(o->on, o->T.row_ptr), poison(o->on, o->T.col_idx), poison(o->on, o->T.values); },
          .answer = [o] { return answer_of(o->on, o->T.view()); },
          .setup_seconds = 0,
          .workspace_bytes = workspace_bytes};
}

}  // namespace seidel::drivers
