// What conversions on the device share.
#pragma once
#include <seidel/formats/runtime/cuda_primitives.cuh>

namespace seidel::convert_detail {

using namespace seidel::cuda;

/// Waits.
template <class Offset>
Index longest_row(const Cuda& on, DeviceSpan<const Offset> row_ptr) {
  const std::int64_t nrows = row_ptr.size() - 1, parts = std::min<std::int64_t>(nrows, 1 << 15);
  const auto longest = one_of<Index>(on, 0);
  for_each(on, parts, "measuring rows", [=, p = const_cast<Index*>(longest.data())] __device__(std::int64_t part) {
    Index mine = 0;
    for (std::int64_t i = part; i < nrows; i += parts) {
      const Index length = Index(row_ptr[i + 1] - row_ptr[i]);
      if (length > mine) mine = length;
    }
    if (mine > 0) atomicMax(p, mine);
  });
  return value_of(on, longest.data());
}

/// The numbers 0 ... n-1 in payload[0], by major(k), equal ones by minor(k), and those in their order; in key[0] the major keys.
/// Keys are below major_end and minor_end. All arrays have room for one more.
template <class Number, class Major, class Minor>
Pairs<Number> sorted_numbers(const Cuda& on, std::int64_t n, std::int64_t major_end, const Major& major,
                             std::int64_t minor_end, const Minor& minor) {
  Pairs<Number> pairs(on, n + 1);
  for_each(on, n, "making sort keys",
           [=, key = pairs.key[0].data(), number = pairs.payload[0].data()] __device__(std::int64_t k) {
             key[k] = minor(k);
             number[k] = Number(k);
           });
  sort_pairs(on, pairs, n, minor_end);
  for_each(on, n, "making sort keys",
           [=, key = pairs.key[0].data(), number = pairs.payload[0].data()] __device__(std::int64_t p) {
             key[p] = major(number[p]);
           });
  sort_pairs(on, pairs, n, major_end);
  return pairs;
}

/// The row of each entry: starts marked, then the largest so far.
template <class Offset>
void rows_of_entries(const Cuda& on, DeviceSpan<const Offset> row_ptr, DeviceSpan<Index> row_of) {
  for_each(on, row_of.size(), "clearing rows of entries", [=] __device__(std::int64_t k) { row_of[k] = 0; });
  for_each(on, row_ptr.size() - 1, "marking rows", [=] __device__(std::int64_t i) {
    if (row_ptr[i] < row_ptr[i + 1]) row_of[row_ptr[i]] = Index(i);
  });
  inclusive_max(on, row_of);
}

}  // namespace seidel::convert_detail
