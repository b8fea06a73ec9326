// A preconditioner that may change from one iteration to the next.
#pragma once
#include <utility>

#include <seidel/solvers/any.hpp>

namespace seidel {

/// M, with which cg and gmres shall be flexible: for an M that cannot say itself that is_linear() is false.
template <class M>
struct Flexible {
  M preconditioner;

  void apply(const auto& r, auto& z) const { preconditioner.apply(r, z); }
  bool is_symmetric() const { return preconditioner.is_symmetric(); }
  bool is_linear() const { return false; }
};

template <class V>
AnyPreconditioner<V> flexible(const AnyPreconditioner<V>& M) {
  return Flexible<AnyPreconditioner<V>>{M};
}

}  // namespace seidel
