// How columns are cut into buckets of neighbours: all of them equally wide, or each with its share of the entries.
#pragma once
#include <bit>

#include <seidel/formats/convert/cuda_part.cuh>
#include <seidel/formats/runtime/cuda_primitives.cuh>

namespace seidel::convert_detail {

using namespace seidel::cuda;

inline constexpr unsigned is_alone = 1u << 15;  // beside the number of a bucket: it has one column, and needs no sort

/// Columns are counted from the first of a part. All but `nbuckets`, `bits` and `width` are null where buckets are equal.
struct Cut {
  int nbuckets = 0;
  int bits = 0;     // the low bits of a column tell it from the others in its bucket
  Index width = 0;  // of an equal bucket: b holds columns b * width ... (b + 1) * width - 1
  std::uint32_t inverse = 0;
  int unit_bits = 0;  // ranges of 2^unit_bits columns stay together
  const std::uint16_t* bucket_of_unit = nullptr;
  const Index* firsts = nullptr;  // the first column of each bucket, then the end of the last
  const int* found = nullptr;     // buckets, known to the device first; it may be more than there is room for

  static Cut equal(Index ncols, std::int64_t nbuckets) {
    Cut cut{.width = std::max(Index((ncols + nbuckets - 1) / nbuckets), Index(2))};
    cut.bits = int(std::bit_width(std::uint32_t(cut.width - 1)));
    cut.nbuckets = int((ncols + std::int64_t(cut.width) - 1) / cut.width);
    cut.inverse = std::uint32_t(((std::uint64_t(1) << (31 + cut.bits)) + std::uint64_t(cut.width) - 1) /
                                std::uint64_t(cut.width));
    return cut;
  }
  /// Division exact for all columns: Granlund, Montgomery, Division by invariant integers using multiplication, PLDI 1994.
  __device__ unsigned equal_bucket_of(Index column) const { return __umulhi(unsigned(column), inverse) >> (bits - 1); }
  __device__ unsigned fitted_bucket_of(Index column) const { return bucket_of_unit[column >> unit_bits]; }
  /// They ascend with the columns of a bucket.
  __device__ unsigned low_bits(unsigned column, unsigned bucket) const {
    return firsts ? column & ((1u << bits) - 1) : column - bucket * unsigned(width);
  }
  __device__ Index first_of(int bucket) const { return firsts ? __ldg(firsts + bucket) : bucket * width; }
  __device__ Index width_of(int bucket, Index ncols) const {
    return firsts ? __ldg(firsts + bucket + 1) - __ldg(firsts + bucket) : min(width, ncols - bucket * width);
  }
  __device__ bool alone(int bucket) const { return firsts && firsts[bucket + 1] - firsts[bucket] == 1; }
};

__device__ inline void add(std::int32_t* counter, int n) { atomicAdd(counter, n); }
__device__ inline void add(std::int64_t* counter, int n) {
  atomicAdd(reinterpret_cast<unsigned long long*>(counter), (unsigned long long)(std::int64_t(n)));
}

/// What a cut to fit is asked for.
struct Fit {
  double share;  // entries of a bucket; one with a half more has one column, as far as entries were counted
  int bits;      // a bucket lies within columns with the same higher bits
  int max_buckets;
  std::int64_t step;  // one entry of `step` is counted
};

/// Entries of columns are counted, and added up; a bucket begins where another share is full, and before and after a unit
/// with half a share. Counts, and then the buckets of units, lie in of.to_ptr.
template <class Value, class Offset>
Cut cut_to_fit(const Cuda& on, Room& room, const Part<Value, Offset>& of, const Fit& fit) {
  constexpr std::int64_t many_columns = 1 << 21;  // more columns than these and than entries are not told apart
  Cut cut{.bits = fit.bits};
  const Index ncols = of.ncols;
  while (ncols >> cut.unit_bits > std::max(of.nnz, many_columns)) ++cut.unit_bits;
  const std::int64_t nunits = ((std::int64_t(ncols) - 1) >> cut.unit_bits) + 1, n = of.nnz / fit.step;
  const double shares = double(of.nnz) / double(n) / fit.share;  // per entry counted
  Index* const firsts = room.take<Index>(fit.max_buckets + 1);
  int* const found = room.take<int>(1);
  Room own(on, room.of);
  std::int32_t* const begins = own.take<std::int32_t>(nunits + 1);
  Offset* const counts = of.to_ptr;
  cuda_check(cudaMemsetAsync(counts, 0, sizeof(Offset) * std::size_t(nunits), on.stream()), "clearing counts");
  for_each(on, n, "counting entries of columns",
           [=, col_idx = of.col_idx, first_column = of.first_column, step = unsigned(fit.step),
            unit_bits = cut.unit_bits] __device__(std::int64_t i) {
             const std::int64_t k = i * step + (unsigned(i) * 2654435761u >> 8) % step;
             add(counts + ((col_idx[k] - first_column) >> unit_bits), 1);
           });
  exclusive_sum(on, Span<Offset, Device>(counts, nunits));
  for_each(
      on, nunits + 1, "cutting columns", [=, unit_bits = cut.unit_bits, bits = fit.bits] __device__(std::int64_t u) {
        const auto before = [&](std::int64_t v) { return double(v < nunits ? std::int64_t(counts[v]) : n) * shares; };
        const auto is_full = [&](std::int64_t v) { return before(v + 1) - before(v) >= 0.5; };
        begins[u] =
            u < nunits && (u == 0 || ((u << unit_bits) & ((std::int64_t(1) << bits) - 1)) == 0 ||
                           std::int64_t(before(u)) != std::int64_t(before(u - 1)) || is_full(u) || is_full(u - 1));
      });
  exclusive_sum(on, Span<std::int32_t, Device>(begins, nunits + 1));
  const auto bucket_of_unit = reinterpret_cast<std::uint16_t*>(counts);
  for_each(on, nunits, "numbering buckets",
           [=, unit_bits = cut.unit_bits, max_buckets = fit.max_buckets] __device__(std::int64_t u) {
             const std::int64_t first = u << unit_bits, last = min((u + 1) << unit_bits, std::int64_t(ncols));
             const int bucket = begins[u + 1] - 1;
             const bool is_first = begins[u] == bucket, is_last = u + 1 == nunits || begins[u + 2] > begins[u + 1];
             if (is_first && bucket < max_buckets) firsts[bucket] = Index(first);
             if (is_last && bucket < max_buckets) firsts[bucket + 1] = Index(last);
             if (u + 1 == nunits) *found = bucket + 1;
             bucket_of_unit[u] = std::uint16_t(unsigned(min(bucket, max_buckets - 1)) |
                                               (is_first && is_last && last - first == 1 ? is_alone : 0));
           });
  cut.bucket_of_unit = bucket_of_unit;
  cut.firsts = firsts;
  cut.found = found;
  return cut;
}

}  // namespace seidel::convert_detail
