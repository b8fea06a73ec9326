// The entry `jacobi`.
#include <seidel/solvers/preconditioners/jacobi.hpp>
#include <seidel/solvers/preconditioners/make.hpp>

namespace seidel {

namespace {

struct Recipe {
  template <Backend B, class Offset>
  static MadePreconditioner<B> make(const B& on, const HereAndThere<B, Offset>& A, const MethodChoice&) {
    return made_of<B>(JacobiPreconditioner(on, A.there));
  }
};

std::vector<MemoryPart> memory_of(const SystemSize& A, const MethodChoice&) {
  return {{.what = "the diagonal, for jacobi", .bytes = 8 * A.nrows, .min_bytes = 8 * A.nrows}};
}

}  // namespace

constinit const PreconditionerKind PreconditionerKind::jacobi = {.name = "jacobi",
                                                                 .help = "the diagonal of A",
                                                                 .needs_diagonal = true,
                                                                 .memory = memory_of,
                                                                 .make = preconditioners_detail::makes<Recipe>()};

}  // namespace seidel
