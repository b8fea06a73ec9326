// Every rival of bench on one matrix: right or wrong, and not timed.
#include <seidel/drivers/bench/measure.hpp>
#include <seidel/drivers/report/format.hpp>
#include <seidel/drivers/validate/checks.hpp>
#include <seidel/formats/permute.hpp>
#include <seidel/kernels/symgs/orders.hpp>

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
  if (column == backends.size()) column = 0;  // the reference itself is wrong: said, wherever it runs
  ledger.backend(column);
  const std::string kernel(m.rival->kernel), variant(m.rival->variant);
  const std::string format = std::string(m.rival->format) + (variant.empty() ? "" : ", " + variant) + order;
  if (m.verdict == Verdict::wrong)
    ledger.wrong(kernel, format, m.reason);
  else
    ledger.within(kernel, format, m.error);
}

}  // namespace

void check_registry(Ledger& ledger, const Expected& expected, const Matrix& A, const Registry& registry,
                    const std::vector<Placement>& backends, const Cuda* cuda) {
  if (!expected.finite) return;
  Plan plan;
  plan.trials = 0;
  plan.selection = {registry.only, false, false, false};
  for (const Placement& where : backends) {
    plan.selection.serial |= where.backend == BackendName::serial;
    plan.selection.openmp |= where.backend == BackendName::openmp;
    plan.selection.cuda |= where.backend == BackendName::cuda;
    if (where.backend == BackendName::openmp) plan.threads.push_back(where.threads);
  }
  const auto walk = [&](std::string_view kernel, const Matrix& matrix, const std::string& order) {
    for (const auto& m : measure(kernel, "", matrix, plan, cuda, registry.rivals)) enter(ledger, m, backends, order);
  };
  walk("spmv", A, "");
  walk("transpose", A, "");
  if (expected.sweeps) {
    const auto order = colour_order(greedy_colours(OpenMP{1}, expected.A));
    const Matrix by_colour = permuted(OpenMP{1}, expected.A, order.span());
    for (const std::string_view kernel : {"symgs", "symgs-guess"})
      walk(kernel, A, ""), walk(kernel, by_colour, ", colours");
  }
  plan.k = {1, 3, 8};
  plan.layouts = {Layout::column_major, Layout::row_major};
  walk("spmm", A, "");
}

}  // namespace seidel::drivers
