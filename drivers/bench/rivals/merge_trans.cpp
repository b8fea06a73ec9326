// MergeTrans: the entries of equal blocks are sorted by column, then neighbouring blocks are merged until one is left.
//
// Source  Wang, Liu, Hou, Feng, Parallel transposition of sparse data structures, ICS 2016, sec. 4.2.
#include <seidel/drivers/bench/rivals/transposition.hpp>
#include <seidel/kernels/primitives/segments.hpp>
#include <seidel/kernels/transpose/transpose.hpp>

namespace seidel::drivers {

namespace {

constexpr std::int64_t block = 128;  // best of the study's measurements

template <class B>
struct Kept {
  Array<Index, SpaceOf<B>> rows, columns[2], places[2];
};

template <class B, MergeBy by>
void merge_trans(Transposition<B, Kept<B>>& o) {
  using Space = SpaceOf<B>;
  Kept<B>& k = o.kept;
  pointers_to_indices(o.on, o.A.row_ptr, k.rows.span());
  transpose_detail::number(o.on, k.places[0].span());
  transpose_detail::gather(o.on, std::as_const(k.places[0]).span(), o.A.col_idx, k.columns[0].span());
  KeyedNumbers<Space> from{k.columns[0].span(), k.places[0].span()}, to{k.columns[1].span(), k.places[1].span()};
  sort_segments(o.on, block, from);
  for (std::int64_t sorted = block; sorted < o.A.nnz(); sorted *= 2) {
    merge_segments(o.on, by, sorted, from, to);
    std::swap(from, to);
  }
  indices_to_pointers(o.on, Span<const Index, Space>(from.keys), o.T.row_ptr.span());
  const Span<const Index, Space> places(from.numbers), rows(k.rows.span());
  transpose_detail::gather(o.on, places, rows, o.T.col_idx.span());
  transpose_detail::gather(o.on, places, o.A.values, o.T.values.span());
}

template <class B, MergeBy by>
Prepared prepare(const TransposeTask& task, const Where& where) {
  const auto o = std::make_shared<Transposition<B, Kept<B>>>(task, where);
  const std::int64_t n = o->A.nnz();
  Kept<B>& k = o->kept;
  for (auto* array : {&k.rows, &k.columns[0], &k.columns[1], &k.places[0], &k.places[1]})
    *array = Array<Index, SpaceOf<B>>(o->on, n);
  return prepared(o, 20 * n, merge_trans<B, by>);
}

}  // namespace

std::vector<Rival> merge_trans_rivals() {
  std::vector<Rival> all;
  for_each_back_end([&]<class B>(BackendName on, const B*) {
    if (on != BackendName::serial) {
      all.push_back({&kernels::transpose, "csr", on, "mergetrans", Role::exact,
                     "MergeTrans, merges divided by splitters", prepare<B, MergeBy::splitters>});
      all.push_back({&kernels::transpose, "csr", on, "mergetrans-path", Role::exact,
                     "MergeTrans, merges divided by Merge Path", prepare<B, MergeBy::path>});
    }
  });
  return all;
}

}  // namespace seidel::drivers
