// Matrices that a process makes of rows that it has, on every back end: chosen ones, ranges, what lies between two columns.
#pragma once
#include <utility>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/search.hpp>
#include <seidel/kernels/aggregation/rows.hpp>

namespace seidel {

namespace distributed_detail {

/// Calls of(k) for k = 0 ... n - 1, in any order. Instantiated for what this folder does (instances.hpp). Does not wait.
template <class Of>
[[gnu::used]] void for_each_of(const OpenMP& on, std::int64_t n, const Of& of);
template <class Of>
[[gnu::used]] void for_each_of(const Cuda& on, std::int64_t n, const Of& of);

template <class Offset_, class Space>
struct StoredRows {
  using Offset = Offset_;
  CsrView<double, Offset, Space> A;

  SEIDEL_HD Index length_of(Index i) const { return Index(A.row_ptr[i + 1] - A.row_ptr[i]); }
  SEIDEL_HD void copy_row(Index i, Index* columns, double* values) const {
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) *columns++ = A.col_idx[k], *values++ = A.values[k];
  }
};

template <class Rows, class Space>
struct CountEntries {
  Rows rows;
  Index nrows;
  Span<std::int32_t, Space> counts;
  SEIDEL_HD void operator()(std::int64_t i) const { counts[i] = i < nrows ? rows.length(Index(i)) : 0; }
};
template <class Rows, class Space>
struct FillRows {
  Rows rows;
  Span<const typename Rows::Offset, Space> row_ptr;
  Span<Index, Space> col_idx;
  Span<double, Space> values;
  SEIDEL_HD void operator()(std::int64_t i) const {
    rows.fill(Index(i), col_idx.data() + row_ptr[i], values.data() + row_ptr[i]);
  }
};

template <class Space>
struct MoveColumn {
  Index by;
  Span<Index, Space> columns;
  SEIDEL_HD void operator()(std::int64_t k) const { columns[k] += columns[k] < 0 ? 0 : by; }
};

}  // namespace distributed_detail

// Rows to be made: row i has length(i) entries, which fill(i, columns, values) writes.

/// Row which[i] of A.
template <class Offset, class Space>
struct ChosenRows : distributed_detail::StoredRows<Offset, Space> {
  Span<const Index, Space> which;
  SEIDEL_HD Index length(Index i) const { return this->length_of(which[i]); }
  SEIDEL_HD void fill(Index i, Index* columns, double* values) const { this->copy_row(which[i], columns, values); }
};

/// Rows of up to three matrices, one range after the other.
template <class Offset_, class Space>
struct RowRanges {
  using Offset = Offset_;
  struct Range {
    CsrView<double, Offset, Space> A = {};
    std::int64_t first = 0, count = 0;
  };
  Range ranges[3];

  SEIDEL_HD Index length(Index i) const {
    const Range& of = range_of(i);
    return distributed_detail::StoredRows<Offset, Space>{of.A}.length_of(i);
  }
  SEIDEL_HD void fill(Index i, Index* columns, double* values) const {
    const Range& of = range_of(i);
    distributed_detail::StoredRows<Offset, Space>{of.A}.copy_row(i, columns, values);
  }

 private:
  /// Of row i, which becomes its number in the matrix of that range.
  SEIDEL_HD const Range& range_of(Index& i) const {
    const Range* at = ranges;
    while (i >= at->count) i -= Index(at++->count);
    i += Index(at->first);
    return *at;
  }
};

/// Row first + i of A; but in place of those that `which` lists, ascending, the rows of `others`.
template <class Offset, class Space>
struct ReplacedRows : distributed_detail::StoredRows<Offset, Space> {
  Index first;
  Span<const Index, Space> which;
  distributed_detail::StoredRows<Offset, Space> others;

  SEIDEL_HD Index length(Index i) const {
    const Index other = other_of(i);
    return other < 0 ? this->length_of(first + i) : others.length_of(other);
  }
  SEIDEL_HD void fill(Index i, Index* columns, double* values) const {
    const Index other = other_of(i);
    other < 0 ? this->copy_row(first + i, columns, values) : others.copy_row(other, columns, values);
  }

 private:
  SEIDEL_HD Index other_of(Index i) const {
    const std::int64_t at = count_below(which.data(), which.size(), i);
    return at < which.size() && which[at] == i ? Index(at) : -1;
  }
};

/// The entries of row i of A in `count` columns from first + step * i on, numbered from `first`; or those in others, as they are.
template <class Offset, class Space>
struct ColumnsOf : distributed_detail::StoredRows<Offset, Space> {
  Index first, count;
  bool inside;
  Index step = 0;

  SEIDEL_HD Index length(Index i) const {
    Index n = 0;
    for (Offset k = this->A.row_ptr[i]; k < this->A.row_ptr[i + 1]; ++k) n += has(i, this->A.col_idx[k]);
    return n;
  }
  SEIDEL_HD void fill(Index i, Index* columns, double* values) const {
    for (Offset k = this->A.row_ptr[i]; k < this->A.row_ptr[i + 1]; ++k)
      if (const Index c = this->A.col_idx[k]; has(i, c))
        *columns++ = inside ? c - first : c, *values++ = this->A.values[k];
  }

 private:
  SEIDEL_HD bool has(Index i, Index c) const {
    const Index from = first + step * i;
    return (c >= from && c < from + count) == inside;
  }
};

/// Row i - before of A, where there is one, else a 1 in column i.
template <class Offset, class Space>
struct WithUnitRows : distributed_detail::StoredRows<Offset, Space> {
  Index before;

  SEIDEL_HD Index length(Index i) const { return is_own(i) ? this->length_of(i - before) : 1; }
  SEIDEL_HD void fill(Index i, Index* columns, double* values) const {
    if (is_own(i))
      this->copy_row(i - before, columns, values);
    else
      *columns = i, *values = 1;
  }

 private:
  SEIDEL_HD bool is_own(Index i) const { return i >= before && i < before + this->A.nrows; }
};

/// The matrix of such rows. Cost  calls length() and fill() once per row, one thread at a time. A GPU is waited for once.
template <Backend B, class Rows>
auto made_of_rows(const B& on, std::int64_t nrows, std::int64_t ncols, const Rows& rows) {
  using namespace distributed_detail;
  using Space = SpaceOf<B>;
  using Offset = typename Rows::Offset;
  Array<std::int32_t, Space> counts(on, nrows + 1);
  for_each_of(on, nrows + 1, CountEntries<Rows, Space>{rows, Index(nrows), counts});
  Csr<double, Offset, Space> made{Index(nrows), Index(ncols), Array<Offset, Space>(on, nrows + 1), {}, {}};
  made.take_entries(on, aggregation_detail::places_of<B, Offset>(on, counts, made.row_ptr.span()));
  for_each_of(on, nrows, FillRows<Rows, Space>{rows, made.row_ptr, made.col_idx, made.values});
  return made;
}

/// Rows first ... first + count - 1 of A.
template <Backend B, class Offset>
Csr<double, Offset, SpaceOf<B>> rows_between(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                                             std::int64_t first, std::int64_t count) {
  return made_of_rows(on, count, A.ncols, RowRanges<Offset, SpaceOf<B>>{{{A, first, count}}});
}

/// Adds `by` to each that is not negative.
template <Backend B>
void move_columns(const B& on, Index by, Span<Index, SpaceOf<B>> columns) {
  distributed_detail::for_each_of(on, columns.size(), distributed_detail::MoveColumn<SpaceOf<B>>{by, columns});
}

}  // namespace seidel
