// What can be said of a matrix by looking at each entry, in host memory.
#include <atomic>
#include <numeric>
#include <vector>

#include <seidel/formats/properties/seen.hpp>
#include <seidel/formats/runtime/shares.hpp>

namespace seidel::properties_detail {

namespace {

/// Calls look(share, first row, last row) for the shares of the rows that the Frobenius norm is summed in.
void in_shares(const OpenMP& on, const auto& A, const auto& look) {
  const int nshares = shares_of_squares(A.nrows, A.nnz());
  for_each_in_turn(on, nshares, [&](std::int64_t share, int) {
    const Range mine = share_by_nonzeros(A.row_ptr, int(share), nshares);
    with_avx2([&] { look(share, mine.first, mine.last); });
  });
}

/// Finds entries by row and column. Those of a row that are looked for in ascending columns take constant time each, all
/// in all: each search begins where the last one in its row ended. Threads share what they know of that, in any order,
/// which changes the time that a search takes and not what it finds.
template <class Offset>
struct Finder {
  const Offset* row_ptr;
  const Index* col_idx;
  Index* next;  // of each row, where its next search begins

  /// The place of an entry in the arrays of the matrix, or -1.
  std::int64_t operator()(Index row, Index col) const {
    const std::int64_t begin = row_ptr[row], end = row_ptr[row + std::int64_t(1)];
    std::int64_t at = start(row);
    if (at < end && col_idx[at] < col)
      at = first_from(at + 1, end, col);
    else if (at > begin && col_idx[at - 1] >= col)
      at = first_from(begin, at, col);
    const bool found = at < end && col_idx[at] == col;
    std::atomic_ref(next[row]).store(Index(at - begin + found), std::memory_order_relaxed);
    return found ? at : -1;
  }

  /// Asks for what the search for the mirrors of entries soon after entry k will read: on matrices without structure that
  /// is not in the cache, and half of the time goes (random:500000x500000:10000000).
  void prefetch_for(std::int64_t k, std::int64_t nnz) const {
    constexpr int soon = 12;
    if (k + 2 * soon >= nnz) return;
    const Index later = col_idx[k + 2 * soon], sooner = col_idx[k + soon];
    __builtin_prefetch(&row_ptr[later]);
    __builtin_prefetch(&next[later]);
    __builtin_prefetch(&col_idx[start(sooner)]);
  }

 private:
  std::int64_t start(Index row) const {
    return row_ptr[row] + std::int64_t(std::atomic_ref(next[row]).load(std::memory_order_relaxed));
  }
  /// The first of first ... end-1 whose column is not below `col`; soon where it is near `first`.
  std::int64_t first_from(std::int64_t first, std::int64_t end, Index col) const {
    std::int64_t high = first;
    for (std::int64_t step = 1; high < end && col_idx[high] < col; high += step, step *= 2) first = high + 1;
    return std::lower_bound(col_idx + first, col_idx + std::min(high, end), col) - col_idx;
  }
};

/// For each entry of one half: is there a_ji to a_ij, and what is it? Of the other fields nothing.
template <class Real, class Offset>
Seen look_for_mirrors(const OpenMP& on, const CsrView<Real, Offset, Host>& A, Half half) {
  Array<Index> next(A.nrows);
  parallel_for(on, A.nrows,
               [&](std::int64_t first, std::int64_t last) { std::fill(next.begin() + first, next.begin() + last, 0); });
  std::vector<Seen> seen(shares_of_squares(A.nrows, A.nnz()));
  in_shares(on, A, [&](std::int64_t share, std::int64_t first, std::int64_t last) {
    Seen mine;
    const auto values = A.values;
    const Finder<Offset> find{A.row_ptr.data(), A.col_idx.data(), next.data()};
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t end = find.row_ptr[i + 1];
      for (std::int64_t k = find.row_ptr[i]; k < end; ++k) {
        find.prefetch_for(k, A.nnz());
        const Index j = find.col_idx[k];
        if (half == Half::lower ? j >= i : j <= i) continue;
        const std::int64_t mirror = find(j, Index(i));
        mine.mirror(half, values[k], mirror >= 0, mirror >= 0 ? values[mirror] : 0);
      }
    }
    seen[share] = mine;
  });
  Seen all;
  for (const Seen& one : seen) all.join(one);
  return all;
}

double in_order(const std::vector<double>& sums) { return std::accumulate(sums.begin(), sums.end(), 0.0); }

struct Look {
  Seen seen;
  double squares;
};
template <class Real, class Offset>
Look look(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  const int nshares = shares_of_squares(A.nrows, A.nnz());
  std::vector<Seen> seen(nshares);
  std::vector<double> squares(nshares);
  in_shares(on, A, [&](std::int64_t share, std::int64_t first, std::int64_t last) {
    Seen mine;  // here, where no write through a pointer can change it
    double sum = 0;
    for (std::int64_t i = first; i < last; ++i) sum = mine.whole_row(A, i, sum);
    seen[share] = mine;
    squares[share] = sum;
  });
  Look all{{}, in_order(squares)};
  for (const Seen& one : seen) all.seen.join(one);
  if (A.nrows == A.ncols) all.seen.join(look_for_mirrors(on, A, Half::lower));
  return all;
}

template <class Real, class Offset>
Seen look_at_upper_half(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  return look_for_mirrors(on, A, Half::upper);
}

template <class Real, class Offset>
bool any_differs(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  std::atomic<bool> any = false;
  in_shares(on, A, [&](std::int64_t, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last && !any.load(std::memory_order_relaxed); ++i)
      for (std::int64_t k = A.row_ptr[i]; k < std::int64_t(A.row_ptr[i + 1]); ++k)
        if (differs(A, i, k)) any.store(true, std::memory_order_relaxed);
  });
  return any;
}

template <class Real, class Offset>
double scaled_squares(const OpenMP& on, const CsrView<Real, Offset, Host>& A, int exponent) {
  std::vector<double> squares(shares_of_squares(A.nrows, A.nnz()));
  in_shares(on, A, [&](std::int64_t share, std::int64_t first, std::int64_t last) {
    double sum = 0;
    for (std::int64_t k = A.row_ptr[first]; k < std::int64_t(A.row_ptr[last]); ++k)
      sum += scaled_square(double(A.values[k]), exponent);
    squares[share] = sum;
  });
  return in_order(squares);
}

}  // namespace

}  // namespace seidel::properties_detail

#include <seidel/formats/properties/told.hpp>

namespace seidel {

template MatrixProperties properties(const OpenMP&, const CsrView<double, std::int32_t, Host>&);
template MatrixProperties properties(const OpenMP&, const CsrView<double, std::int64_t, Host>&);
template MatrixProperties properties(const OpenMP&, const CsrView<float, std::int32_t, Host>&);
template MatrixProperties properties(const OpenMP&, const CsrView<float, std::int64_t, Host>&);

}  // namespace seidel
