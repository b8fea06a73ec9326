// The entry `none`.
#include <seidel/solvers/preconditioners/identity.hpp>
#include <seidel/solvers/preconditioners/make.hpp>

namespace seidel {

namespace {

struct Recipe {
  template <Backend B, class Offset>
  static MadePreconditioner<B> make(const B&, const HereAndThere<B, Offset>&, const MethodChoice&) {
    return made_of<B>(IdentityPreconditioner{});
  }
};

}  // namespace

constinit const PreconditionerKind PreconditionerKind::none = {
    .name = "none",
    .help = "no preconditioner",
    .memory = [](const SystemSize&, const MethodChoice&) { return std::vector<MemoryPart>(); },
    .make = preconditioners_detail::makes<Recipe>()};

}  // namespace seidel
