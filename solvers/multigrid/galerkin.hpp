// The coarse matrix R A P, kept for new values.
#pragma once
#include <cstdint>

#include <seidel/kernels/spgemm/spgemm.hpp>
#include <seidel/kernels/transpose/transpose.hpp>

namespace seidel {

/// R = P', A P and R (A P), each with what it takes to compute it again for new values in the same patterns: bit for bit as
/// transpose() and spgemm().
///
/// Cost    making it: as these, once. New values: a pass over P, and what SparseProduct::update_values says of two products;
///         they allocate nothing and, on a GPU, wait for nothing. Held are all three, and the analysis of both products.
template <class Offset, Backend B>
class GalerkinProduct {
 public:
  using View = CsrView<double, Offset, typename B::Space>;

  GalerkinProduct(const B& on, const View& A, const View& P)
      : R_(on, P), AP_(on, A, P), coarse_(on, R_.view(), AP_.C()) {}

  void update_values(const View& A, const View& P) {
    R_.update_values(P.values);
    AP_.update_values(A, P);
    coarse_.update_values(R_.view(), AP_.C());
  }

  View R() const { return R_.view(); }
  View AP() const { return AP_.C(); }
  View coarse() const { return coarse_.C(); }
  Span<double, typename B::Space> coarse_values() { return coarse_.values(); }  // to be changed until the next new ones
  std::int64_t bytes() const { return R_.bytes() + AP_.bytes() + coarse_.bytes(); }

 private:
  TransposedMatrix<double, Offset, B> R_;
  SparseProduct<double, Offset, B> AP_, coarse_;
};

}  // namespace seidel
