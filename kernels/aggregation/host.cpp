// The steps of aggregation on the host: one core or several, the same code.
#include <atomic>

#include <seidel/formats/runtime/shares.hpp>
#include <seidel/kernels/aggregation/host_by_kind.hpp>
#include <seidel/kernels/aggregation/instances.hpp>

namespace seidel::aggregation_detail {

template <class Offset, class OfRow>
void for_each_row(const OpenMP& on, HostSpan<const Offset> row_ptr, const OfRow& of_row) {
  for_row_shares(on, row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) of_row(Index(i));
  });
}

template <class Offset, class OfRow>
void for_each_row_of(const OpenMP& on, const CsrView<double, Offset, Host>& A, const OfRow& of_row) {
  for_row_shares(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) {
    if constexpr (requires { by_kind(of_row, 0, A); })
      with_avx2([&] {
        for (std::int64_t i = first; i < last; ++i) by_kind(of_row, Index(i), A);
      });
    else
      for (std::int64_t i = first; i < last; ++i) of_row(Index(i), A);
  });
}

template <class Offset, class OfEntry>
void for_each_entry(const OpenMP& on, HostSpan<const Offset> row_ptr, const OfEntry& of_entry) {
  for_row_shares(on, row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) of_entry(Index(i), k);
  });
}

template <class Of>
void for_each_of(const OpenMP& on, std::int64_t n, const Of& of) {
  for_each_index(on, n, 8, of);
}

template <class Offset, class OfRow>
bool any_row(const OpenMP& on, HostSpan<const Offset> row_ptr, const OfRow& of_row) {
  std::atomic<bool> found = false;
  for_row_shares(on, row_ptr, [&](std::int64_t first, std::int64_t last) {
    bool mine = false;
    for (std::int64_t i = first; i < last; ++i)
      if (of_row(Index(i))) mine = true;
    if (mine) found = true;
  });
  return found;
}

template void instances(const OpenMP&, const std::int32_t*);
template void instances(const OpenMP&, const std::int64_t*);

}  // namespace seidel::aggregation_detail
