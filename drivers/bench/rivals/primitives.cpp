// Scans, segments, pointers and indices: seidel's, and the standard library's.
#include <numeric>
#include <variant>

#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/kernels/primitives/scan.hpp>
#include <seidel/kernels/primitives/segments.hpp>

namespace seidel::drivers {

namespace {

template <class B, class Run>
Prepared scanned(const ScanTask& task, const Where& where, Run run) {
  using On = Operands<B, std::monostate, std::int32_t, std::int64_t>;
  return prepared(std::make_shared<On>(task.counts, where, task.counts.size(), std::monostate{}), 0, 0, run);
}

template <class B>
Prepared ours(const ScanTask& task, const Where& where) {
  return scanned<B>(task, where, [](auto& o) { exclusive_scan(o.on, std::as_const(o.x).span(), o.y.span()); });
}

Prepared standard(const ScanTask& task, const Where& where) {
  return scanned<OpenMP>(task, where,
                         [](auto& o) { std::exclusive_scan(o.x.begin(), o.x.end(), o.y.begin(), std::int64_t(0)); });
}

template <class B>
using On = Operands<B, std::int64_t, Index, Index>;  // kept: the length of segments

template <class B, class Run>
Prepared on_pairs(const SegmentsTask& task, const Where& where, Run run) {
  return prepared(std::make_shared<On<B>>(task.pairs, where, task.pairs.size(), task.length), 0, 0, run);
}

template <class Space>
KeyedNumbers<Space> halves(Array<Index, Space>& pairs) {
  const std::int64_t n = pairs.size() / 2;
  return {pairs.span().subspan(0, n), pairs.span().subspan(n, n)};
}

template <class B>
Prepared sorted(const SegmentsTask& task, const Where& where) {
  return on_pairs<B>(task, where, [](On<B>& o) {
    using Space = SpaceOf<B>;
    copy_bytes(o.on, Space{}, o.y.data(), Space{}, o.x.data(), o.x.size() * std::int64_t(sizeof(Index)));
    sort_segments(o.on, o.kept, halves(o.y));
  });
}

template <class B, MergeBy by>
Prepared merged(const SegmentsTask& task, const Where& where) {
  return on_pairs<B>(task, where, [](On<B>& o) { merge_segments(o.on, by, o.kept, halves(o.x), halves(o.y)); });
}

template <class B, auto convert>
Prepared converted(const PointersTask& task, const Where& where) {
  return prepared(std::make_shared<On<B>>(task.given, where, task.expected.size(), 0), 0, 0,
                  [](On<B>& o) { convert(o.on, std::as_const(o.x).span(), o.y.span()); });
}

}  // namespace

std::vector<Rival> primitives_rivals() {
  std::vector<Rival> all;
  add_ours(
      all, kernels::scan, "array", "each thread a part; several read the counts twice",
      []<class B>(const B*) { return ours<B>; }, "decoupled look-back");
  all.push_back({&kernels::scan, "array", BackendName::serial, "std", Role::baseline, "std::exclusive_scan", standard});
  add_ours(
      all, kernels::sort_segments, "array", "std::sort by key and place", []<class B>(const B*) { return sorted<B>; },
      "ranks counted in shared memory");
  for_each_back_end([&]<class B>(BackendName on, const B*) {
    all.push_back({&kernels::merge_segments, "array", on, "", Role::exact, "equal parts, cut by Merge Path",
                   merged<B, MergeBy::path>});
    if (on != BackendName::serial)
      all.push_back({&kernels::merge_segments, "array", on, "splitters", Role::exact, "parts between splitters",
                     merged<B, MergeBy::splitters>});
  });
  add_ours(all, kernels::pointers_to_indices, "array", "each row fills its entries",
           []<class B>(const B*) { return converted<B, [](const auto&... all) { pointers_to_indices(all...); }>; });
  add_ours(all, kernels::indices_to_pointers, "array", "entries counted, then scanned",
           []<class B>(const B*) { return converted<B, [](const auto&... all) { indices_to_pointers(all...); }>; });
  return all;
}

}  // namespace seidel::drivers
