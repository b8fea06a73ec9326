// The coarsest level, solved directly.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// Whether an inverse is positive definite only where A is, or made so.
enum class Definite { as_it_is, made };

/// A^-1 for symmetric A, every entry stored: from A = L D L', as L^-T D^-1 L^-1; made definite, L^-T |D|^-1 L^-1, of which
/// A times it has the eigenvalues 1 and -1. There is no pivoting, which A does not need where it is positive definite, and
/// does without where few of its eigenvalues are negative. Where A is singular, a row whose pivot vanishes is left out, and
/// with it its row and column of the result: for A positive semidefinite the result G still has A G A = A, so that it solves
/// every system that has a solution. A pivot vanishes if its magnitude is no more than n times `vanishing`, or rounding, of
/// its diagonal entry, than what rounding of the pivots before it may leave, or, if it is negative, than 1e-8 of its
/// diagonal entry.
///
/// Shapes  A is n x n, its lower triangle is used; n^2 must be an Offset, or a ResourceError says so.
/// Cost    n^3 / 2 multiplications and additions, a third of them on one core; 16 n^2 bytes for the time of the call.
/// Repeats bit for bit with any number of threads.
/// Source  Golub, Van Loan, Matrix computations, Johns Hopkins 2013, section 4.1; Gill, Murray, Ponceleon, Saunders,
///         Preconditioners for indefinite systems arising in optimization, SIAM J. Matrix Anal. Appl. 13(1), 1992: |D|.
template <class Offset>
Csr<double, Offset> dense_inverse(const OpenMP& on, const CsrView<double, Offset, Host>& A, double vanishing = 0,
                                  Definite definite = Definite::as_it_is);

/// The same for A that is not symmetric, by Gauss-Jordan elimination with the largest pivot of each column. A column without one
/// is left out, and so is an equation that is left over: the result G still has A G A = A but for rounding.
///
/// Shapes  A is n x n; n^2 must be an Offset, or a ResourceError says so. Cost  3 n^3 / 2 multiplications and additions, on one core; 16 n^2 bytes for the time of the call.
/// Source  Golub, Van Loan, Matrix computations, Johns Hopkins 2013, section 3.4.
template <class Offset>
Csr<double, Offset> dense_inverse_by_rows(const CsrView<double, Offset, Host>& A, double vanishing = 0);

}  // namespace seidel
