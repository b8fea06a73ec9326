// The entry `ic0`: incomplete Cholesky factors without fill, as L D L', so that no square root is needed.
#include <seidel/solvers/preconditioners/incomplete.hpp>

namespace seidel {

/// From the lower triangle of A alone; LD is found, and mirrored as U = (LD)'.
template <class Offset>
bool ic0_factors(const CsrView<double, Offset, Host>& A, double shift, HostSpan<double> w) {
  std::vector<Offset> place(A.ncols, -1);                // of each column, in the last row that had it
  std::vector<Offset> diagonal(A.nrows), next(A.nrows);  // next: entry of U that is mirrored next
  for (Index row = 0; row < A.nrows; ++row) {
    const Offset first = A.row_ptr[row];
    Offset k = first;
    for (; A.col_idx[k] < row; ++k) {
      const Index other = A.col_idx[k];
      double sum = A.values[k];
      for (Offset e = A.row_ptr[other]; e < diagonal[other]; ++e)
        if (const Offset at = place[A.col_idx[e]]; at >= first)
          sum = std::fma(-w[at] / w[diagonal[A.col_idx[e]]], w[e], sum);
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

template bool ic0_factors(const CsrView<double, std::int32_t, Host>&, double, HostSpan<double>);
template bool ic0_factors(const CsrView<double, std::int64_t, Host>&, double, HostSpan<double>);

namespace {

struct Recipe {
  template <Backend B, class Offset>
  static MadePreconditioner<B> make(const B& on, const HereAndThere<B, Offset>& A, const MethodChoice&) {
    return preconditioners_detail::incomplete<B, Offset>("ic0", on, A, ic0_factors<Offset>);
  }
};

}  // namespace

constinit const PreconditionerKind PreconditionerKind::ic0 = {
    .name = "ic0",
    .help = "incomplete Cholesky factors on the pattern of a symmetric A",
    .needs_diagonal = true,
    .needs_definite = true,
    .memory = preconditioners_detail::incomplete_memory,
    .count = preconditioners_detail::counted_incomplete,
    .make = preconditioners_detail::makes<Recipe>()};

}  // namespace seidel
