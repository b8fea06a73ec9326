// What a solve will take, stated before it is taken.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include <seidel/drivers/memory_plan.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/products/product.hpp>
#include <seidel/solvers/cg_columns.hpp>

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

/// x, the best x so far, the x at the target where the error is estimated, and those of the method; then b, and those of
/// the method that are like b.
std::array<std::int64_t, 2> vectors_of(const SolveNeeds& needs) {
  const Method& method = needs.choice.method;
  return {2 + needs.estimates + method.vectors(needs.choice), 1 + method.vectors_like_b};
}
/// The initial guess, and what the methods that follow hold at most beyond the first.
std::int64_t more_vectors_of_fallbacks(const MethodChoice& choice) {
  std::int64_t more = 0;
  for (const Method& next : choice.fallbacks)
    more = std::max(more, next.vectors(choice) - choice.method.vectors(choice));
  return 1 + more;
}

SystemSize size_of(const SolveNeeds& needs) {
  return {.nrows = needs.nrows,
          .nnz = needs.nnz,
          .bytes_per_offset = needs.narrow_offsets ? 4 : 8,
          .on_device = needs.cuda};
}

std::int64_t bytes_of(const PreconditionerKind& kind, const SolveNeeds& needs) {
  std::int64_t bytes = 0;
  for (const MemoryPart& part : kind.memory(size_of(needs), needs.choice)) bytes += part.bytes;
  return bytes;
}

/// The preconditioner that needs most of those that need much less than `bytes`.
std::string smaller_preconditioner(std::int64_t bytes, const SolveNeeds& needs) {
  std::int64_t most = -1;
  std::string_view name;
  for (const PreconditionerKind& kind : preconditioners)
    if (const std::int64_t its = bytes_of(kind, needs); its > most && its <= bytes / 4) most = its, name = kind.name;
  return name.empty() ? "" : formatted("--precond {}", name);
}

std::int64_t matrix_bytes(const SolveNeeds& needs, std::int64_t nrows) {
  return needs.narrow_offsets ? csr_bytes<double, std::int32_t>(nrows, needs.nnz)
                              : csr_bytes<double, std::int64_t>(nrows, needs.nnz);
}
template <Backend B>
std::int64_t product_bytes(const SolveNeeds& needs, std::int64_t nrows) {
  return Product<double, std::int32_t, B>::max_bytes(nrows, needs.nnz, needs.uneven_rows);
}

using Items = std::vector<MemoryItem>;

void add_matrix(Items& items, const SolveNeeds& needs) {
  const std::int64_t n = needs.nrows;
  if (needs.cuda) {
    items.push_back(
        {"the matrix on the GPU, for the certificate and the sweeps", matrix_bytes(needs, n), "--backend openmp"});
    items.push_back({"kinds of rows, columns of blocks or a list of long rows, for products",
                     product_bytes<Cuda>(needs, n), "--backend openmp"});
  } else {
    items.push_back({"row pointers of 32 bits", needs.narrow_offsets ? 4 * (n + 1) : 0, ""});
    items.push_back({"kinds of rows, for products", product_bytes<OpenMP>(needs, n), ""});
  }
}

/// The vectors of the method, and A' for one that needs products with it.
void add_method(Items& items, const SolveNeeds& needs) {
  const Method& method = needs.choice.method;
  const std::int64_t nrows = needs.nrows, ncols = needs.ncols.value_or(nrows);
  const auto [like_x, like_b] = vectors_of(needs);
  const std::int64_t vectors = 8 * (like_x * ncols + like_b * nrows);
  items.push_back({formatted("{} vectors of {}", like_x + like_b, to_string(method)), vectors,
                   method == Method::gmres                ? "--set restart=20, or --method bicgstab"
                   : method == Method::bicgstab           ? "--method cg, if A is positive definite"
                   : needs.choice.form == Form::eisenstat ? "--set form=plain"
                                                          : ""});
  if (const std::int64_t more = needs.columns - 1; more > 0) {
    const bool in_step = method == Method::cg && needs.choice.form != Form::eisenstat &&
                         (needs.cuda || pays_in_step<OpenMP>(needs.columns, nrows, needs.nnz));
    items.push_back({formatted("{}: b, x{}", plural(more, "more column"),
                               in_step ? ", the vectors of cg, and what products and cycles hold of them" : ""),
                     8 * more * (ncols + nrows) + (in_step ? more * (8 * like_x + 32) * nrows : 0),
                     "fewer columns at a time"});
  }
  if (method.needs != Needs::nothing) return;
  items.push_back({"A', for products with it", matrix_bytes(needs, ncols), ""});
  if (needs.cuda)
    items.push_back({"the same of A'", product_bytes<Cuda>(needs, ncols), ""});
  else  // vectors are taken after it
    items.push_back({"entries on their way to A', beyond what vectors need later",
                     std::max<std::int64_t>(0, max_transpose_workspace(nrows, ncols, needs.nnz) - vectors), ""});
}

void add_preconditioner(Items& items, const SolveNeeds& needs) {
  const PreconditionerKind& kind = needs.choice.preconditioner;
  bool first = true;
  for (const MemoryPart& part : kind.memory(size_of(needs), needs.choice)) {
    const std::int64_t bytes = first && needs.counted_bytes ? *needs.counted_bytes : part.bytes;
    items.push_back({part.what, bytes, first ? smaller_preconditioner(bytes, needs) : ""});
    first = false;
  }
  if (needs.near_null_vectors > 0)
    items.push_back({"near-null vectors, for the setup of amg", needs.near_null_vectors * 8 * needs.nrows, ""});
  if (needs.choice.order != Order::natural && kind.orders.size() > 1) items.back().less = "--order natural";
}

}  // namespace

MemoryPlan plan_solve(const SolveNeeds& needs, std::int64_t available) {
  MemoryPlan plan{needs.cuda ? "memory of the GPU" : "host memory", available, {}};
  add_matrix(plan.items, needs);
  add_method(plan.items, needs);
  if (needs.choice.fallbacks.empty() && needs.estimates && needs.choice.method == Method::cg)  // which take more
    plan.items.push_back({"2 vectors more to look for an error that no iterate shows", 2 * 8 * needs.nrows, ""});
  if (!needs.choice.fallbacks.empty()) {
    std::vector<std::string> others;
    for (const Method& next : needs.choice.fallbacks) others.emplace_back(to_string(next));
    const std::int64_t more = more_vectors_of_fallbacks(needs.choice);
    plan.of_fallback = more * 8 * needs.nrows;
    plan.items.push_back({formatted("{} more if {} has to take over", more, joined(others, " or ")), plan.of_fallback,
                          formatted("--method {}", to_string(needs.choice.method))});
  }
  if (needs.arranged)
    plan.items.push_back({"the matrix with its rows permuted or scaled",
                          matrix_bytes(needs, needs.nrows) + 36 * needs.nrows, "--permute none --scale none"});
  if (needs.factor_bytes > 0) plan.items.push_back({"the factors of A", needs.factor_bytes, "--method auto"});
  add_preconditioner(plan.items, needs);
  return plan;
}

SolveNeeds at_least(SolveNeeds needs) {
  const auto parts = needs.choice.preconditioner.memory(size_of(needs), needs.choice);
  if (!parts.empty()) needs.counted_bytes = parts.front().min_bytes;
  return needs;
}

bool worth_counting(const SolveNeeds& needs, std::int64_t available) {
  if (needs.cuda || !needs.choice.preconditioner.count) return false;
  const std::int64_t at_most = 2 * plan_solve(needs, available).needed();
  return at_most >= MemoryPlan::worth_saying || at_most > available;
}

MethodChoice affordable(const SolveNeeds& needs, std::int64_t available) {
  SolveNeeds fewer = needs;
  MethodChoice& choice = fewer.choice;
  while (!choice.fallbacks.empty() && plan_solve(fewer, available).needed() > available) {
    choice.reason += formatted("; no fallback to {}: not enough memory", to_string(choice.fallbacks.back()));
    choice.fallbacks.pop_back();
  }
  return choice;
}

namespace {

SolveNeeds least_needs(std::int64_t nrows, std::int64_t ncols, std::int64_t nnz, const MethodRequest& request,
                       bool cuda) {
  const bool least_squares = request.goal == Goal::least_squares;
  return at_least({.nrows = nrows,
                   .nnz = nnz,
                   .choice = {.method = request.method.value_or(least_squares ? Method::lsmr : Method::cg),
                              .preconditioner = request.preconditioner.value_or(PreconditionerKind::none),
                              .order = request.order.value_or(Order::natural),
                              .restart = int(request.settings[restart_setting]),
                              .settings = request.settings},
                   .cuda = cuda,
                   .narrow_offsets = nnz <= std::numeric_limits<std::int32_t>::max(),
                   .ncols = ncols});
}

}  // namespace

MemoryPlan plan_read(std::int64_t nrows, std::int64_t ncols, std::int64_t nnz, const MethodRequest& request, bool cuda,
                     std::int64_t available) {
  const SolveNeeds needs = least_needs(nrows, ncols, nnz, request, cuda);
  MemoryPlan plan{"host memory", available, {}};
  if (cuda)
    plan.items = {{"row pointers of 32 bits", needs.narrow_offsets ? 4 * (nrows + 1) : 0, ""}, {"x", 8 * ncols, ""}};
  else
    plan = plan_solve(needs, available);
  plan.items.insert(plan.items.begin(), {{"the matrix", 12 * nnz + 8 * (nrows + 1), "a smaller one"},
                                         {"the right-hand side", 8 * nrows, ""}});
  return plan;
}

MemoryPlan plan_read_for_gpu(std::int64_t nrows, std::int64_t ncols, std::int64_t nnz, const MethodRequest& request,
                             std::int64_t available) {
  const SolveNeeds needs = least_needs(nrows, ncols, nnz, request, true);
  return plan_solve(needs, available);
}

std::int64_t without_margin(std::int64_t free_bytes) {
  return free_bytes - std::max(free_bytes / 100 * 3, std::min<std::int64_t>(300'000'000, free_bytes / 10));
}

}  // namespace seidel::drivers
