// Scans on the host: in one pass by one thread, in two by several.
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/kernels/primitives/scan.hpp>

namespace seidel::primitives_detail {

template <class Offset>
void exclusive_scan(const OpenMP& on, HostSpan<const std::int32_t> counts, HostSpan<Offset> offsets) {
  const std::int64_t n = counts.size();
  const int npieces = n < 2 * worth_per_thread ? 1 : on.threads;
  const auto scan_piece = [&](int piece, std::int64_t sum) {
    const Range mine = even_share(n, piece, npieces);
    for (std::int64_t i = mine.first; i < mine.last; ++i) {
      const std::int32_t count = counts[i];  // first: the offsets may be the same memory
      offsets[i] = Offset(sum);
      sum += count;
    }
  };
  if (npieces <= 1) return scan_piece(0, 0);
  std::vector<std::int64_t> before(static_cast<std::size_t>(npieces) + 1, 0);  // sums of the pieces before each
  for_each_in_turn(on, npieces - 1, [&](std::int64_t piece, int) {
    const Range mine = even_share(n, int(piece), npieces);
    std::int64_t sum = 0;
    for (std::int64_t i = mine.first; i < mine.last; ++i) sum += counts[i];
    before[std::size_t(piece) + 1] = sum;
  });
  for (int piece = 1; piece < npieces; ++piece) before[std::size_t(piece)] += before[std::size_t(piece) - 1];
  for_each_in_turn(on, npieces, [&](std::int64_t piece, int) { scan_piece(int(piece), before[std::size_t(piece)]); });
}

template void exclusive_scan(const OpenMP&, HostSpan<const std::int32_t>, HostSpan<std::int32_t>);
template void exclusive_scan(const OpenMP&, HostSpan<const std::int32_t>, HostSpan<std::int64_t>);

}  // namespace seidel::primitives_detail
