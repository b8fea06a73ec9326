// Values of a transpose fetched from the places that are known, on the host.
#include <seidel/formats/instances.hpp>
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

/// Never called: names both functions, so that their code is emitted here.
void instances(const OpenMP& on) {
  with_each_csr<Host>([&]<class Real, class Offset>(const CsrView<Real, Offset, Host>&, Real*) {
    gather<Real, Offset>(on, {}, {}, {}), number<Offset>(on, {});
  });
  gather<Index, std::int32_t>(on, {}, {}, {});
}

}  // namespace seidel::transpose_detail
