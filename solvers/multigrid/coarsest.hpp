// The coarsest level, solved directly.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// A^-1 for symmetric positive definite A, every entry stored: from A = L D L', as L^-T D^-1 L^-1. Where A is singular, a
/// row whose pivot vanishes is left out, and with it its row and column of the result: for A positive semidefinite the
/// result G still has A G A = A, so that it solves every system that has a solution. A pivot vanishes if it is no more than n
/// times `vanishing`, or rounding, of its diagonal entry, or than what rounding of the pivots before it may leave.
///
/// Shapes  A is n x n, its lower triangle is used.
/// Cost    n^3 / 2 multiplications and additions, a third of them on one core; 16 n^2 bytes for the time of the call.
/// Repeats bit for bit with any number of threads.
/// Source  Golub, Van Loan, Matrix computations, Johns Hopkins 2013, section 4.1.
template <class Offset>
Csr<double, Offset> dense_inverse(const OpenMP& on, const CsrView<double, Offset, Host>& A, double vanishing = 0);

/// The same for A that is not symmetric, by Gauss-Jordan elimination with the largest pivot of each column. A column without one
/// is left out, and so is an equation that is left over: the result G still has A G A = A but for rounding.
///
/// Shapes  A is n x n. Cost  3 n^3 / 2 multiplications and additions, on one core; 8 n^2 bytes for the time of the call.
/// Source  Golub, Van Loan, Matrix computations, Johns Hopkins 2013, section 3.4.
template <class Offset>
Csr<double, Offset> dense_inverse_by_rows(const CsrView<double, Offset, Host>& A, double vanishing = 0);

}  // namespace seidel
