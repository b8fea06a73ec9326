// The entry `ic0`: incomplete Cholesky factors without fill.
#include <seidel/solvers/preconditioners/incomplete.hpp>

namespace seidel {

namespace {

struct Recipe {
  template <Backend B, class Offset>
  static MadePreconditioner<B> make(const B& on, const HereAndThere<B, Offset>& A, const MethodChoice&) {
    return made_of<B>(IncompletePreconditioner<Offset, B>(on, A.there, Factors::cholesky));
  }
};

}  // namespace

constinit const PreconditionerKind PreconditionerKind::ic0 = {
    .name = "ic0",
    .help = "incomplete Cholesky factors on the pattern of a symmetric A",
    .needs_diagonal = true,
    .needs_definite = true,
    .memory = preconditioners_detail::incomplete_memory,
    .count = preconditioners_detail::counted_incomplete,
    .make = preconditioners_detail::makes<Recipe>()};

}  // namespace seidel
