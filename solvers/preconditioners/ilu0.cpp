// The entry `ilu0`: incomplete LU factors without fill.
#include <seidel/solvers/preconditioners/incomplete.hpp>

namespace seidel {

/// Row by row, each minus its multiples of the rows above, where it has an entry. Source  Saad (2003), algorithm 10.4.
template <class Offset>
bool ilu0_factors(const CsrView<double, Offset, Host>& A, double shift, HostSpan<double> w) {
  std::vector<Offset> place(A.ncols, -1);  // of each column, in the last row that had it
  std::vector<Offset> diagonal(A.nrows);
  for (Index row = 0; row < A.nrows; ++row) {
    const Offset first = A.row_ptr[row], last = A.row_ptr[row + 1];
    for (Offset k = first; k < last; ++k) {
      place[A.col_idx[k]] = k;
      w[k] = A.col_idx[k] == row ? A.values[k] * (1 + shift) : A.values[k];
    }
    Offset k = first;
    for (; A.col_idx[k] < row; ++k) {
      const Index above = A.col_idx[k];
      const double multiple = w[k] / w[diagonal[above]];  // l; w keeps l d
      for (Offset e = diagonal[above] + 1; e < A.row_ptr[above + 1]; ++e)
        if (const Offset at = place[A.col_idx[e]]; at >= first) w[at] = std::fma(-multiple, w[e], w[at]);
    }
    diagonal[row] = k;
    if (!usable_pivot(w[k], A.values[k])) return false;
    for (Offset e = first; e < last; ++e)
      if (!std::isfinite(w[e])) return false;
  }
  return true;
}

template bool ilu0_factors(const CsrView<double, std::int32_t, Host>&, double, HostSpan<double>);
template bool ilu0_factors(const CsrView<double, std::int64_t, Host>&, double, HostSpan<double>);

namespace {

struct Recipe {
  template <Backend B, class Offset>
  static MadePreconditioner<B> make(const B& on, const HereAndThere<B, Offset>& A, const MethodChoice&) {
    return preconditioners_detail::incomplete<B, Offset>("ilu0", on, A, ilu0_factors<Offset>);
  }
};

}  // namespace

constinit const PreconditionerKind PreconditionerKind::ilu0 = {.name = "ilu0",
                                                               .help = "incomplete LU factors on the pattern of A",
                                                               .needs_diagonal = true,
                                                               .memory = preconditioners_detail::incomplete_memory,
                                                               .count = preconditioners_detail::counted_incomplete,
                                                               .make = preconditioners_detail::makes<Recipe>()};

}  // namespace seidel
