// First a stable distribution of all entries to buckets of neighbouring columns. Then a block per bucket sorts it in shared
// memory and knows its row pointers. Between the steps entries lie in the arrays of the result where they can. Very many
// entries or columns are distributed to parts first, and each part then to buckets.
#include <seidel/formats/convert/cuda_buckets.hpp>
#include <seidel/formats/convert/cuda_sort_buckets.cuh>

#include <vector>

namespace seidel::convert_detail {

namespace {

using namespace seidel::cuda;

constexpr double share_of_bucket = 13300;  // entries; room for 21,504, for shares come from a sample
constexpr double buckets_per_share = 1.15;
constexpr std::int64_t samples = 1 << 18, max_step = 64;
constexpr int part_bits = 21;  // of columns: a part has no more, and fits the buckets of
constexpr std::int64_t max_part = 8 << 20, min_part = 1 << 17;  // Unpacked; so many entries besides

Known ask(const std::function<Known()>& known) { return known ? known() : Known{}; }

std::int64_t step_of(std::int64_t nnz) { return std::clamp(nnz / samples, std::int64_t(1), max_step); }

/// Sorts what was counted, in place; false where buckets do not fit.
template <class Shape, class Value, class Offset>
bool sort_counted(const Cuda& on, const Part<Value, Offset>& of, const Cut& cut, const Counts<std::int32_t>& counts) {
  const Between<Value> between{of.to_idx, nullptr, of.to_values};
  const auto buckets = fill<Shape>(on, of, cut, counts, max_entries<Large>, between);
  if (buckets.largest > max_entries<Large>) return false;
  sort<true>(on, of, cut, buckets, between);
  return true;
}

/// Buckets of equal width: nothing is counted before. known: as transpose_by_buckets has it. False where a bucket is too full,
/// or there are too many.
template <class Value, class Offset>
bool sort_equal(const Cuda& on, Workspace& space, const Part<Value, Offset>& of, int row_bits,
                const std::function<Known()>& known) {
  constexpr double filled = 0.96;               // of the room for a bucket, on average
  constexpr double hopeless = 1.5;              // times too many entries, by a sample, which may be wrong
  constexpr std::int64_t worth_a_block = 4096;  // entries: smaller buckets only where columns ask for them
  constexpr std::int64_t max_short = 2 << 20, max_counted_early = 12 << 20;  // entries
  const std::int64_t max_columns = std::min<std::int64_t>(max_width, std::int64_t(1) << (32 - row_bits)),
                     for_columns = (of.ncols + max_columns - 1) / max_columns;
  const auto buckets_for = [&](int entries) {
    return std::max(for_columns, std::int64_t(double(of.nnz) / (filled * entries)) + 1);
  };
  const std::int64_t many = buckets_for(max_entries<Large>),
                     wanted = std::max(buckets_for(max_entries<Small>), of.nnz / worth_a_block);
  const auto with = [&]<class Shape>(Shape) {
    const Cut cut = Cut::equal(of.ncols, std::min<std::int64_t>(wanted, Shape::max_buckets));
    const bool is_early = known && of.nnz <= max_counted_early;
    Room room(on, space);
    Known found;
    if (!is_early) found = ask(known);
    const auto is_hopeless = [&] {
      return found.crowding * double(of.nnz) / cut.nbuckets > hopeless * max_entries<Large>;
    };
    if (found.is_done) return true;
    if (!is_early && is_hopeless()) return false;
    const auto counts = count<Shape, std::int32_t>(on, room, of, cut, is_early);
    if (is_early) found = known();
    if (found.is_done) return true;
    return !is_hopeless() && sort_counted<Shape>(on, of, cut, counts);
  };
  if (wanted <= Short::max_buckets && of.nnz <= max_short) return with(Short{});
  if (many <= Few::max_buckets) return with(Few{});
  if (many <= Many::max_buckets) return with(Many{});
  return ask(known).is_done;
}

/// Buckets with their shares of entries, as a sample has them. False where one is too full, or there are too many.
template <class Value, class Offset>
bool sort_fitted(const Cuda& on, Workspace& space, const Part<Value, Offset>& of, int row_bits) {
  const int bits = std::min(max_width_bits, 32 - row_bits);
  const double likely = double(of.nnz) / share_of_bucket * buckets_per_share + double((of.ncols >> bits) + 1);
  const auto with = [&]<class Shape>(Shape) {
    Room room(on, space);
    const Cut cut = cut_to_fit(on, room, of, {share_of_bucket, bits, Shape::max_buckets, step_of(of.nnz)});
    return sort_counted<Shape>(on, of, cut, count<Shape, std::int32_t>(on, room, of, cut, true));
  };
  return likely <= Few::max_buckets      ? with(Few{})
         : likely <= Medium::max_buckets ? with(Medium{})
                                         : likely <= Many::max_buckets && with(Many{});
}

/// Rows and columns in words of their own, besides the result. False where a bucket is too full, or there are too many:
/// never with a step of 1 and less than 3 million entries in 2^part_bits columns.
template <class Value, class Offset>
bool sort_unpacked(const Cuda& on, Workspace& space, const Part<Value, Offset>& of, std::int64_t step) {
  Room room(on, space);
  const std::int64_t n = of.nnz;
  const Between<Value> between{.words = of.rows ? room.take<Index>(n) : of.to_idx,
                               .columns = room.take<Index>(n),
                               .values = !of.rows    ? of.to_values
                                         : of.values ? room.take<Value>(n)
                                                     : nullptr};
  const Cut cut = cut_to_fit(on, room, of, {share_of_bucket, max_width_bits, Unpacked::max_buckets, step});
  const auto buckets =
      fill<Unpacked>(on, of, cut, count<Unpacked, std::int32_t>(on, room, of, cut, true), max_entries<Large>, between);
  if (buckets.largest > max_entries<Large>) return false;
  sort<false>(on, of, cut, buckets, between);
  return true;
}

/// A column, or none with an entry: everything is in order.
template <class Value, class Offset>
void copy_part(const Cuda& on, const Part<Value, Offset>& of) {
  for_each(on, of.ncols + std::int64_t(1), "setting row pointers",
           [of] __device__(std::int64_t c) { of.to_ptr[c] = Offset(of.before + (c < of.ncols ? 0 : of.nnz)); });
  if (of.rows == of.to_idx) return;
  for_each(on, of.nnz, "copying entries of a column", [of] __device__(std::int64_t k) {
    of.to_idx[k] = of.rows[k];
    if (of.values) of.to_values[k] = of.values[k];
  });
}

template <class Value, class Offset>
void sort_parts(const Cuda& on, Workspace& space, const Part<Value, Offset>& of);

template <class Value, class Offset>
void sort_part(const Cuda& on, Workspace& space, const Part<Value, Offset>& of) {
  if (of.nnz == 0 || (of.rows && of.ncols == 1)) return copy_part(on, of);
  if (of.ncols <= 1 << part_bits && of.nnz <= max_part)
    for (const std::int64_t step : {step_of(of.nnz), std::int64_t(1)})
      if (sort_unpacked(on, space, of, step)) return;
  sort_parts(on, space, of);
}

/// Entries go to parts: in place if they come from A, else to scratch memory; from there each part goes to its place.
template <class Value, class Offset>
void sort_parts(const Cuda& on, Workspace& space, const Part<Value, Offset>& of) {
  constexpr double shares = 64;
  const std::int64_t n = of.nnz, largest_part = std::clamp(n / 8, min_part, max_part);
  Room room(on, space);
  const Between<Value> between{.words = of.rows ? room.take<Index>(n) : of.to_idx,
                               .columns = room.take<Index>(n),
                               .values = !of.rows    ? of.to_values
                                         : of.values ? room.take<Value>(n)
                                                     : nullptr};
  std::vector<Offset> starts;
  std::vector<Index> firsts;
  for (const std::int64_t step : {step_of(n), std::int64_t(1)}) {
    Room own(on, space);
    const Cut cut = cut_to_fit(on, own, of, {double(n) / shares, part_bits, Unpacked::max_buckets, step});
    const std::int64_t max_entries = step == 1 ? std::numeric_limits<Offset>::max() : largest_part;
    const auto buckets =
        fill<Unpacked>(on, of, cut, count<Unpacked, Offset>(on, own, of, cut, true), max_entries, between);
    if (buckets.largest > max_entries) continue;
    starts.resize(std::size_t(buckets.nbuckets) + 1);
    firsts.resize(starts.size());
    const auto fetch = [&](auto& to, const auto* from) {
      cuda_check(cudaMemcpyAsync(to.data(), from, sizeof(to[0]) * to.size(), cudaMemcpyDeviceToHost, on.stream()),
                 "a copy from the device");
    };
    fetch(starts, buckets.starts);
    fetch(firsts, cut.firsts);
    on.synchronize();
    break;
  }
  for (std::size_t b = 0, end = 0; b + 1 < starts.size(); b = end) {
    for (end = b + 1; end + 1 < starts.size() && starts[end + 1] - starts[b] <= largest_part &&
                      firsts[end + 1] - std::int64_t(firsts[b]) <= 1 << part_bits;
         ++end) {}
    const std::int64_t begin = starts[b];
    Part<Value, Offset> part = of;
    part.nnz = starts[end] - begin;
    part.first_column = of.first_column + firsts[b];
    part.ncols = firsts[end] - firsts[b];
    part.before = of.before + begin;
    part.rows = between.words + begin;
    part.col_idx = between.columns + begin;
    if (of.values) part.values = between.values + begin, part.to_values = of.to_values + begin;
    part.to_idx = of.to_idx + begin;
    part.to_ptr = of.to_ptr + firsts[b];
    sort_part(on, space, part);
  }
}

}  // namespace

template <class Value, class Offset>
std::int64_t transpose_by_buckets(const Cuda& on, const Transposing<Value, Offset>& of,
                                  const std::function<Known()>& known) {
  const int row_bits = int(std::bit_width(std::uint32_t(std::max(of.nrows, 2) - 1)));
  const Part<Value, Offset> all{of};
  Workspace space;
  if (of.nnz == 0) {
    if (!ask(known).is_done) copy_part(on, all);
  } else if (!sort_equal(on, space, all, row_bits, known) && !sort_fitted(on, space, all, row_bits)) {
    sort_part(on, space, all);
  }
  return space.max_bytes;
}

template std::int64_t transpose_by_buckets(const Cuda&, const Transposing<std::uint32_t, std::int32_t>&,
                                           const std::function<Known()>&);
template std::int64_t transpose_by_buckets(const Cuda&, const Transposing<std::uint32_t, std::int64_t>&,
                                           const std::function<Known()>&);
template std::int64_t transpose_by_buckets(const Cuda&, const Transposing<std::uint64_t, std::int32_t>&,
                                           const std::function<Known()>&);
template std::int64_t transpose_by_buckets(const Cuda&, const Transposing<std::uint64_t, std::int64_t>&,
                                           const std::function<Known()>&);

}  // namespace seidel::convert_detail
