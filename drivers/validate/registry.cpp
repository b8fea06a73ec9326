// Every rival of bench on one operand: right or wrong, and not timed.
#include <seidel/drivers/bench/kernels/tasks.hpp>
#include <seidel/drivers/bench/measure.hpp>
#include <seidel/drivers/validate/checks.hpp>

namespace seidel::drivers {

namespace {

bool runs_at(const Measurement& m, const Placement& where) {
  if (m.rival->backend == BackendName::cuda) return where.backend == BackendName::cuda;
  if (m.rival->backend == BackendName::serial) return where.backend == BackendName::serial;
  return where.backend == BackendName::openmp && where.threads == m.threads;
}

void enter(Ledger& ledger, const Measurement& m, const std::vector<Placement>& backends, const std::string& order) {
  if (m.verdict == Verdict::refused) return;  // too much padding and the like: as designed
  std::size_t column = 0;
  while (column < backends.size() && !runs_at(m, backends[column])) ++column;
  if (column == backends.size()) column = 0;  // the reference itself is wrong, which is reported wherever it runs
  ledger.backend(column);
  const std::string kernel(m.rival->kernel->name), variant(m.rival->variant);
  const std::string format = std::string(m.rival->format) + (variant.empty() ? "" : ", " + variant) + order;
  if (m.verdict == Verdict::wrong)
    ledger.holds(kernel, format, false, m.reason);
  else
    ledger.within(kernel, format, m.error);
}

}  // namespace

void check_registry(Ledger& ledger, const OperandKind& kind, Operand& operand, const Registry& registry) {
  Plan plan;
  plan.trials = 0;
  plan.selection = {registry.only, {}};
  for (const Placement& where : registry.backends) {
    plan.selection.backends.push_back(where.backend);
    if (where.backend == BackendName::openmp) plan.threads.push_back(where.threads);
    if (where.backend == BackendName::cuda) plan.cuda.emplace();
  }
  const auto walk = [&](const Kernel& kernel, Operand& on, const std::string& order) {
    for (const std::int64_t k : kernel.in_validate)
      for (const Layout layout : {Layout::column_major, Layout::row_major})
        if (k > 1 || layout == Layout::row_major)  // one column is the same in both
          for (const auto& m : measure(kernel, on, {.k = k, .layout = layout}, plan, registry.rivals))
            enter(ledger, m, registry.backends, order);
  };
  for (const Kernel* kernel : all_kernels()) {
    if (kernel->takes != &kind || !fits(*kernel, operand)) continue;
    walk(*kernel, operand, "");
    if (kernel->orders == Orders::none) continue;
    MatrixOperand coloured = by_colours(dynamic_cast<MatrixOperand&>(operand));
    walk(*kernel, coloured, ", colours");
  }
}

}  // namespace seidel::drivers
