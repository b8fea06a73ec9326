// Rows of one pattern that follow each other, as the unknowns of a node of a mesh: a GPU takes them in one step.
#pragma once
#include <algorithm>

#include <seidel/formats/csr.hpp>

namespace seidel {

/// The largest s up to 6 such that rows s k ... s k + s - 1 have the same columns for every k; 1 if there is none.
///
/// Cost  one pass over the pattern where rows do share theirs, else a few rows.
template <class Real, class Offset>
int rows_per_node(const CsrView<Real, Offset, Host>& A) {
  const auto same_as_before = [&](Index i) {
    const Index *const row = A.col_idx.data() + A.row_ptr[i], *const end = A.col_idx.data() + A.row_ptr[i + 1];
    return std::equal(A.col_idx.data() + A.row_ptr[i - 1], row, row, end);
  };
  for (int s = 6; s > 1; --s) {
    if (A.nrows % s != 0) continue;
    Index i = 0;
    while (i < A.nrows && (i % s == 0 || same_as_before(i))) ++i;
    if (i == A.nrows) return s;
  }
  return 1;
}

}  // namespace seidel
