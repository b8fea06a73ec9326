// The steps of aggregation on the host: one core or several, the same code.
#include <algorithm>
#include <atomic>
#include <bit>

#include <seidel/formats/runtime/shares.hpp>
#include <seidel/kernels/aggregation/instances.hpp>

namespace seidel::aggregation_detail {

template <class Offset, class OfRow>
void for_each_row(const OpenMP& on, HostSpan<const Offset> row_ptr, const OfRow& of_row) {
  for_row_shares(on, row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) of_row(Index(i));
  });
}

/// ValuesOfRow for entries whose kinds are known, the same sums in the same order: what an entry of A is to P decides by masks, so
/// that no branch depends on it.
template <class Offset>
void by_kind(const ValuesOfRow<Offset, Host, PlacedEntries<Offset, Host>>& of, Index i,
             const CsrView<double, Offset, Host>& A) {
  using Placed = PlacedEntries<Offset, Host>;
  using Sums [[gnu::vector_size(32)]] = double;
  using Mask [[gnu::vector_size(32)]] = std::int64_t;
  static_assert(max_prolongator_entries == 4 && Placed::cut == 4);
  constexpr Mask place[] = {{-1}, {0, -1}, {0, 0, -1}, {0, 0, 0, -1}, {}, {}, {}};
  constexpr std::uint64_t all_bits = ~std::uint64_t(0),
                          has_aggregate[] = {all_bits, all_bits, all_bits, all_bits, all_bits, 0, 0},
                          is_weak[] = {0, 0, 0, 0, 0, 0, all_bits};
  const auto masked = [](double value, std::uint64_t mask) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & mask);
  };

  const std::uint8_t* const kinds = of.row.entries.kinds.data() + A.row_ptr[i];
  const double* const a = A.values.data() + A.row_ptr[i];
  const std::int64_t n = A.row_ptr[i + 1] - A.row_ptr[i];
  std::int64_t diagonal = n;
  double weak = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    diagonal = kinds[k] & Placed::diagonal ? k : diagonal;
    weak += masked(a[k], is_weak[kinds[k] & Placed::place]);
  }
  const double divisor = of.row.filtered(diagonal < n ? a[diagonal] : 0, weak);

  constexpr std::int64_t batch = 32;
  Sums sums = {};
  double all = 0;
  bool cut = false;
  for (std::int64_t first = 0; first < n; first += batch) {
    const std::int64_t size = std::min(batch, n - first);
    double values[batch];
    for (std::int64_t k = 0; k < size; ++k) values[k] = -(of.row.omega * (a[first + k] / divisor));
    if (diagonal >= first && diagonal < first + size) values[diagonal - first] = 1 - of.row.omega;
    for (std::int64_t k = 0; k < size; ++k) {
      const int kind = kinds[first + k] & Placed::place;
      const double value = values[k];
      sums += Sums(Mask(Sums{value, value, value, value}) & place[kind]);
      all += masked(value, has_aggregate[kind]);
      cut = cut || kind == Placed::cut;
    }
  }
  const double of_place[] = {sums[0], sums[1], sums[2], sums[3]};
  const Offset to = of.row_ptr[i];
  scale_to_sum(of_place, all, cut, int(of.row_ptr[i + 1] - to), of.values.data() + to);
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
