// The entry `ilu0`: incomplete LU factors without fill.
#include <seidel/solvers/preconditioners/incomplete.hpp>

namespace seidel {

namespace {

struct Recipe {
  template <Backend B, class Offset>
  static MadePreconditioner<B> make(const B& on, const HereAndThere<B, Offset>& A, const MethodChoice&) {
    return made_of<B>(IncompletePreconditioner<Offset, B>(on, A.there, Factors::lu));
  }
};

}  // namespace

constinit const PreconditionerKind PreconditionerKind::ilu0 = {.name = "ilu0",
                                                               .help = "incomplete LU factors on the pattern of A",
                                                               .needs_diagonal = true,
                                                               .memory = preconditioners_detail::incomplete_memory,
                                                               .count = preconditioners_detail::counted_incomplete,
                                                               .make = preconditioners_detail::makes<Recipe>()};

}  // namespace seidel
