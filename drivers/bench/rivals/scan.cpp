// Scans: seidel's, and the standard library's.
#include <numeric>

#include <seidel/drivers/bench/kernels/scan.hpp>
#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/kernels/primitives/scan.hpp>

namespace seidel::drivers {

namespace {

struct Nothing {};

template <class B, class Run>
Prepared scanned(const ScanTask& task, const Where& where, Run run) {
  using On = Operands<B, Nothing, std::int32_t, std::int64_t>;
  return prepared(std::make_shared<On>(task.counts, where, task.counts.size(), Nothing{}), 0, 0, run);
}

template <class B>
Prepared ours(const ScanTask& task, const Where& where) {
  return scanned<B>(task, where, [](auto& o) { exclusive_scan(o.on, std::as_const(o.x).span(), o.y.span()); });
}

Prepared standard(const ScanTask& task, const Where& where) {
  return scanned<OpenMP>(task, where,
                         [](auto& o) { std::exclusive_scan(o.x.begin(), o.x.end(), o.y.begin(), std::int64_t(0)); });
}

}  // namespace

std::vector<Rival> scan_rivals() {
  std::vector<Rival> all;
  add_ours(
      all, kernels::scan, "array", "each thread a part; several read the counts twice",
      []<class B>(const B*) { return ours<B>; }, "decoupled look-back");
  all.push_back({&kernels::scan, "array", BackendName::serial, "std", Role::baseline, "std::exclusive_scan", standard});
  return all;
}

}  // namespace seidel::drivers
