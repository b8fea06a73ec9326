// Solves with the method of a MethodChoice, and goes on with another where the choice was seidel's own and A does not suit it.
#pragma once
#include <seidel/solvers/any.hpp>
#include <seidel/solvers/bicgstab.hpp>
#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/gmres.hpp>

namespace seidel {

/// Runs choice.method. Where that ends indefinite, stagnated or in a breakdown, and choice.fallback names another method, goes on with
/// that one, from the better of the first guess and what was reached; criteria.seconds is for all together, max_iterations for each.
/// The Summary is that of the last method; its `attempts` tell of all. x, b, M as in cg.hpp.
/// Compiled in the library for Vector<double, Serial>, OpenMP and Cuda.
template <class V>
Summary solve(const AnyOperator<V>& A, const AnyPreconditioner<V>& M, const MethodChoice& choice, const V& b, V& x,
              const Criteria& criteria = {});

}  // namespace seidel
