// How work is shared out among the threads of a host back end. Shares never change a result: each part computes what it
// would compute alone.
#pragma once
#include <algorithm>
#include <cstdint>

#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/search.hpp>
#include <seidel/formats/runtime/simd.hpp>

namespace seidel {

struct Range {
  std::int64_t first, last;
};

/// Part `part` of `nparts` of 0 ... n-1.
inline Range even_share(std::int64_t n, int part, int nparts) {
  const std::int64_t size = n / nparts, rest = n % nparts;  // no product, so no overflow
  const std::int64_t first = part * size + std::min<std::int64_t>(part, rest);
  return {first, first + size + (part < rest)};
}

/// Part `part` of `nparts` of the rows, so that rows + nonzeros are even.
template <class Offset>
Range share_by_nonzeros(HostSpan<const Offset> row_ptr, int part, int nparts) {
  const std::int64_t nrows = std::max<std::int64_t>(row_ptr.size() - 1, 0);
  if (nrows == 0 || nparts == 1) return {0, nrows};
  const auto row_at = [&](int p) {  // first row at which rows + nonzeros before it reach p / nparts of all
    const std::int64_t target = even_share(nrows + row_ptr[nrows] - row_ptr[0], p, nparts).first;
    return partition_point(std::int64_t(0), nrows, [&](auto row) { return row + row_ptr[row] - row_ptr[0] < target; });
  };
  return {row_at(part), part + 1 == nparts ? nrows : row_at(part + 1)};
}

/// A reference to a function of the caller. The functions below, which share out work, take one: so they are compiled once
/// for all bodies, and each body once for one thread and for many.
template <class... Arguments>
class FunctionRef {
 public:
  template <class Function>
  FunctionRef(const Function& function)
      : function_(&function),
        call_([](const void* f, Arguments... arguments) { (*static_cast<const Function*>(f))(arguments...); }) {}
  void operator()(Arguments... arguments) const { call_(function_, arguments...); }

 private:
  const void* function_;
  void (*call_)(const void*, Arguments...);
};

/// Calls body(part, nparts) once on each thread. What a body throws is thrown on, one of them if there are several.
void parallel_parts(const OpenMP& on, FunctionRef<int, int> body);

/// Below this many elements waking the threads costs more than they save.
inline constexpr std::int64_t worth_per_thread = 8192;

/// Calls body(first, last, part) for even shares of 0 ... n-1, `weight` saying what an element costs.
void for_shares(const OpenMP& on, std::int64_t n, std::int64_t weight,
                FunctionRef<std::int64_t, std::int64_t, int> body);
/// Calls body(first, last) for shares of the rows of a CSR matrix, by nonzeros. Instantiated for 32- and 64-bit offsets.
template <class Offset>
void for_row_shares(const OpenMP& on, HostSpan<const Offset> row_ptr, FunctionRef<std::int64_t, std::int64_t> body);

/// The same as for_shares(), compiled for this processor (with_avx2).
void parallel_for(const OpenMP& on, std::int64_t n, const auto& body) {
  for_shares(on, n, 1, [&](std::int64_t first, std::int64_t last, int) { with_avx2([&] { body(first, last); }); });
}
template <class Offset, class Body>
void parallel_for_rows(const OpenMP& on, HostSpan<const Offset> row_ptr, const Body& body) {
  for_row_shares(on, row_ptr, [&](std::int64_t first, std::int64_t last) { with_avx2([&] { body(first, last); }); });
}

}  // namespace seidel
