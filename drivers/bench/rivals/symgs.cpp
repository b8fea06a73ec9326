// The forward and backward sweep of seidel from a zero guess, in natural order.
#include <seidel/drivers/bench/rivals/lists.hpp>
#include <seidel/drivers/bench/rivals/products.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::bench {

namespace {

template <class B>
struct Kept {
  Csr<double, std::int32_t, SpaceOf<B>> A;
  std::unique_ptr<GaussSeidel<double, std::int32_t, B>> sweep;
};

template <class B>
Prepared natural(const Task& task, const Where& where) {
  Kept<B> kept{copied_to<SpaceOf<B>>(narrow(task.A).view()), nullptr};
  const B on = back_end<B>(where);
  const double setup = seconds_of([&] {
    kept.sweep = std::make_unique<GaussSeidel<double, std::int32_t, B>>(on, kept.A.view());
    if constexpr (!HostBackend<B>) on.synchronize();
  });
  const std::int64_t bytes = kept.sweep->bytes();
  auto operands = std::make_shared<Operands<B, Kept<B>>>(task, where, task.A.nrows, std::move(kept));
  return prepared(operands, setup, bytes, [](auto& o) { o.kept.sweep->symmetric_from_zero(o.x, o.y); });
}

constexpr std::string_view what = "natural order, exact; a pair of sweeps from a zero guess";

}  // namespace

std::vector<Rival> symgs_rivals() {
  std::vector<Rival> all;
  for_each_back_end([&]<class B>(const B*) {
    all.push_back({"symgs", "csr", runs_on<B>, "", true, what, natural<B>});
  });
  return all;
}

}  // namespace seidel::bench
