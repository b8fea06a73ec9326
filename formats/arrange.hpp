// A matrix brought into a better shape: its rows in another order, rows and columns scaled by powers of two.
#pragma once
#include <seidel/formats/csr.hpp>

namespace seidel {

/// A' = P R A C: row k of A' is row row_of[k] of A. R and C are diagonal, of powers of two, so that nothing is rounded
/// short of underflow. A x = b is A' (C^-1 x) = P R b.
struct Arrangement {
  Array<Index> row_of = {};                         // a permutation; empty: rows stay where they are
  Array<double> row_scale = {}, column_scale = {};  // of rows and columns of A; empty: not scaled

  bool empty() const { return row_of.empty() && row_scale.empty(); }
};

/// What max_product_matching() found.
struct Matching {
  Arrangement arrangement;
  std::int64_t matched = 0;  // nonzero entries on the diagonal of P A: n, unless A is singular whatever its values are
};

/// The order of rows for which the product of the |a_ii| is largest, and scales for which |a_ii| is about 1 and no entry
/// is much larger: between 1/2 and 2, and at most 2, since scales are rounded to powers of two.
///
/// Shapes  A is n x n, its entries finite; those that are 0 count as not stored.
/// Cost    one core; a shortest path for each row that a cheap matching leaves over: often a few passes over A, at worst
///         n nnz log n steps. While it runs at most 16 bytes per entry and 60 per row.
/// Errors  ShapeError.
/// Source  Duff, Koster, On algorithms for permuting large entries to the diagonal of a sparse matrix, SIAM J. Matrix
///         Anal. Appl. 22(4), 2001.
template <class Offset>
Matching max_product_matching(const CsrView<double, Offset, Host>& A);

/// Scales for which the largest entry of each row and of each column is between 1/4 and 4, nearly always; those of rows
/// and columns are the same if A is symmetric. Rows and columns without entries keep 1.
/// Cost    a few passes over A on one core; 16 bytes per row while it runs.
/// Source  Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034, 2001.
template <class Offset>
Arrangement equilibration(const CsrView<double, Offset, Host>& A);

/// P R A C, of an arrangement made for A. Cost  one pass over A on one core; takes the result alone.
template <class Offset>
Csr<double, Offset> arranged(const CsrView<double, Offset, Host>& A, const Arrangement& arrangement);

}  // namespace seidel
