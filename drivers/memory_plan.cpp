// What a solve will take, stated before it is taken.
#include <algorithm>
#include <limits>
#include <numeric>

#include <seidel/drivers/memory_plan.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

std::int64_t MemoryPlan::needed() const {
  return std::accumulate(items.begin(), items.end(), std::int64_t(0),
                         [](auto sum, const auto& item) { return sum + item.bytes; });
}

std::string MemoryPlan::text() const {
  std::string text =
      formatted("{} of {} are needed, {} are free", human_bytes(needed()), where, human_bytes(available));
  bool first = true;
  for (const auto& item : items)
    if (item.bytes > 0) {
      text += formatted("{}{} for {}", first ? ": " : "; ", human_bytes(item.bytes), item.what);
      first = false;
    }
  return text;
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

namespace {

/// What the method holds in its loop.
std::int64_t vectors_of(Method method, const MethodChoice& choice) {
  if (method == Method::cg) return choice.form == Form::eisenstat ? 9 : 5;
  return method == Method::bicgstab ? 7 : choice.restart + 3;
}

/// x, b, the best x so far; with a fallback the first guess, and the larger of two methods that follow each other.
std::int64_t vectors_of(const MethodChoice& choice) {
  const std::int64_t first = vectors_of(choice.method, choice);
  return 3 + (choice.fallback ? 1 + std::max(first, vectors_of(*choice.fallback, choice)) : first);
}

/// The sweeps keep A in two triangles, in the order in which they meet its rows, and vectors beside them. On the host
/// columns that rows share are stored once, and 56 bytes kept for each run of slices alike.
std::int64_t about_sweep_bytes(const SolveNeeds& needs) {
  const std::int64_t n = needs.nrows, real = needs.single ? 4 : 8;
  const std::int64_t triangles = (4 + real) * std::max<std::int64_t>(needs.nnz - n, 0);
  if (needs.cuda) return triangles + 5 * real * n + 10 * n;  // reciprocals twice, x, y, t; places, rows and slices
  return triangles + 2 * real * n + 4 * n;                   // reciprocals, t; rows
}

}  // namespace

MemoryPlan plan_solve(const SolveNeeds& needs, std::int64_t available) {
  const std::int64_t n = needs.nrows, vector = 8 * n, csr = 12 * needs.nnz + (needs.narrow_offsets ? 4 : 8) * (n + 1);
  MemoryPlan plan{needs.cuda ? "memory of the GPU" : "host memory", available, {}};
  if (needs.cuda) {
    plan.items.push_back({"the matrix on the GPU, for the certificate and the sweeps", csr, "--backend openmp"});
    if (needs.sell_padding <= max_sell_padding)
      plan.items.push_back({"the matrix as SELL, for products",
                            sell_bytes<double>(n, std::int64_t(needs.sell_padding * double(needs.nnz))),
                            "--backend openmp"});
  } else {
    plan.items.push_back({"row pointers of 32 bits", needs.narrow_offsets ? 4 * (n + 1) : 0, ""});
  }
  const Method method = needs.choice.method;
  const std::int64_t vectors = vectors_of(needs.choice);
  const auto& fallback = needs.choice.fallback;
  plan.items.push_back({formatted("{} vectors of {}{}", vectors, to_string(method),
                                  fallback ? formatted(", and of {} if that must go on", to_string(*fallback)) : ""),
                        vectors * vector,
                        method == Method::gmres                ? "--set restart=20, or --method bicgstab"
                        : method == Method::bicgstab           ? "--method cg, if A is positive definite"
                        : needs.choice.form == Form::eisenstat ? "--set form=plain"
                                                               : ""});
  if (needs.choice.preconditioner == PreconditionerKind::jacobi)
    plan.items.push_back({"the diagonal, for jacobi", vector, "--precond none"});
  if (needs.choice.preconditioner == PreconditionerKind::symgs) {
    plan.items.push_back({"both triangles in the order of the sweeps, for symgs",
                          needs.sweep_bytes.value_or(about_sweep_bytes(needs)), "--precond jacobi"});
    if (needs.single) plan.items.push_back({"values and two vectors in single precision", 4 * needs.nnz + vector, ""});
    if (needs.choice.order != Order::natural)
      plan.items.push_back(
          {"the matrix in the order of its colours, for symgs", csr + 2 * 4 * n + 2 * vector, "--order natural"});
  }
  return plan;
}

std::int64_t min_sweep_bytes(const SolveNeeds& needs) {
  const std::int64_t real = needs.single ? 4 : 8;  // all columns shared, all rows alike
  return real * (std::max<std::int64_t>(needs.nnz - needs.nrows, 0) + 2 * needs.nrows) + 4 * needs.nrows;
}

bool worth_counting(const SolveNeeds& needs, std::int64_t available) {
  if (needs.cuda || needs.choice.preconditioner != PreconditionerKind::symgs) return false;
  const std::int64_t at_most = 2 * plan_solve(needs, available).needed();
  return at_most >= MemoryPlan::worth_saying || at_most > available;
}

MethodChoice affordable(const SolveNeeds& needs, std::int64_t available) {
  if (!needs.choice.fallback || plan_solve(needs, available).needed() <= available) return needs.choice;
  SolveNeeds alone = needs;
  alone.choice.fallback.reset();
  alone.choice.reason +=
      formatted("; no {} after it, for which the memory is not there", to_string(*needs.choice.fallback));
  return alone.choice;
}

MemoryPlan plan_read(std::int64_t nrows, std::int64_t nnz, const MethodRequest& request, bool single, bool cuda,
                     std::int64_t available) {
  MethodChoice least{request.method.value_or(Method::cg), request.preconditioner.value_or(PreconditionerKind::none),
                     request.order.value_or(Order::natural), request.restart.value_or(50)};
  MemoryPlan plan{"host memory", available, {}};
  SolveNeeds needs{nrows, nnz, least, cuda, nnz <= std::numeric_limits<std::int32_t>::max(), 1, single};
  needs.sweep_bytes = min_sweep_bytes(needs);
  if (!cuda) plan = plan_solve(needs, available);
  plan.items.insert(plan.items.begin(), {{"the matrix", 12 * nnz + 8 * (nrows + 1), "a smaller one"},
                                         {"the right-hand side", 8 * nrows, ""}});
  return plan;
}

}  // namespace seidel::drivers
