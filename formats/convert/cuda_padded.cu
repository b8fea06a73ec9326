// CSR to ELLPACK and SELL-C-sigma and back, on the device.
#include <seidel/formats/convert.hpp>

#include <seidel/formats/convert/cuda_device.cuh>

namespace seidel::convert_detail {

namespace {

constexpr int block = 256;

/// visit(place, k, at) on the device for all places for entries. A block takes a tile, so that what its rows share of a
/// cache line is read once; several take one whose rows are long.
template <class Places, class Visit>
void visit_places(const Cuda& on, const Places& P, std::int64_t longest, const char* what, const Visit& visit) {
  const std::int64_t parts = std::clamp<std::int64_t>(longest * P.height / (32 * block), 1, 1024);
  for_each(on, P.tiles() * parts * block, what, [=] __device__(std::int64_t thread) {
    const std::int64_t tile = thread / (parts * block), size = std::int64_t(P.width_of(tile)) * P.height;
    for (std::int64_t i = thread % (parts * block); i < size; i += parts * block) {
      const std::int64_t k = i / P.height;
      const int lane = int(i % P.height);
      const std::int64_t place = tile * P.height + lane;
      if (place < P.places()) visit(place, k, P.at(tile, k, lane));
    }
  });
}

/// Rows of each window of sigma by descending length, those of one length in their order.
template <class Offset>
Array<Index, Device> sorted_within_windows(const Cuda& on, DeviceSpan<const Offset> row_ptr, Index sigma,
                                           Index longest) {
  const std::int64_t nrows = row_ptr.size() - 1;
  auto pairs = sorted_numbers<Index>(
      on, nrows, (nrows + sigma - 1) / sigma, [=] __device__(Index i) { return i / sigma; }, std::int64_t(longest) + 1,
      [=] __device__(std::int64_t i) { return longest - Index(row_ptr[i + 1] - row_ptr[i]); });
  pairs.payload[0].truncate(nrows);
  return std::move(pairs.payload[0]);
}

/// The places that slices take.
void measure_slices(const Cuda& on, const Index* length, std::int64_t C, DeviceSpan<std::int64_t> places) {
  for_each(on, places.size(), "measuring slices", [=] __device__(std::int64_t s) { places[s] = 0; });
  for_each(on, (places.size() - 1) * C, "measuring slices", [=] __device__(std::int64_t p) {
    atomicMax(reinterpret_cast<unsigned long long*>(&places[p / C]), (unsigned long long)(C * length[p]));
  });
}

}  // namespace

}  // namespace seidel::convert_detail

#include <seidel/formats/convert/instances.hpp>
#include <seidel/formats/convert/padded.hpp>

namespace seidel {

template void convert_detail::instances_of_padded(const Cuda&);

}  // namespace seidel
