// What tests of multigrid share.
#pragma once
#include "systems.hpp"

#include <seidel/solvers/preconditioners/amg.hpp>

namespace seidel::tests {

template <class B>
using Amg = AmgPreconditioner<std::int64_t, B>;

/// M^-1 r, from a z of NaN.
template <class B>
std::vector<double> applied(const B& on, const Amg<B>& M, const std::vector<double>& r) {
  const Vector<double, B> there(on, moved_to(on, r));
  Vector<double, B> z(on, std::int64_t(r.size()));
  fill(z, std::numeric_limits<double>::quiet_NaN());
  M.apply(there, z);
  const auto back = copied_to<Host>(on, std::as_const(z).span());
  return {back.begin(), back.end()};
}

}  // namespace seidel::tests
