// Values of a transpose fetched from the places that are known, on the host.
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/kernels/transpose/transpose.hpp>

namespace seidel::transpose_detail {

/// So many entries before it is copied a value is asked for: processors do not foresee where it lies.
constexpr std::int64_t entries_ahead = 256;

template <class Real, class Offset>
void gather(const OpenMP& on, HostSpan<const Offset> place, HostSpan<const Real> from, HostSpan<Real> to) {
  for_shares(on, to.size(), 1, [&](std::int64_t first, std::int64_t last, int) {
    std::int64_t k = first;
    for (; k + entries_ahead < last; ++k) {
      __builtin_prefetch(&from[place[k + entries_ahead]]);
      to[k] = from[place[k]];
    }
    for (; k < last; ++k) to[k] = from[place[k]];
  });
}

template <class Offset>
void number(const OpenMP& on, HostSpan<Offset> place) {
  for_each_index(on, place.size(), 1, [=](std::int64_t k) { place[k] = Offset(k); });
}

template void gather(const OpenMP&, HostSpan<const std::int32_t>, HostSpan<const double>, HostSpan<double>);
template void gather(const OpenMP&, HostSpan<const std::int32_t>, HostSpan<const float>, HostSpan<float>);
template void gather(const OpenMP&, HostSpan<const std::int64_t>, HostSpan<const double>, HostSpan<double>);
template void gather(const OpenMP&, HostSpan<const std::int64_t>, HostSpan<const float>, HostSpan<float>);
template void gather(const OpenMP&, HostSpan<const std::int32_t>, HostSpan<const Index>, HostSpan<Index>);
template void number(const OpenMP&, HostSpan<std::int32_t>);
template void number(const OpenMP&, HostSpan<std::int64_t>);

}  // namespace seidel::transpose_detail
