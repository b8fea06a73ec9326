// Proof that a CSR matrix is what its format promises.
#pragma once
#include <seidel/formats/coo.hpp>
#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// Proves that A is canonical: its arrays not null, of the sizes declared; row_ptr from 0 to nnz, non-decreasing; columns inside
/// the matrix, ascending and distinct in each row. Nothing is read through an offset before that offset is proved.
///
/// Cost    reads the structure of A, not its values; allocates nothing.
/// Errors  InputError naming the first wrong row, what was found and what was expected. Messages to people count rows,
///         columns and entries of a row from 1, as Matrix Market does.
template <class Real, class Offset>
void check(const OpenMP& on, const CsrView<Real, Offset, Host>& A);
template <class Real, class Offset>
void check(const CsrView<Real, Offset, Host>& A) {
  check(OpenMP{1}, A);
}

/// Throws ShapeError unless col_idx and values have one entry each, and InputError naming the first entry outside the
/// matrix. As check(), for triplets.
template <class Real>
void check(const OpenMP& on, const CooView<Real, Host>& A);

}  // namespace seidel
