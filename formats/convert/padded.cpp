// CSR to ELLPACK and SELL-C-sigma and back, in host memory; and what the formats take.
#include <numeric>

#include <seidel/formats/convert/sort_rows.hpp>

namespace seidel::convert_detail {

namespace {

void for_each(const OpenMP& on, std::int64_t n, const char*, const auto& body) { for_each_index(on, n, 1, body); }

template <class T>
void exclusive_sum(const OpenMP&, HostSpan<T> values) {
  std::exclusive_scan(values.begin(), values.end(), values.begin(), T(0));
}

std::int64_t value_of(const OpenMP&, const std::int64_t* p) { return *p; }

/// visit(place, k, at) for all places for entries, those of a tile together, which a cache holds.
template <class Places, class Visit>
void visit_places(const OpenMP& on, const Places& P, std::int64_t longest, const char*, const Visit& visit) {
  const bool few = P.places() * (longest + 1) < 2 * worth_per_thread;
  const int npieces = few ? 1 : 8 * on.threads;
  for_each_in_turn(on, npieces, [&](std::int64_t piece, int) {
    const Range mine = even_share(P.tiles(), int(piece), npieces);
    with_avx2([&] {
      for (std::int64_t tile = mine.first; tile < mine.last; ++tile) {
        const std::int64_t begin = tile * P.height, end = std::min(P.places(), begin + P.height);
        for (std::int64_t k = 0, width = P.width_of(tile); k < width; ++k)
          for (std::int64_t place = begin, at = P.at(tile, k, 0); place < end; ++place, ++at) visit(place, k, at);
      }
    });
  });
}

/// Rows of each window of sigma by descending length, those of one length in their order.
template <class Offset>
Array<Index> sorted_within_windows(const OpenMP& on, HostSpan<const Offset> row_ptr, Index sigma, Index) {
  const std::int64_t nrows = row_ptr.size() - 1, nwindows = (nrows + sigma - 1) / sigma;
  const OpenMP few{int(std::min<std::int64_t>(on.threads, nwindows))};
  Array<Index> negative_length(nrows), row_at(nrows);
  RowSorter<Index> sort(few.threads);
  for_shares(few, nwindows, sigma, [&](std::int64_t first, std::int64_t last, int thread) {
    for (std::int64_t window = first; window < last; ++window) {
      const std::int64_t begin = window * sigma, end = std::min(nrows, begin + sigma);
      for (std::int64_t i = begin; i < end; ++i) {
        negative_length[i] = -Index(row_ptr[i + 1] - row_ptr[i]);
        row_at[i] = Index(i);
      }
      sort(negative_length.data() + begin, row_at.data() + begin, end - begin, thread);
    }
  });
  return row_at;
}

/// The places that slices take.
void measure_slices(const OpenMP& on, const Index* length, std::int64_t C, HostSpan<std::int64_t> places) {
  for_each_index(on, places.size() - 1, C,
                 [&](std::int64_t s) { places[s] = C * *std::max_element(length + s * C, length + (s + 1) * C); });
  places.back() = 0;
}

}  // namespace

}  // namespace seidel::convert_detail

#include <seidel/formats/convert/instances.hpp>
#include <seidel/formats/convert/padded.hpp>

namespace seidel {

std::int64_t ell_bytes(std::int64_t nrows, std::int64_t width, int bytes_per_value) {
  const std::int64_t a_row = saturating_product(width, std::int64_t(sizeof(Index)) + bytes_per_value);
  return saturating_product(nrows, saturating_sum(a_row, sizeof(Index)));
}

std::int64_t sell_bytes(std::int64_t nrows, std::int64_t places, Index slice_height, Index sigma, int bytes_per_value) {
  const std::int64_t nslices = (nrows + slice_height - 1) / slice_height;
  const std::int64_t rows = (nslices + 1) * std::int64_t(sizeof(std::int64_t)) +
                            (nslices * slice_height + (sigma > 1 ? nrows : 0)) * std::int64_t(sizeof(Index));
  return saturating_sum(rows, saturating_product(places, std::int64_t(sizeof(Index)) + bytes_per_value));
}

template void convert_detail::instances_of_padded(const OpenMP&);

}  // namespace seidel
