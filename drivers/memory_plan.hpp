// What a solve will take, stated before it is taken.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <seidel/solvers/choose_method.hpp>

namespace seidel::drivers {

/// What a plan may count on of the bytes that are free: the rest of the system needs memory as well.
std::int64_t without_margin(std::int64_t free_bytes);

struct MemoryItem {
  std::string what;
  std::int64_t bytes = 0;
  std::string less;  // what would need less of it: a fragment of a command line, or empty
};

struct MemoryPlan {
  std::string where = {};      // "host memory", "memory of the GPU"
  std::int64_t available = 0;  // bytes, asked when the plan was made
  std::vector<MemoryItem> items = {};
  std::int64_t of_fallback = 0;  // bytes of the item that a fallback alone needs

  std::int64_t needed() const;
  /// "1.2 GB of host memory are needed, 3.4 GB are free: 1 GB for the matrix; ..."
  std::string text() const;
  /// Whether a user wants to know before it is taken: 1 GB and more.
  bool large() const { return needed() >= worth_saying; }
  static constexpr std::int64_t worth_saying = 1'000'000'000;
  /// Errors  ResourceError: what is needed for what, what there is, and what would need less.
  void require() const;
};

/// What solve was asked for, as far as it costs memory.
struct SolveNeeds {
  std::int64_t nrows = 0, nnz = 0;
  MethodChoice choice = {};
  bool cuda = false;
  bool estimates = false;  // the error of x: one vector more
  bool narrow_offsets = true;
  std::int64_t columns = 1;            // right-hand sides
  std::int64_t near_null_vectors = 0;  // for amg
  std::int64_t factor_bytes = 0;       // of the method direct
  bool arranged = false;               // preconditioners see a permuted or scaled copy of A
  bool uneven_rows = false;            // so that products on a GPU may keep more
  /// The first part of what the preconditioner holds, where that was counted.
  std::optional<std::int64_t> counted_bytes{};
  std::optional<std::int64_t> ncols{};  // where A need not be square
};

/// Beyond the matrix and the right-hand side as they were read, in the memory that the iteration runs in. Within 10 %
/// of what is taken where the sweeps of symgs are counted; else those take half to twice as much on the host, and up
/// to a few times as much on a GPU in natural order, where short wavefronts are padded.
MemoryPlan plan_solve(const SolveNeeds& needs, std::int64_t available);
/// The same with the least that the preconditioner can take: what certainly does not fit need not be counted.
SolveNeeds at_least(SolveNeeds needs);
/// Whether it is worth counting what the preconditioner holds on the host: about as much as there is, or enough to be
/// said beforehand.
bool worth_counting(const SolveNeeds& needs, std::int64_t available);

/// needs.choice, without the last of the methods that would go on where there is no memory for them: its reason says so.
MethodChoice affordable(const SolveNeeds& needs, std::int64_t available);

/// What a solve takes at least, before the matrix is read: method and preconditioner where they were asked for, else
/// those that need least. On the host, the matrix included; and for a GPU there.
MemoryPlan plan_read(std::int64_t nrows, std::int64_t ncols, std::int64_t nnz, const MethodRequest& request, bool cuda,
                     std::int64_t available);
MemoryPlan plan_read_for_gpu(std::int64_t nrows, std::int64_t ncols, std::int64_t nnz, const MethodRequest& request,
                             std::int64_t available);

}  // namespace seidel::drivers
