// How an entry of the table of preconditioners makes one.
#pragma once
#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/any.hpp>
#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/multigrid/facts.hpp>
#include <seidel/solvers/preconditioners/identity.hpp>

namespace seidel {

/// A preconditioner, and what there is to say of it.
template <Backend B>
struct MadePreconditioner {
  AnyPreconditioner<Vector<double, B>> M;  // its bytes() are the first part of PreconditionerKind::memory
  std::int64_t wavefronts = 0;             // steps of a sweep that must follow each other; 0 without sweeps
  double shift = 0;                        // what was made is that of A + shift * diag(A)
  std::vector<LevelFacts> levels = {};     // of amg, finest first
};

/// m, with what its members tell.
template <Backend B, Preconditioner<Vector<double, B>> M>
MadePreconditioner<B> made_of(M m) {
  MadePreconditioner<B> made{.M = IdentityPreconditioner{}};
  if constexpr (requires { m.wavefronts(); }) made.wavefronts = m.wavefronts();
  if constexpr (requires { m.shift(); }) made.shift = m.shift();
  if constexpr (requires { m.levels(); }) made.levels = m.levels();
  made.M = std::move(m);
  return made;
}

/// That of choice.preconditioner for A.
template <Backend B, class Offset>
MadePreconditioner<B> make_preconditioner(const B& on, const HereAndThere<B, Offset>& A, const MethodChoice& choice) {
  return std::get<MakePreconditioner<B, Offset>>(choice.preconditioner.make)(on, A, choice);
}

namespace preconditioners_detail {
/// PreconditionerKind::make of a lambda whose parameters are `auto`.
template <class Make>
constexpr decltype(PreconditionerKind::make) makes(Make make) {
  decltype(PreconditionerKind::make) all{make, make, nullptr, nullptr};
  if constexpr (built_with_cuda) std::get<2>(all) = make, std::get<3>(all) = make;
  return all;
}
/// PreconditionerKind::make_distributed likewise.
template <class Make>
constexpr decltype(PreconditionerKind::make_distributed) makes_distributed(Make make) {
  decltype(PreconditionerKind::make_distributed) all{};
  if constexpr (built_with_mpi) std::get<0>(all) = make, std::get<1>(all) = make;
  if constexpr (built_with_mpi && built_with_cuda) std::get<2>(all) = make, std::get<3>(all) = make;
  return all;
}
}  // namespace preconditioners_detail

}  // namespace seidel
