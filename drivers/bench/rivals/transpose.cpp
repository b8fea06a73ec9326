// Transposition of CSR, seidel's.
#include <seidel/drivers/bench/rivals/transposition.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/kernels/transpose/transpose.hpp>

namespace seidel::drivers {

namespace {

template <class B>
Prepared once(const TransposeTask& task, const Where& where) {
  const auto o = std::make_shared<Transposition<B>>(task, where);
  TransposeReport report;
  transpose(o->on, o->A, o->T, &report);
  return prepared(o, report.workspace_bytes, [](auto& all) { transpose(all.on, all.A, all.T); });
}

/// The values are new in each run: A's own, so that the answer is A'; NaN is what poisons it.
template <class B>
Prepared values(const TransposeTask& task, const Where& where) {
  using Transposed = TransposedMatrix<double, std::int32_t, B>;
  const B on = back_end<B>(where);
  const auto A = csr_of(on, task.of);
  auto nan = copied_to<SpaceOf<B>>(on, Array<double>(A.nnz(), std::numeric_limits<double>::quiet_NaN()));
  std::shared_ptr<Transposed> T;
  const double setup = seconds_to_make(on, [&] { T = std::make_shared<Transposed>(on, A); });
  const auto nans = std::make_shared<const Array<double, SpaceOf<B>>>(std::move(nan));
  return {.run = [T, A] { T->update_values(A.values); },
          .poison = [T, nans] { T->update_values(nans->span()); },
          .answer = [on, T] { return answer_of(on, T->view()); },
          .setup_seconds = setup,
          .workspace_bytes = T->bytes()};
}

}  // namespace

std::vector<Rival> transpose_rivals() {
  std::vector<Rival> all;
  add_ours(all, kernels::transpose, "csr", "symmetric patterns mirrored, others sorted by buckets of columns",
           []<class B>(const B*) { return once<B>; });
  add_ours(all, kernels::transpose_values, "csr", "each value fetched from its place, which is kept",
           []<class B>(const B*) { return values<B>; });
  return all;
}

}  // namespace seidel::drivers
