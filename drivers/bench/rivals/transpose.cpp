// Transposition of CSR, seidel's.
#include <seidel/drivers/bench/kernels/transpose.hpp>
#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/formats/convert.hpp>

namespace seidel::drivers {

namespace {

template <class B>
Prepared prepare(const TransposeTask& task, const Where& where) {
  const auto T = std::make_shared<Csr<double, std::int32_t, SpaceOf<B>>>();
  const B on = back_end<B>(where);
  return {.run = [on, A = csr_of(on, task.of), T] { *T = transpose(on, A); },
          .poison = [T] { *T = {}; },  // no answer at all, which no judge takes
          .answer = [on, T] { return answer_of(on, T->view()); }};
}

constexpr std::string_view on_host = "entries counted by column, then placed; allocates the result each time",
                           on_device = "a radix sort of the columns; allocates the result and what it needs each time";

}  // namespace

std::vector<Rival> transpose_rivals() {
  std::vector<Rival> all;
  for_each_back_end([&]<class B>(const B*) {
    all.push_back(
        {&kernels::transpose, "csr", runs_on<B>, "", Role::exact, HostBackend<B> ? on_host : on_device, prepare<B>});
  });
  return all;
}

}  // namespace seidel::drivers
