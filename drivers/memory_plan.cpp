// What a solve will take, stated before it is taken.
#include <numeric>

#include <seidel/drivers/memory_plan.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/errors.hpp>

namespace seidel::drivers {

std::int64_t MemoryPlan::needed() const {
  return std::accumulate(items.begin(), items.end(), std::int64_t(0),
                         [](auto sum, const auto& item) { return sum + item.bytes; });
}

void MemoryPlan::require() const {
  if (needed() <= available) return;
  std::string message = formatted("out of memory: {} of {} are needed, {} are free", human_bytes(needed()), where,
                                  human_bytes(available));
  for (const auto& item : items)
    if (item.bytes > 0)
      message += formatted("\n  {:>8}  {}{}", human_bytes(item.bytes), item.what,
                           item.less.empty() ? "" : "; less with " + item.less);
  throw ResourceError(message);
}

MemoryPlan plan_solve(const SolveNeeds& needs, std::int64_t available) {
  const std::int64_t n = needs.nrows, vector = 8 * n, csr = 12 * needs.nnz + (needs.narrow_offsets ? 4 : 8) * (n + 1);
  MemoryPlan plan{needs.cuda ? "memory of the GPU" : "host memory", available, {}};
  if (needs.cuda) {
    // CSR for the certificate and the sweeps, SELL with its padding of at most a half for the products.
    plan.items.push_back(
        {"the matrix on the GPU, for products and for the certificate", csr + csr * 3 / 2, "--backend openmp"});
  } else {
    plan.items.push_back({"row pointers of 32 bits", needs.narrow_offsets ? 4 * (n + 1) : 0, ""});
  }
  const Method method = needs.choice.method;
  const std::int64_t vectors = method == Method::cg ? 7 : method == Method::bicgstab ? 10 : needs.choice.restart + 6;
  plan.items.push_back({formatted("{} vectors of {}", vectors, to_string(method)), vectors * vector,
                        method == Method::gmres      ? "--set restart=20, or --method bicgstab"
                        : method == Method::bicgstab ? "--method cg, if A is positive definite"
                                                     : ""});
  if (needs.choice.preconditioner == PreconditionerKind::jacobi)
    plan.items.push_back({"the diagonal, for jacobi", vector, "--precond none"});
  if (needs.choice.preconditioner == PreconditionerKind::symgs) {
    plan.items.push_back({"wavefronts and the diagonal, for symgs", 6 * vector, "--precond jacobi"});
    if (needs.choice.order != Order::natural)
      plan.items.push_back({"the matrix in the order of its colours, for symgs", csr, "--order natural"});
  }
  return plan;
}

}  // namespace seidel::drivers
