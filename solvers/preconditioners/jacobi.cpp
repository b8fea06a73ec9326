// The entry `jacobi`.
#include <seidel/solvers/preconditioners/jacobi.hpp>
#include <seidel/solvers/preconditioners/make.hpp>

namespace seidel {

constinit const PreconditionerKind PreconditionerKind::jacobi = {
    .name = "jacobi",
    .help = "the diagonal of A",
    .needs_diagonal = true,
    .memory =
        [](const SystemSize& A, const MethodChoice&) {
          return std::vector<MemoryPart>{
              {.what = "the diagonal, for jacobi", .bytes = 8 * A.nrows, .min_bytes = 8 * A.nrows}};
        },
    .make = preconditioners_detail::makes([]<Backend B>(const B& on, const auto& A, const MethodChoice&) {
      return made_of<B>(JacobiPreconditioner(on, A.there));
    })};

}  // namespace seidel
