// The entry `symgs`.
#include <seidel/solvers/preconditioners/symgs.hpp>

#include <seidel/solvers/preconditioners/make.hpp>
#include <seidel/solvers/preconditioners/split_symgs.hpp>

namespace seidel {

namespace {

enum Detail { omega, sweeps, storage };
constexpr std::string_view storages[] = {"fp64", "fp32"};
constexpr Setting details[] = {
    {.key = "omega", .help = "omega=W    relaxation factor of symgs, 0 < W < 2 (1: none)", .usual = 1, .max = 2},
    {.key = "sweeps",
     .help = "sweeps=N   pairs of sweeps per application of symgs (1)",
     .usual = 1,
     .min = 1,
     .max = 1000,
     .whole = true},
    {.key = "storage",
     .help =
         "storage=S  fp32: symgs in single precision, half the bytes of values, under an iteration in double (fp64)",
     .words = storages}};

bool single(const MethodChoice& choice) { return choice.settings[details[storage]] != 0; }

constexpr auto prepared = []<Backend B, class Offset>(const B& on, const HereAndThere<B, Offset>& A,
                                                      const MethodChoice& choice) {
  if (choice.form == Form::eisenstat) return made_of<B>(SplitSymgsPreconditioner<double, Offset, B>(on, A.there));
  const auto stored_as = [&]<class Stored>(Stored) {  // what the sweeps are done in
    return made_of<B>(
        SymgsPreconditioner<double, Offset, B, Stored>(on, A.there, choice.order, choice.settings[details[omega]],
                                                       int(choice.settings[details[sweeps]]), choice.on_step));
  };
  return single(choice) ? stored_as(float()) : stored_as(double());
};

std::vector<MemoryPart> memory_of(const SystemSize& A, const MethodChoice& choice) {
  const std::int64_t n = A.nrows;
  const auto exactly = [](const char* what, std::int64_t bytes) { return MemoryPart{what, bytes, bytes}; };
  std::vector<MemoryPart> parts = {sweep_memory(A, single(choice) ? 4 : 8)};
  if (choice.form == Form::eisenstat) parts.push_back(exactly("the diagonal, for the form eisenstat", 8 * n));
  if (single(choice)) parts.push_back(exactly("values and two vectors in single precision", 4 * A.nnz + 8 * n));
  if (choice.order != Order::natural)
    parts.push_back(exactly("the matrix in the order of its colours, for symgs",
                            12 * A.nnz + A.bytes_per_offset * (n + 1) + 2 * 4 * n + 2 * 8 * n));
  return parts;
}

std::int64_t counted_bytes(const OpenMP& on, const CsrView<double, std::int64_t, Host>& A, const MethodChoice& choice) {
  return single(choice) ? SymgsPreconditioner<double, std::int64_t, OpenMP, float>::bytes_needed(on, A, choice.order)
                        : SymgsPreconditioner<double, std::int64_t, OpenMP>::bytes_needed(on, A, choice.order);
}

constexpr Order all_orders[] = {Order::natural, Order::colours};

}  // namespace

MemoryPart sweep_memory(const SystemSize& A, std::int64_t bytes_per_value) {
  const std::int64_t n = A.nrows, off_diagonal = std::max<std::int64_t>(A.nnz - n, 0);
  // On a GPU reciprocals twice, x, y, t; places, rows, slices. On the host reciprocals, t; rows.
  const std::int64_t vectors = A.on_device ? 5 * bytes_per_value * n + 10 * n : 2 * bytes_per_value * n + 4 * n;
  return {.what = "both triangles in the order of the sweeps",
          .bytes = (4 + bytes_per_value) * off_diagonal + vectors,
          .min_bytes = bytes_per_value * (off_diagonal + 2 * n) + 4 * n};  // all columns shared, all rows alike
}

constinit const PreconditionerKind PreconditionerKind::symgs = {
    .name = "symgs",
    .help = "symmetric Gauss-Seidel: a forward and a backward sweep",
    .needs_diagonal = true,
    .sweeps = true,
    .settings = details,
    .orders = all_orders,
    .memory = memory_of,
    .count = counted_bytes,
    .make = preconditioners_detail::makes(prepared)};

}  // namespace seidel
