// Transposition on the host, and copies with other row pointers.
#include <algorithm>
#include <functional>
#include <optional>

#include <seidel/formats/convert.hpp>
#include <seidel/formats/convert/group.hpp>
#include <seidel/formats/convert/instances.hpp>
#include <seidel/formats/convert/mirror_kinds.hpp>

namespace seidel {

using namespace convert_detail;

namespace {

/// What a share of the rows meets: for each column c of them the first entry of row c that has not been taken.
template <class Offset>
struct Cursors {
  Range columns;
  Offset* place;           // of row c: place[c]
  std::int64_t asked = 0;  // for memory, up to this entry
};

/// The columns that rows meet, if their columns ascend.
template <class Offset>
Range columns_met(const Structure<Offset>& A, Range rows) {
  Index least = A.ncols, most = -1;
  for (std::int64_t r = rows.first; r < rows.last; ++r)
    if (const Offset begin = A.row_ptr[r], end = A.row_ptr[r + 1]; begin < end)
      least = std::min(least, A.col_idx[begin]), most = std::max(most, A.col_idx[end - 1]);
  return {std::min(least, most + 1), most + std::int64_t(1)};
}

/// The place of entry (c, r) in row c of A, from place `at` on, or the number of entries.
template <class Offset>
[[gnu::noinline, gnu::cold]] std::int64_t place_of(const Structure<Offset>& A, Index c, Index r, std::int64_t at) {
  const Index* const columns = A.col_idx.data();
  const std::int64_t last = A.row_ptr[c + std::int64_t(1)];
  if (at < last) at = std::lower_bound(columns + at, columns + last, r) - columns;
  return at < last && columns[at] == r ? at : A.col_idx.size();
}

/// Asks for the memory of what the last columns of `rows` lead to, and some entries beyond it: rows that no earlier ones
/// have led to. Up to `asked` that has been done, unless these rows lead elsewhere.
template <class Real, class Offset>
void ask_ahead(const CsrView<Real, Offset, Host>& A, Range rows, std::int64_t& asked) {
  constexpr std::int64_t entries_ahead = 256, in_line = 64 / sizeof(Index);
  const std::int64_t begin = A.row_ptr[rows.first], end = A.row_ptr[rows.last];
  if (begin == end) return;
  const std::int64_t last = A.row_ptr[A.col_idx[end - 1] + std::int64_t(1)] + entries_ahead;
  if (asked < last - 4 * (end - begin) || asked > last + in_line) asked = last - (end - begin);
  for (; asked < last; asked += in_line) {
    __builtin_prefetch(A.col_idx.data() + asked);
    if (!A.values.empty())
      for (std::int64_t k = 0; k < in_line; k += 64 / sizeof(Real)) __builtin_prefetch(A.values.data() + asked + k);
  }
}

/// Rows `rows` of A', if A has an entry (c, r) for each (r, c) of them and their columns ascend. Rows r ascend, so the
/// entries of row c are met one after the other, and nothing is searched for but the first of a share.
///
/// No processor foresees which entries are next. Rows that the last column of a row leads to are new, and asked for well
/// ahead; row c is walked a little at each visit, and asked for one line ahead of it.
template <class Real, class Offset>
bool mirror_rows(const CsrView<Real, Offset, Host>& A, Range rows, const Cursors<Offset>& cursors,
                 const Grouped<Real, Offset>& to) {
  constexpr std::int64_t columns_in_line = 64 / sizeof(Index), values_in_line = 64 / sizeof(Real);
  const Index* const columns = A.col_idx.data();
  const Real* const values = A.values.data();
  const Offset* const row_ptr = A.row_ptr.data();
  Index* const others = to.others;
  Real* const images = to.values;
  Offset* const place = cursors.place;
  const auto nnz = std::make_unsigned_t<Offset>(A.col_idx.size());
  for (auto r = Index(rows.first); r < rows.last; ++r) {
    const std::int64_t begin = row_ptr[r], end = row_ptr[r + std::int64_t(1)];
    const Index most = begin < end ? columns[end - 1] : -1;  // no cursor of the share is set beyond the last one
    Index before = -1;
    for (std::int64_t k = begin; k < end; ++k) {
      const Index c = columns[k];
      if (c <= before || c > most) return false;
      before = c;
      auto at = std::make_unsigned_t<Offset>(place[c]);
      if (at >= nnz || columns[at] != r) [[unlikely]] {
        at = place_of(structure_of(A), c, r, at);
        if (at == nnz) return false;
      }
      place[c] = Offset(at + 1);
      others[k] = c;
      __builtin_prefetch(columns + at + columns_in_line);
      if (values) {
        images[k] = values[at];
        __builtin_prefetch(values + at + values_in_line);
      }
    }
  }
  return true;
}

/// Whether none has gone on into the next row: then distinct entries have distinct images.
template <class Offset>
bool are_within_rows(const Structure<Offset>& A, const Cursors<Offset>& cursors) {
  const auto [first, last] = cursors.columns;
  return std::equal(cursors.place + first, cursors.place + last, A.row_ptr.begin() + first + 1, std::less_equal<>());
}

template <class Offset>
bool has_entry(const Structure<Offset>& A, Index row, Index col) {
  return std::binary_search(A.col_idx.begin() + A.row_ptr[row], A.col_idx.begin() + A.row_ptr[row + 1], col);
}

/// Some rows of A, spread over it, and on lattices over the lines: whether they are mirrored, how far their entries are
/// apart, and how many are like the row below.
struct Sample {
  bool is_mirrored = true;
  std::int64_t mean_span = 0;  // columns from the first entry to the last
  bool are_alike = false;      // most of them
};
template <class Offset>
Sample sample_of(const Structure<Offset>& A) {
  constexpr std::int64_t nsamples = 64, anywhere = 40503;
  const std::int64_t step = std::max<std::int64_t>(A.nrows / nsamples, 1);
  Sample sample{.is_mirrored = A.nrows == A.ncols};
  std::int64_t nrows = 0, alike = 0;
  for (std::int64_t first = 0; first + step <= A.nrows; first += step) {
    const std::int64_t r = first + first / step * anywhere % step, begin = A.row_ptr[r], end = A.row_ptr[r + 1];
    if (begin == end) continue;
    ++nrows;
    sample.mean_span += std::int64_t(A.col_idx[end - 1]) - A.col_idx[begin];
    const std::int64_t k = begin + nrows % (end - begin);  // one of each row: a search in cold memory takes long
    sample.is_mirrored = sample.is_mirrored && has_entry(A, A.col_idx[k], Index(r));
    alike += r + 1 < A.nrows && A.row_ptr[r + 2] - end == end - begin && A.col_idx[end] - A.col_idx[begin] == 1 &&
             A.col_idx[end + (end - begin) - 1] - A.col_idx[end - 1] == 1;
  }
  sample.mean_span /= std::max<std::int64_t>(nrows, 1);
  sample.are_alike = 2 * alike > nrows;
  return sample;
}

/// A' where the pattern of A is symmetric: no sort, each value is fetched from its mirrored place. None, with anything in
/// the result, where it is not, or where columns do not ascend; else the bytes taken besides.
template <class Real, class Offset>
std::optional<std::int64_t> mirror(const OpenMP& on, const CsrView<Real, Offset, Host>& A,
                                   const Grouped<Real, Offset>& to) {
  const int nshares = A.col_idx.size() < 2 * worth_per_thread ? 1 : std::max(1, on.threads);
  std::atomic<bool> all = true;
  std::int64_t cursors = 0;
  to.ptr[0] = 0;
  const auto mirror_share = [&](Range rows, Cursors<Offset> cursors) {
    constexpr std::int64_t some = 4096;         // rows between looks at the other threads
    constexpr std::int64_t asked_together = 2;  // they may be short
    for (std::int64_t first = rows.first; first < rows.last && all.load(std::memory_order_relaxed); first += some)
      for (std::int64_t r = first, last = std::min(first + some, rows.last); r < last; r += asked_together) {
        const Range next{r, std::min(r + asked_together, last)};
        ask_ahead(A, next, cursors.asked);
        if (!mirror_rows(A, next, cursors, to)) {
          all = false;
          return;
        }
      }
    if (!are_within_rows(structure_of(A), cursors)) all = false;
  };
  if (nshares == 1) {  // cursors end where the rows do, which is what they leave in the result
    std::copy_n(A.row_ptr.data(), A.nrows, to.ptr + 1);
    mirror_share({0, A.nrows}, {{0, A.nrows}, to.ptr + 1});
  } else {
    std::vector<Range> met(std::size_t(nshares), Range{0, 0});
    for_each_in_turn(on, nshares, [&](std::int64_t share, int) {
      met[std::size_t(share)] = columns_met(structure_of(A), share_by_nonzeros(A.row_ptr, int(share), nshares));
    });
    for (const Range& columns : met) cursors += columns.last - columns.first;
    if (!are_few(cursors, A.ncols, A.col_idx.size(), nshares)) return std::nullopt;
    for_each_in_turn(on, nshares, [&](std::int64_t share, int) {
      const Range rows = share_by_nonzeros(A.row_ptr, int(share), nshares), columns = met[std::size_t(share)];
      Array<Offset> place(A.ncols);  // memory is taken where it is touched
      std::copy(A.row_ptr.begin() + columns.first, A.row_ptr.begin() + columns.last, place.begin() + columns.first);
      mirror_share(rows, {columns, place.data()});
      std::copy(A.row_ptr.begin() + rows.first, A.row_ptr.begin() + rows.last, to.ptr + rows.first);
    });
    to.ptr[A.nrows] = Offset(A.col_idx.size());
  }
  return all ? std::optional(cursors * std::int64_t(sizeof(Offset))) : std::nullopt;
}

template <class Real, class Offset>
TransposeReport transpose_to(const OpenMP& on, const CsrView<Real, Offset, Host>& A, const Grouped<Real, Offset>& to) {
  constexpr std::int64_t worth_kinds =
      1 << 17;  // entries; tables of kinds take as long as transposing some ten thousand
  constexpr std::int64_t near_columns = 32768;  // two lines for each: some megabytes, of which the next rows use most
  const Sample sample = sample_of(structure_of(A));
  const Spread spread = sample.mean_span <= near_columns ? Spread::near : Spread::far;
  if (sample.is_mirrored && sample.are_alike && A.col_idx.size() >= worth_kinds)
    if (const auto bytes = mirror_by_kinds(on, A, to)) return {.is_mirrored = true, .workspace_bytes = *bytes};
  if (sample.is_mirrored && spread == Spread::near)  // far images lie in memory, and are fetched one by one
    if (const auto bytes = mirror(on, A, to)) return {.is_mirrored = true, .workspace_bytes = *bytes};
  return {.workspace_bytes = group(on, ByColumn<Real, Offset>(A), spread, to)};
}

}  // namespace

std::int64_t max_transpose_workspace(std::int64_t nrows, std::int64_t ncols, std::int64_t nnz) {
  const std::int64_t counters = 16 * std::min(ncols, nnz);  // are_few()
  return ncols > 0 && needs_wide_words(Buckets(nnz, ncols), nrows) ? std::max(8 * nnz, counters) : counters;
}

template <class Real, class Offset>
void transpose(const OpenMP& on, const CsrView<Real, Offset, Host>& A, Csr<Real, Offset>& T, TransposeReport* report) {
  require_transposed(A, T);
  const auto how =
      transpose_to(on, A, Grouped<Real, Offset>{A.ncols, T.row_ptr.data(), T.col_idx.data(), T.values.data()});
  if (report) *report = how;
}

template <class From, class To>
void convert_detail::copy_offsets(const OpenMP& on, HostSpan<const From> from, HostSpan<To> to) {
  for_each_index(on, from.size(), 1, [&](std::int64_t i) { to[i] = To(from[i]); });
}

template void convert_detail::instances_of_transpose(const OpenMP&);

}  // namespace seidel
