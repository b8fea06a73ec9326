// The entries `ilu0` and `ic0`: incomplete factors without fill, and how they are found on the host.
#include <seidel/solvers/preconditioners/incomplete.hpp>

#include <algorithm>

namespace seidel {

namespace {

/// Calls visit(at, e), in ascending order, for the columns that both have: entries first ... last - 1 of a row, whose places
/// are noted, and other ... other_end - 1 of another. Of rows of very different lengths only the shorter is walked: a hub,
/// walked once per row that it is in, would take the square of its length.
template <class Offset>
void for_each_common(const CsrView<double, Offset, Host>& A, const std::vector<Offset>& place, Offset first,
                     Offset last, Offset other, Offset other_end, const auto& visit) {
  if (other_end - other <= 32 * (last - first)) {
    for (Offset e = other; e < other_end; ++e)
      if (const Offset at = place[A.col_idx[e]]; at >= first && at < last) visit(at, e);
  } else {
    const Index* const end = A.col_idx.data() + other_end;
    const Index* from = A.col_idx.data() + other;
    for (Offset at = first; at < last; ++at) {
      from = std::lower_bound(from, end, A.col_idx[at]);
      if (from < end && *from == A.col_idx[at]) visit(at, Offset(from - A.col_idx.data()));
    }
  }
}

/// Row by row, each minus its multiples of the rows above, where it has an entry. Source  Saad (2003), algorithm 10.4.
template <class Offset>
bool lu_factors(const CsrView<double, Offset, Host>& A, double shift, HostSpan<double> w,
                const std::function<void()>& on_step) {
  std::vector<Offset> place(A.ncols, -1);  // of each column, in the last row that had it
  std::vector<Offset> diagonal(A.nrows);
  for (Index row = 0; row < A.nrows; ++row) {
    if (row % 64 == 0) on_step();
    const Offset first = A.row_ptr[row], last = A.row_ptr[row + 1];
    for (Offset k = first; k < last; ++k) {
      place[A.col_idx[k]] = k;
      w[k] = A.col_idx[k] == row ? A.values[k] * (1 + shift) : A.values[k];
    }
    Offset k = first;
    for (; A.col_idx[k] < row; ++k) {
      const Index above = A.col_idx[k];
      const double multiple = w[k] / w[diagonal[above]];  // l; w keeps l d
      for_each_common(A, place, k + 1, last, diagonal[above] + 1, A.row_ptr[above + 1],
                      [&](Offset at, Offset e) { w[at] = std::fma(-multiple, w[e], w[at]); });
    }
    diagonal[row] = k;
    if (!usable_pivot(w[k], A.values[k])) return false;
    for (Offset e = first; e < last; ++e)
      if (!std::isfinite(w[e])) return false;
  }
  return true;
}

/// From the lower triangle of A alone, as L D L', so that no square root is needed; LD is found, and mirrored as U = (LD)'.
template <class Offset>
bool cholesky_factors(const CsrView<double, Offset, Host>& A, double shift, HostSpan<double> w,
                      const std::function<void()>& on_step) {
  std::vector<Offset> place(A.ncols, -1);                // of each column, in the last row that had it
  std::vector<Offset> diagonal(A.nrows), next(A.nrows);  // next: entry of U that is mirrored next
  for (Index row = 0; row < A.nrows; ++row) {
    if (row % 64 == 0) on_step();
    const Offset first = A.row_ptr[row];
    Offset k = first;
    for (; A.col_idx[k] < row; ++k) {
      const Index other = A.col_idx[k];
      double sum = A.values[k];
      for_each_common(A, place, first, k, A.row_ptr[other], diagonal[other],
                      [&](Offset at, Offset e) { sum = std::fma(-w[at] / w[diagonal[A.col_idx[e]]], w[e], sum); });
      if (!std::isfinite(sum)) return false;
      place[other] = k;
      w[k] = sum;
      Offset& mirror = next[other];
      if (mirror == A.row_ptr[other + 1] || A.col_idx[mirror] != row)
        throw InputError("ic0: the pattern of A is not symmetric: row " + std::to_string(other + 1) + " and column " +
                         std::to_string(other + 1) + " differ");
      w[mirror++] = sum;
    }
    double pivot = A.values[k] * (1 + shift);
    for (Offset e = first; e < k; ++e) pivot = std::fma(-w[e] / w[diagonal[A.col_idx[e]]], w[e], pivot);
    if (!(pivot > 0) || !usable_pivot(pivot, A.values[k])) return false;
    w[k] = pivot;
    diagonal[row] = k;
    next[row] = k + 1;
  }
  for (Index row = 0; row < A.nrows; ++row)
    if (next[row] != A.row_ptr[row + 1])
      throw InputError("ic0: the pattern of A is not symmetric: row " + std::to_string(row + 1) + " and column " +
                       std::to_string(row + 1) + " differ");
  return true;
}

}  // namespace

template <class Offset>
bool incomplete_factors(const OpenMP&, Factors what, const CsrView<double, Offset, Host>& A, double shift,
                        HostSpan<double> w, const std::function<void()>& on_step) {
  return what == Factors::lu ? lu_factors(A, shift, w, on_step) : cholesky_factors(A, shift, w, on_step);
}

template bool incomplete_factors(const OpenMP&, Factors, const CsrView<double, std::int32_t, Host>&, double,
                                 HostSpan<double>, const std::function<void()>&);
template bool incomplete_factors(const OpenMP&, Factors, const CsrView<double, std::int64_t, Host>&, double,
                                 HostSpan<double>, const std::function<void()>&);

namespace {

std::vector<MemoryPart> memory_of(const SystemSize& A, const MethodChoice&) {
  return {sweep_memory(A, 8),
          {.what = "the values of the factors, while they are found", .bytes = 8 * A.nnz, .min_bytes = 8 * A.nnz}};
}

std::int64_t counted_bytes(const OpenMP& on, const CsrView<double, std::int64_t, Host>& A, const MethodChoice&) {
  return SweepAnalysis<double, std::int64_t, OpenMP>(on, A).bytes();
}

template <Factors what>
constexpr auto prepared =
    []<Backend B, class Offset>(const B& on, const HereAndThere<B, Offset>& A, const MethodChoice& choice) {
      return made_of<B>(IncompletePreconditioner<Offset, B>(on, A.there, what, choice.on_step));
    };

}  // namespace

constinit const PreconditionerKind PreconditionerKind::ilu0 = {
    .name = "ilu0",
    .help = "incomplete LU factors on the pattern of A",
    .needs_diagonal = true,
    .sweeps = true,
    .memory = memory_of,
    .count = counted_bytes,
    .make = preconditioners_detail::makes(prepared<Factors::lu>)};

constinit const PreconditionerKind PreconditionerKind::ic0 = {
    .name = "ic0",
    .help = "incomplete Cholesky factors on the pattern of a symmetric A",
    .needs_diagonal = true,
    .needs_definite = true,
    .sweeps = true,
    .memory = memory_of,
    .count = counted_bytes,
    .make = preconditioners_detail::makes(prepared<Factors::cholesky>)};

}  // namespace seidel
