// What an answer is worth, computed apart from the iteration that found it.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/kernels/vector.hpp>

namespace seidel {

/// Both from a residual in twice the working precision, rounded once an entry.
struct Certificate {
  double relative_residual = 0;  // ||b - A x|| / ||b||, 2-norms; the numerator alone where b = 0
  double backward_error = 0;     // ||b - A x|| / (||A|| ||x|| + ||b||), infinity norms: x solves a system changed by so much;
                                 // 0 where b = 0 and x = 0
};

/// Cost  reads A once, takes one vector. norm_inf_of_A is MatrixProperties::norm_inf.
template <class Real, class Offset, Backend B>
Certificate certify(const B& on, const CsrView<Real, Offset, SpaceOf<B>>& A, const Vector<Real, B>& x, const Vector<Real, B>& b,
                    double norm_inf_of_A);

}  // namespace seidel
