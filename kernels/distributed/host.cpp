// What runs once per row or entry, on the host; the halo of columns of other processes.
#include <algorithm>
#include <limits>
#include <string>

#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/kernels/distributed/instances.hpp>

namespace seidel {

namespace distributed_detail {

template <class Of>
void for_each_of(const OpenMP& on, std::int64_t n, const Of& of) {
  for_each_index(on, n, 4, of);
}

template void instances(const OpenMP&, const Processes&, const std::int32_t*);
template void instances(const OpenMP&, const Processes&, const std::int64_t*);

}  // namespace distributed_detail

std::vector<Index> halo_detail::each_once(const OpenMP& on, HostSpan<const Index> columns) {
  std::vector<std::vector<Index>> of_part(std::size_t(std::max(1, on.threads)));
  const auto sort_once = [](std::vector<Index>& found) {
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  };
  for_shares(on, columns.size(), 1, [&](std::int64_t begin, std::int64_t end, int part) {
    auto& found = of_part[std::size_t(part)];
    found.assign(columns.begin() + begin, columns.begin() + end);
    sort_once(found);
  });
  std::vector<Index> found;
  for (const auto& part : of_part) found.insert(found.end(), part.begin(), part.end());
  sort_once(found);
  return found;
}

Halo halo_detail::halo_of(const OpenMP& on, const Processes& all, const RowShares& columns,
                          HostSpan<const Index> columns_of_others) {
  const std::int64_t first = columns.first(all.rank());
  const std::vector<Index> outside = each_once(on, columns_of_others);
  const auto behind = std::lower_bound(outside.begin(), outside.end(), first);
  const std::size_t processes = std::size_t(all.size());
  Halo halo{.before = behind - outside.begin(),
            .own = columns.rows(all.rank()),
            .after = outside.end() - behind,
            .outside = Array<Index>(outside),
            .sent = {},
            .sends = std::vector<std::int64_t>(processes),
            .receives = std::vector<std::int64_t>(processes)};
  together(all, [&] {
    if (halo.columns() > std::numeric_limits<Index>::max())
      throw ResourceError("the rows of process " + std::to_string(all.rank()) + " have " +
                          std::to_string(halo.columns()) + " columns, expected at most 2,147,483,647");
  });
  for (const Index c : outside) ++halo.receives[std::size_t(columns.owner(c))];
  const std::vector<std::int64_t> one(processes, 1);
  exchange(all, halo.receives.data(), one, halo.sends.data(), one);
  std::int64_t count = 0;
  for (const std::int64_t n : halo.sends) count += n;
  halo.sent = Array<Index>(count);
  exchange(all, outside.data(), halo.receives, halo.sent.data(), halo.sends);
  for (Index& c : halo.sent) c = Index(c - first);
  return halo;
}

}  // namespace seidel
